import ArgumentParser

/// Adopted by a system with additional commands in the terminal, such as `tactus drive`.
///
/// ```swift
/// static var terminal: [any ParsableCommand.Type] { [DriveCommand.self] }
/// ```
///
/// Orders to the loop do not need such a command: `call` already offers all of them.
public protocol HasCommands: DeviceSystem {
  /// The commands. No other command of the program may have the same name.
  static var terminal: [any ParsableCommand.Type] { get }
}
