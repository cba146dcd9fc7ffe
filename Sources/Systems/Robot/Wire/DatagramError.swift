/// The reason why bytes could not be decoded as a JSON or CSV datagram; `at` is the offset of the offending byte.
public enum DatagramError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The datagram is empty or contains only white space.
  case empty
  /// The datagram has more than `RobotMessage.maximumLength` bytes.
  case tooLong(count: Int)
  /// The text is neither JSON nor CSV. If the datagram ends too early, `at` is the offset of its end.
  case malformed(at: Int)
  case notUTF8(at: Int)
  /// An object or array is nested more than 16 levels deep.
  case tooDeep(at: Int)
  /// Bytes other than white space follow the closing brace.
  case trailing(at: Int)
  /// A known key has a value of the wrong type.
  case wrongType(at: Int)
  /// A number is beyond the range of doubles.
  case notFinite(at: Int)
  /// A number is outside the range allowed for its key, such as an `echo` that is negative or not whole.
  case outOfRange(at: Int)
  case unknownCommand(at: Int)
  /// The direction field of a CSV datagram is not 0, 1 or 2.
  case unknownDirection(at: Int)
  /// The state in a reply is none of the four known states.
  case unknownState(at: Int)
  /// The JSON is valid but lacks the keys of a command.
  case missing
  /// The datagram asks for speeds of the wheels and for a motion in SI units at once.
  case twoUnits
}

extension DatagramError {
  /// A short name that stays the same from release to release, for counters and logs.
  public var name: String {
    switch self {
    case .empty: "empty"
    case .tooLong: "too-long"
    case .malformed: "malformed"
    case .notUTF8: "not-utf8"
    case .tooDeep: "too-deep"
    case .trailing: "trailing"
    case .wrongType: "wrong-type"
    case .notFinite: "not-finite"
    case .outOfRange: "out-of-range"
    case .unknownCommand: "unknown-command"
    case .unknownDirection: "unknown-direction"
    case .unknownState: "unknown-state"
    case .missing: "missing"
    case .twoUnits: "two-units"
    }
  }
}

extension DatagramError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty, .missing, .twoUnits: name
    case .tooLong(let count): "\(name) (\(count) bytes)"
    case .malformed(let at), .notUTF8(let at), .tooDeep(let at), .trailing(let at), .wrongType(let at),
      .notFinite(let at), .outOfRange(let at), .unknownCommand(let at), .unknownDirection(let at),
      .unknownState(let at):
      "\(name) at byte \(at)"
    }
  }
}
