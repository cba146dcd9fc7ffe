import Tactus

/// The state of a probe as other threads see it.
public struct PlantProbeStatus: Sendable, BitwiseCopyable {
  /// The median of the last reading in the chip's native unit (counts, or microvolts of an ADS1115), or `nil` before the first reading.
  public internal(set) var sample: Int64?
  public internal(set) var celsius: Double?
  /// The instant at which the last reading was taken.
  public internal(set) var readAt: TickInstant?
  public internal(set) var readings: Int64 = 0
  /// The number of failed readings.
  public internal(set) var failures: Int64 = 0
  /// The number of failed readings since the last successful one.
  public internal(set) var failuresInARow: Int64 = 0
  public internal(set) var lastFailure: PlantProbeFailure?
  /// The number of repeated attempts.
  public internal(set) var retries: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}

/// The state that the sensor loop publishes at the end of every tick.
public struct PlantSensorSnapshot: Sendable, BitwiseCopyable {
  /// The instant of the tick that published the snapshot.
  public internal(set) var at = TickInstant.zero
  /// The number of probes, 0…16.
  public let count: Int
  /// The number of readings lost because the ring was full.
  public internal(set) var readingsDropped: Int64 = 0
  /// The number of I2C transfers that succeeded only after a retry by the bus.
  public internal(set) var busRetries: Int64 = 0
  private var probes: [16 of PlantProbeStatus]

  @_noLocks @_noAllocation
  public init(probes count: Int) {
    self.count = count
    probes = .init(repeating: PlantProbeStatus())
  }

  /// The status of a probe, 0 ..< `count`, in the order of the configuration.
  @_noLocks @_noAllocation
  public internal(set) subscript(index: Int) -> PlantProbeStatus {
    get { probes[index] }
    set { probes[index] = newValue }
  }
}

/// The result of one reading of a probe, as the loop passes it on.
public struct PlantProbeReading: Sendable, BitwiseCopyable {
  public enum Result: Sendable, BitwiseCopyable {
    /// The median in the chip's native unit, and the temperature, or `nil` if the chip has not been read yet.
    case sample(Int64, celsius: Double?)
    case failed(PlantProbeFailure)
  }
  /// The probe's index in the order of the configuration.
  public var probe: Int
  public var at: TickInstant
  public var result: Result

  @_noLocks @_noAllocation
  public init(probe: Int, at: TickInstant, _ result: Result) {
    self.probe = probe
    self.at = at
    self.result = result
  }
}
