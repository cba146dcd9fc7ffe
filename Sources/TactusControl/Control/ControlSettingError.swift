/// The reason why a controller, a filter or a profile was not created: a setting is out of range, NaN or infinite.
///
/// Thrown by initialisers, never by a step. An initialiser may be called in a tick; the first *error* of a program's life that is
/// thrown there may allocate, as docs/decisions/errors-in-ticks.md says.
public struct ControlSettingError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The setting that is invalid.
  public let setting: ControlSetting
  /// The value that was given, in the unit of the setting.
  public let value: Double

  /// Creates an error for a setting, also for settings of other modules that have the same meaning and range.
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
  /// One sentence for people: the setting with its unit, the accepted values and the value that was given.
  public var description: String { "\(setting.name): expected \(setting.range), got \(value)" }
}
