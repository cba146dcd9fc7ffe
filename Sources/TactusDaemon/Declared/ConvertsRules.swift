/// Adopted by a system whose loop takes another form of its rules than the file has: pulse widths instead of microseconds, one struct made of lists.
///
/// `LoopRules` is nested under that name. `limit:` of the file's keys decides what waits for the safe state, as in every system.
public protocol ConvertsRules: DeviceSystem {
  /// The rules as the loop takes them. It is called with values that contradict nothing, whenever the rules are wanted or change, on the main thread: it
  /// cannot fail.
  static func loopRules(_ wiring: Wiring, _ rules: Rules) -> LoopRules
}
