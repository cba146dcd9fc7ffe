import Devices
import Tactus

/// A distance to the nearest thing ahead, and when it was read.
public struct DistanceReading: Sendable, Hashable, BitwiseCopyable {
  /// The greatest age at which a reading counts.
  public static var validity: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(500) }
  }

  /// The distance in millimetres.
  public let millimetres: Int
  /// The instant of the tick that read the distance.
  public let at: TickInstant
}

/// Watches the distance ahead through the motor board: when to read it, and for how long a reading counts.
///
/// A reading is due 60 ms after the last one, the time that an echo needs to die away, and is made by the first periodic tick from then
/// on. It takes three transfers of one byte, and one more that switches the sensor on if the last reading was none.
struct DistanceWatch: BitwiseCopyable {
  /// The time between two readings, which the next periodic tick rounds up.
  static var interval: Nanoseconds {
    @_noLocks @_noAllocation get { .milliseconds(60) }
  }
  /// The last valid reading, or `nil` if there has been none or a transfer has failed since.
  private(set) var reading: DistanceReading?
  /// The number of readings that failed on the bus since the start.
  private(set) var failures: Int64 = 0
  /// Whether the sensor has been switched on since a reading was missing.
  private var isOn = false
  private var dueAt = TickInstant(nanoseconds: 0)

  @_noLocks @_noAllocation
  init() {}

  /// Reads the distance if that is due.
  @_noLocks @_noAllocation
  mutating func read(_ motors: inout Motors, at now: TickInstant) {
    guard now >= dueAt else { return }
    dueAt = now + Self.interval
    do {
      if !isOn {
        try motors.switchDistanceSensorOn()
        isOn = true
      }
      if let millimetres = try motors.distanceAhead() {
        reading = DistanceReading(millimetres: millimetres, at: now)
      } else {
        isOn = false
      }
    } catch {
      failures &+= 1
      reading = nil
      isOn = false
    }
  }

  /// Returns the knowledge of the way ahead at `now`.
  @_noLocks @_noAllocation
  func clearance(at now: TickInstant) -> Clearance {
    guard let reading, now - reading.at <= DistanceReading.validity else { return .unknown }
    return .distance(millimetres: reading.millimetres)
  }
}
