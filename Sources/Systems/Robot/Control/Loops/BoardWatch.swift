import Devices
import Tactus
import Wire

/// The battery's charge and the attitude, each with the instant of its reading; `nil` if there is no reading, or none that is recent enough.
/// They come from the board; the attitude comes from inertial sensors of the kernel if the robot has any.
public struct BoardReadings: Sendable, Hashable, BitwiseCopyable {
  /// A value with the instant at which it was read.
  public struct Reading: Sendable, Hashable, BitwiseCopyable {
    /// The value: percent for the battery, degrees for the attitude.
    public let value: Double
    /// The instant of the tick that read the value.
    public let at: TickInstant
  }

  /// The battery's charge in percent.
  public internal(set) var battery: Reading?
  /// The measured roll in degrees, positive to the right.
  public internal(set) var roll: Reading?
  /// The measured pitch in degrees, positive forward.
  public internal(set) var pitch: Reading?
  /// The number of requests that the board did not answer in time.
  public internal(set) var timeouts: Int64 = 0
  /// Whether the charge has fallen to the limit for a notice. The value becomes false at five percent above the limit.
  public internal(set) var isBatteryLow = false

  @_noLocks @_noAllocation
  init() {}

  /// The greater of roll and pitch as a magnitude in degrees, or `nil` while neither is known.
  var tilt: Double? {
    @_noLocks @_noAllocation get {
      guard let one = roll?.value.magnitude ?? pitch?.value.magnitude else { return nil }
      let other = pitch?.value.magnitude ?? one
      return one > other ? one : other
    }
  }
}

/// Asks the board for battery and attitude, one request in flight, between the motor writes.
///
/// Every periodic tick first takes the answer that has arrived, and at its end, after everything that it writes to the motors, makes the
/// next request: roll and pitch in turn, and the battery every ten seconds. A request is 9 bytes, 0.8 ms at 115,200 baud; a command that
/// follows within that time waits for its rest at most.
struct BoardWatch: BitwiseCopyable {
  private static var batteryInterval: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(10) }
  }
  private static var batteryValidity: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(60) }
  }
  private static var attitudeValidity: Nanoseconds {
    @_noLocks @_noAllocation get { .seconds(2) }
  }

  private(set) var readings = BoardReadings()
  private let lowPercent: Int?
  private var asksBatteryAt = TickInstant(nanoseconds: 0)
  private var asksRoll = false

  /// Creates a watch without readings.
  ///
  /// - Parameter lowPercent: the charge at which the battery is low, or `nil` if no notice is wanted.
  @_noLocks @_noAllocation
  init(lowPercent: Int?) { self.lowPercent = lowPercent }

  /// Takes the board's reply, and returns it if one has arrived.
  @_noLocks @_noAllocation
  mutating func hear(_ motors: inout Motors, at now: TickInstant) -> XGORider.Reply? {
    let reply = motors.reply()
    switch reply {
    case .charge(let percent):
      readings.battery = .init(value: percent.value, at: now)
      judge(percent)
    case .roll(let degrees): readings.roll = .init(value: degrees, at: now)
    case .pitch(let degrees): readings.pitch = .init(value: degrees, at: now)
    case .timedOut: readings.timeouts &+= 1
    case nil: break
    }
    if let battery = readings.battery, now - battery.at > Self.batteryValidity { readings.battery = nil }
    if let roll = readings.roll, now - roll.at > Self.attitudeValidity { readings.roll = nil }
    if let pitch = readings.pitch, now - pitch.at > Self.attitudeValidity { readings.pitch = nil }
    return reply
  }

  /// Records the attitude that the inertial sensors of the kernel measure, or `nil` while they measure none.
  @_noLocks @_noAllocation
  mutating func note(_ attitude: (roll: Double, pitch: Double)?, at now: TickInstant) {
    readings.roll = attitude.map { .init(value: $0.roll, at: now) }
    readings.pitch = attitude.map { .init(value: $0.pitch, at: now) }
  }

  @_noLocks @_noAllocation
  private mutating func judge(_ charge: Percent) {
    guard let lowPercent else { return }
    if charge.value <= Double(lowPercent) {
      readings.isBatteryLow = true
    } else if charge.value >= Double(lowPercent) + 5 || charge.value >= 100 {
      readings.isBatteryLow = false
    }
  }

  /// Makes the next request unless one is open.
  @_noLocks @_noAllocation
  mutating func ask(_ motors: inout Motors, at now: TickInstant) {
    guard !motors.isAsked else { return }
    if now >= asksBatteryAt {
      asksBatteryAt = now + Self.batteryInterval
      motors.ask(.battery)
    } else {
      asksRoll.toggle()
      motors.ask(asksRoll ? .roll : .pitch)
    }
  }
}
