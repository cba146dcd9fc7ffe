import Devices
import Tactus

/// The probes of the line sensor with the instant at which they were read.
public struct LineReading: Sendable, Hashable, BitwiseCopyable {
  /// The greatest age at which a reading counts.
  public static var validity: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(500) }
  }

  /// The four probes of the line sensor.
  public let probes: LineProbes
  /// The instant of the tick that read the probes.
  public let at: TickInstant
}

/// Reads the line sensor through the motor board: at most every 50 ms, by the first periodic tick from then on, with one transfer of one byte.
struct LineWatch: BitwiseCopyable {
  static var interval: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(50) }
  }
  /// The last reading, or `nil` if there has been none or the last attempt failed.
  private(set) var reading: LineReading?
  /// The number of readings that failed on the bus since the start.
  private(set) var failures: Int64 = 0
  private var dueAt = TickInstant(nanoseconds: 0)

  @_noLocks @_noAllocation
  init() {}

  /// Reads the sensor if that is due.
  @_noLocks @_noAllocation
  mutating func read(_ motors: inout Motors, at now: TickInstant) {
    guard now >= dueAt else { return }
    dueAt = now + Self.interval
    do {
      if let probes = try motors.lineProbes() {
        reading = LineReading(probes: probes, at: now)
      } else {
        reading = nil
      }
    } catch {
      failures &+= 1
      reading = nil
    }
  }
}
