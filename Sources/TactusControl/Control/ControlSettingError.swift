/// Why a controller, a filter or a profile was not made: a setting is out of range, NaN or infinite.
///
/// Thrown when a value is made, never by a step. An initialiser may stand in a tick; there the first *error* of a
/// program's life may allocate, as docs/decisions/errors-in-ticks.md says.
public struct ControlSettingError: Error, Sendable, Hashable, BitwiseCopyable {
  /// Which setting it is.
  public let setting: ControlSetting
  /// What it was given, in the setting's own unit.
  public let value: Double

  /// An error of this setting, for settings of your own that have the same meaning and range.
  @_noLocks @_noAllocation @inlinable
  public init(_ setting: ControlSetting, _ value: Double) {
    self.setting = setting
    self.value = value
  }

  @_noLocks @_noAllocation @usableFromInline
  static func check(_ isInRange: Bool, _ setting: ControlSetting, _ value: Double) throws(ControlSettingError) {
    guard isInRange, value.isFinite else { throw ControlSettingError(setting, value) }
  }
}

extension ControlSettingError: CustomStringConvertible {
  /// One sentence for people: the setting with its unit, what is accepted, what was given.
  public var description: String { "\(setting.name): expected \(setting.range), got \(value)" }
}
