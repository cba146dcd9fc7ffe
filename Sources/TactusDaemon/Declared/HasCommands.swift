import ArgumentParser

/// Adopted by a system with commands of its own in the terminal: `tactus drive`.
///
///     static var terminal: [any ParsableCommand.Type] { [DriveCommand.self] }
///
/// What the loop can be asked is no command of this kind: `call` has all of it.
public protocol HasCommands: DeviceSystem {
  /// Each with a name that no other command of the program has.
  static var terminal: [any ParsableCommand.Type] { get }
}
