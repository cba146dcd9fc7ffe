/// The reason why a line could not be decoded, and at which byte, counted from 0.
public enum PumpLineError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The line is empty or contains only blanks.
  case empty
  /// The line is too long: a command has more than 63 bytes, or a reply more than 512.
  case tooLong(count: Int)
  case unknownCommand(at: Int)
  case unknownReply(at: Int)
  /// The byte at this position was not expected.
  case malformed(at: Int)
  /// The number that begins at this position is out of its key's range.
  case outOfRange(at: Int)
  /// The state is not ON, OFF or ERROR.
  case unknownState(at: Int)
  /// The line ends before its `}`.
  case unterminated(at: Int)
  /// The line continues after the position where it should end.
  case trailing(at: Int)

  /// A short name for counters and logs that stays the same from release to release.
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
