import Plants
import Tactus
import TactusDaemon

/// The probes' loop with the mailboxes of a declared system, which publish its snapshot. The loop accepts no orders.
public struct PlantLoop: ~Copyable, ControlLoop {
  private var ends: Plants.Ends
  private var sensors: PlantSensorLoop

  /// Joins the loop that reads the probes with its mailboxes.
  ///
  /// - Parameter sensors: the loop that reads the probes; its snapshot must not be published elsewhere.
  public init(_ ends: consuming Plants.Ends, _ sensors: consuming PlantSensorLoop) {
    self.ends = ends
    self.sensors = sensors
  }

  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get { sensors.nextDeadline }
  }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    sensors.tick(tick)
    ends.finish(sensors.snapshot, isSafe: true)
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    ends.beginSafeState(tick)
    ends.finish(sensors.snapshot, isSafe: true)
  }
}
