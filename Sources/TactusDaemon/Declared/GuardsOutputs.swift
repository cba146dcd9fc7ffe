import TactusGuard

/// Adopted by a system whose safe state is written by more than the guard can do by itself: over a radio, say.
public protocol GuardsOutputs: DeviceSystem {
  /// By the name of the custom write, what opens the output in the guard's process.
  static var guardOutputs: [String: (String) throws -> any GuardOutput] { get }
}
