/// Why a line is not what was asked for, and at which byte, counted from 0.
public enum PumpLineError: Error, Sendable, Hashable, BitwiseCopyable {
  /// Nothing but blanks.
  case empty
  /// A command of more than 63 bytes, a reply of more than 512.
  case tooLong(count: Int)
  case unknownCommand(at: Int)
  case unknownReply(at: Int)
  /// Something else was expected here.
  case malformed(at: Int)
  /// A number that begins here is beyond its key's range.
  case outOfRange(at: Int)
  /// A state other than ON, OFF and ERROR.
  case unknownState(at: Int)
  /// The line ends before its `}`.
  case unterminated(at: Int)
  /// Something follows where the line should end.
  case trailing(at: Int)

  /// A short name that stays the same from release to release, for counters and logs.
  public var name: String {
    switch self {
    case .empty: "empty"
    case .tooLong: "too-long"
    case .unknownCommand: "unknown-command"
    case .unknownReply: "unknown-reply"
    case .malformed: "malformed"
    case .outOfRange: "out-of-range"
    case .unknownState: "unknown-state"
    case .unterminated: "unterminated"
    case .trailing: "trailing"
    }
  }
}

extension PumpLineError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty: name
    case .tooLong(let count): "\(name): \(count) bytes"
    case .unknownCommand(let at), .unknownReply(let at), .malformed(let at), .outOfRange(let at),
      .unknownState(let at), .unterminated(let at), .trailing(let at):
      "\(name) at byte \(at)"
    }
  }
}
