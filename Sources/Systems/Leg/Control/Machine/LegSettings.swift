import Tactus
import Wire

/// The numbers of one leg's rules. Valid once made.
public struct LegSettings: Sendable, Hashable, BitwiseCopyable {
  /// Silence after which the pulse is cut, 50 ms…10 s. LegCtrl: 200 ms.
  public let deadmanTimeout: Nanoseconds
  /// Pulses beyond are clamped and reported, 500…2500 µs. LegCtrl: all of it; recommended 1000…2000 µs.
  public let lowest: PulseWidth
  public let highest: PulseWidth
  /// How fast the pulse may change once there is one, 1…1,000,000 µs/s, or `nil` for at once.
  public let slewMicrosecondsPerSecond: Int64?
  /// A servo that has stood still for so long gets no pulse until it is sent elsewhere, 100 ms…1 h, or `nil` if it is held.
  public let releaseAfter: Nanoseconds?
  /// It is `nil` if the battery decides nothing.
  public let battery: LegBatteryLimits?
  /// Whether telemetry always says 7400 mV, whatever is measured, as that of the original firmware does.
  public let reportsStubBattery: Bool

  /// Throws the first setting that is out of range.
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

  /// LegCtrl's values.
  public static let standard = try! LegSettings()
}

/// Below which a battery is a warning, and below which a fault. Suggested for two lithium cells: 6800 and 6400 mV.
public struct LegBatteryLimits: Sendable, Hashable, BitwiseCopyable {
  public let warning: Millivolts
  public let fault: Millivolts

  public init(warning: Millivolts, fault: Millivolts) {
    self.warning = warning
    self.fault = fault
  }
}

/// A setting out of range, with the value that was asked for.
public enum LegSettingsError: Error, Hashable, Sendable {
  case deadmanTimeout(Nanoseconds)
  case travel(lowest: PulseWidth, highest: PulseWidth)
  case slew(microsecondsPerSecond: Int64)
  case releaseAfter(Nanoseconds)
  case battery(LegBatteryLimits)
}
