/// The settings of all legs of a loop, which may change while it runs: one value, so that they change together.
public struct LegRules: Sendable, Equatable, BitwiseCopyable {
  /// 1…16.
  public let count: Int
  private var settings: [16 of LegSettings]

  /// - Parameter settings: of 1…16 legs, in their order; anything else is our bug.
  public init(_ settings: [LegSettings]) {
    precondition((1...LegLoop.maximumLegs).contains(settings.count), "a chip carries 1…16 legs")
    count = settings.count
    self.settings = .init(repeating: settings[0])
    for (index, one) in settings.enumerated() { self.settings[index] = one }
  }

  /// Of the leg of that index, 0…15.
  public subscript(index: Int) -> LegSettings {
    @_noLocks @_noAllocation get { settings[index] }
  }

  /// Returns whether both have the same settings for as many legs.
  public static func == (left: Self, right: Self) -> Bool { left.all == right.all }

  /// All of them, in their order.
  public var all: [LegSettings] { (0..<count).map { settings[$0] } }

  /// Each leg's tighter settings of the two; both have as many legs.
  public func tighter(than other: LegRules) -> LegRules {
    LegRules(zip(all, other.all).map { $0.tighter(than: $1) })
  }
}

extension LegSettings {
  /// The settings that allow no more than either of the two: the shorter deadman, the slower slew, the sooner release, the higher
  /// voltages. What is no limit, and the travel, is as it is here.
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
      preconditionFailure("each of them was allowed: \(error)")
    }
  }
}
