import TactusGuard

/// Adopted by a system whose safe state needs writes that the guard cannot do by itself, for example over a radio.
public protocol GuardsOutputs: DeviceSystem {
  /// The functions that open an output in the guard's process, by the name of the custom write.
  static var guardOutputs: [String: (String) throws -> any GuardOutput] { get }
}
