import Tactus
import Wire

/// The settings of the rules of one leg, checked when created.
public struct LegSettings: Sendable, Hashable, BitwiseCopyable {
  /// The silence after which the pulse ends, 50 ms…10 s. LegCtrl: 200 ms.
  public let deadmanTimeout: Nanoseconds
  /// The shortest pulse, 500…2500 µs. Shorter ones are clamped and reported. LegCtrl: 500 µs; recommended: 1000 µs.
  public let lowest: PulseWidth
  /// The longest pulse, 500…2500 µs. Longer ones are clamped and reported. LegCtrl: 2500 µs; recommended: 2000 µs.
  public let highest: PulseWidth
  /// The highest rate at which an existing pulse may change, 1…1,000,000 µs/s, or `nil` if it may change at once.
  public let slewMicrosecondsPerSecond: Int64?
  /// The time without motion after which a servo gets no pulse until another position is commanded, 100 ms…1 h, or
  /// `nil` if the servo is held.
  public let releaseAfter: Nanoseconds?
  /// The voltage limits of the battery, or `nil` if the voltage causes neither a warning nor a fault.
  public let battery: LegBatteryLimits?
  /// Whether telemetry always reports 7400 mV, whatever is measured, as the original firmware does.
  public let reportsStubBattery: Bool

  /// Creates checked settings. Throws the first setting that is out of range.
  public init(
    deadmanTimeout: Nanoseconds = .milliseconds(200), lowest: PulseWidth = .shortest, highest: PulseWidth = .longest,
    slewMicrosecondsPerSecond: Int64? = nil, releaseAfter: Nanoseconds? = nil, battery: LegBatteryLimits? = nil,
    reportsStubBattery: Bool = false
  ) throws(LegSettingsError) {
    guard deadmanTimeout >= .milliseconds(50), deadmanTimeout <= .seconds(10) else {
      throw .deadmanTimeout(deadmanTimeout)
    }
    guard PulseWidth.shortest <= lowest, lowest < highest, highest <= .longest else {
      throw .travel(lowest: lowest, highest: highest)
    }
    if let slew = slewMicrosecondsPerSecond {
      guard slew >= 1, slew <= 1_000_000 else { throw .slew(microsecondsPerSecond: slew) }
    }
    if let releaseAfter {
      guard releaseAfter >= .milliseconds(100), releaseAfter <= .seconds(3_600) else {
        throw .releaseAfter(releaseAfter)
      }
    }
    if let battery {
      guard battery.fault <= battery.warning else { throw .battery(battery) }
    }
    self.deadmanTimeout = deadmanTimeout
    self.lowest = lowest
    self.highest = highest
    self.slewMicrosecondsPerSecond = slewMicrosecondsPerSecond
    self.releaseAfter = releaseAfter
    self.battery = battery
    self.reportsStubBattery = reportsStubBattery
  }

  /// The settings with the values of LegCtrl.
  public static let standard = try! LegSettings()
}

/// The voltages below which a battery causes a warning and a fault. Suggested for two lithium cells: 6800 and 6400 mV.
public struct LegBatteryLimits: Sendable, Hashable, BitwiseCopyable {
  public let warning: Millivolts
  public let fault: Millivolts

  public init(warning: Millivolts, fault: Millivolts) {
    self.warning = warning
    self.fault = fault
  }
}

/// A setting that is out of range, with the requested value.
public enum LegSettingsError: Error, Hashable, Sendable {
  case deadmanTimeout(Nanoseconds)
  case travel(lowest: PulseWidth, highest: PulseWidth)
  case slew(microsecondsPerSecond: Int64)
  case releaseAfter(Nanoseconds)
  case battery(LegBatteryLimits)
}
