/// Adopted by a system whose loop uses its rules in another form than the file has, such as pulse widths instead of
/// microseconds, or one struct made of several lists.
///
/// `LoopRules` is nested under that name. As in every system, the `limit:` of the file's keys decides which changes
/// wait for the safe state.
public protocol ConvertsRules: DeviceSystem {
  /// Returns the rules in the form that the loop uses. The function is called on the main thread with values that have
  /// no contradictions, whenever the rules are needed or change. It cannot fail.
  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> LoopRules
}
