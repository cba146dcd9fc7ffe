/// The settings of all legs of a loop as one value, so that they change together.
public struct LegRules: Sendable, Equatable, BitwiseCopyable {
  /// The number of legs, 1…32.
  public let count: Int
  private var settings: [32 of LegSettings]

  /// Combines the settings of all legs.
  ///
  /// - Parameter settings: the settings of 1…32 legs in order; anything else is a programming error.
  public init(_ settings: [LegSettings]) {
    precondition((1...LegLoop.maximumLegs).contains(settings.count), "there are 1…32 legs")
    count = settings.count
    self.settings = .init(repeating: settings[0])
    for (index, one) in settings.enumerated() { self.settings[index] = one }
  }

  /// The settings of the leg with this index, 0…31.
  public subscript(index: Int) -> LegSettings {
    @_noLocks @_noAllocation get { settings[index] }
  }

  /// Returns whether both have the same number of legs with the same settings.
  public static func == (left: Self, right: Self) -> Bool { left.all == right.all }

  /// The settings of all legs, in order.
  public var all: [LegSettings] { (0..<count).map { settings[$0] } }

  /// Returns the rules with the tighter settings of each leg. Both rules must have the same number of legs.
  public func tighter(than other: LegRules) -> LegRules {
    LegRules(zip(all, other.all).map { $0.tighter(than: $1) })
  }
}

extension LegSettings {
  /// Returns the settings that allow no more than either of the two: the shorter deadman, the slower slew, the earlier release, the
  /// higher voltages. The travel, and everything that is not a limit, is taken from `self`.
  public func tighter(than other: LegSettings) -> LegSettings {
    let limits = [battery, other.battery].compactMap(\.self)
    let battery = limits.first.map { first in
      limits.reduce(first) { LegBatteryLimits(warning: max($0.warning, $1.warning), fault: max($0.fault, $1.fault)) }
    }
    do {
      return try LegSettings(
        deadmanTimeout: min(deadmanTimeout, other.deadmanTimeout), lowest: lowest, highest: highest,
        slewMicrosecondsPerSecond: [slewMicrosecondsPerSecond, other.slewMicrosecondsPerSecond].compactMap(\.self)
          .min(),
        releaseAfter: [releaseAfter, other.releaseAfter].compactMap(\.self).min(), battery: battery,
        reportsStubBattery: reportsStubBattery)
    } catch {
      preconditionFailure("the tighter of valid settings are invalid: \(error)")
    }
  }
}
