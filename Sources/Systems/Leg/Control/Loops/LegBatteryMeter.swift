import Buses
import Devices
import Tactus

/// The battery's sensor: an input of an ADS1115 on the servo chip's bus, behind a voltage divider.
public struct LegBattery: Sendable, Hashable, BitwiseCopyable {
  public let converter: ADS1115
  /// The input of the converter, 0…3.
  public let channel: Int
  /// The ratio of the battery's voltage to that at the input, in thousandths: 3000 for 20 kΩ over 10 kΩ. 1000…100,000.
  public let dividerPerMille: Int64

  public init(_ converter: ADS1115 = ADS1115(), channel: Int, dividerPerMille: Int64) {
    precondition((0..<ADS1115.channelCount).contains(channel), "inputs are 0…3")
    precondition((1_000...100_000).contains(dividerPerMille), "a divider divides by 1…100")
    self.converter = converter
    self.channel = channel
    self.dividerPerMille = dividerPerMille
  }

  /// Returns the battery's voltage for a voltage at the input, limited to 0…65,535 mV.
  @_noLocks @_noAllocation
  func voltage(_ input: Microvolts) -> Millivolts {
    let millivolts = (input.count * dividerPerMille + 500_000) / 1_000_000
    return Millivolts(millivolts < 0 ? 0 : millivolts > 65_535 ? 65_535 : UInt16(truncatingIfNeeded: millivolts))
  }
}

/// The reason why the battery's voltage could not be measured.
public enum LegBatteryFailure: Sendable, Hashable, BitwiseCopyable {
  case bus(I2CError)
  /// The converter answers, but the conversion has not ended because the converter had no power.
  case notReady
  /// The servo chip fails, so the bus is not used for the battery.
  case busUnusable
}

/// The status of the battery's sensor, as published to other threads.
public struct LegBatteryStatus: Sendable, BitwiseCopyable {
  public internal(set) var isConfigured = false
  public internal(set) var readings: Int64 = 0
  public internal(set) var failures: Int64 = 0
  /// The last failure, or `nil` if no measurement has failed since the start.
  public internal(set) var lastFailure: LegBatteryFailure?

  @_noLocks @_noAllocation
  init() {}
}

/// Measures the battery five times a second with at most one bus transfer a call: one call starts the conversion, one checks for its end,
/// one reads the result.
struct LegBatteryMeter: BitwiseCopyable {
  enum Outcome: BitwiseCopyable {
    case nothing
    /// The battery has this voltage. `isBack` tells whether earlier measurements had failed so often that the sensor was reported silent.
    case voltage(Millivolts, isBack: Bool)
    /// Three measurements in a row have failed; reported only once.
    case silent(LegBatteryFailure)
  }

  private enum Phase: BitwiseCopyable {
    case idle(until: TickInstant)
    case converting(until: TickInstant)
    case ready
  }

  static var period: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(200_000_000) }
  }
  private static var patience: Int {
    @_noLocks @_noAllocation get { 3 }
  }

  private let battery: LegBattery
  private var phase = Phase.idle(until: .zero)
  private var failuresInARow = 0
  private(set) var status = LegBatteryStatus()

  init(_ battery: LegBattery) {
    self.battery = battery
    status.isConfigured = true
  }

  /// Performs one step of the measurement. The function must be called once a period, after the bus has been given the current time. Makes at most
  /// one transfer and does not retry it; the next measurement takes its place.
  @_noLocks @_noAllocation
  mutating func step(on bus: inout I2CBus, isUsable: Bool) -> Outcome {
    let attempts = bus.attempts
    bus.attempts = 1
    defer { bus.attempts = attempts }
    do throws(I2CError) {
      switch phase {
      case .idle(let until):
        guard !(bus.now < until) else { return .nothing }
        guard isUsable else { return miss(.busUnusable, at: bus.now) }
        try battery.converter.start(battery.channel, on: &bus)
        phase = .converting(until: bus.now + battery.converter.conversionTime)
        return .nothing
      case .converting(let until):
        guard isUsable else { return miss(.busUnusable, at: bus.now) }
        guard !(bus.now < until) else { return .nothing }
        guard try battery.converter.isReady(battery.channel, on: &bus) else { return miss(.notReady, at: bus.now) }
        phase = .ready
        return .nothing
      case .ready:
        guard isUsable else { return miss(.busUnusable, at: bus.now) }
        let voltage = battery.voltage(try battery.converter.read(on: &bus))
        let isBack = failuresInARow >= Self.patience
        phase = .idle(until: bus.now + Self.period)
        failuresInARow = 0
        status.readings &+= 1
        return .voltage(voltage, isBack: isBack)
      }
    } catch {
      return miss(.bus(error), at: bus.now)
    }
  }

  @_noLocks @_noAllocation
  private mutating func miss(_ failure: LegBatteryFailure, at now: TickInstant) -> Outcome {
    phase = .idle(until: now + Self.period)
    failuresInARow = failuresInARow < Self.patience ? failuresInARow &+ 1 : Self.patience &+ 1
    status.failures &+= 1
    status.lastFailure = failure
    return failuresInARow == Self.patience ? .silent(failure) : .nothing
  }
}

extension LegBatteryFailure: CustomStringConvertible {
  public var description: String {
    switch self {
    case .bus(let error): "the converter does not answer: \(error)"
    case .notReady: "the converter was without power"
    case .busUnusable: "the servo chip's bus fails"
    }
  }
}
