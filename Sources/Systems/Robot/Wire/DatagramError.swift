/// Why bytes are not the datagram that was expected, of JSON or CSV text; `at` is the offset of the offending byte.
public enum DatagramError: Error, Sendable, Hashable, BitwiseCopyable {
  /// No byte that is not white space.
  case empty
  /// More than `RobotMessage.maximumLength` bytes.
  case tooLong(count: Int)
  /// Neither JSON nor CSV; the end of the datagram counts as an offending byte.
  case malformed(at: Int)
  case notUTF8(at: Int)
  /// An object or array nested more than 16 deep.
  case tooDeep(at: Int)
  /// Something follows the closing brace.
  case trailing(at: Int)
  /// A known key holds a value of another type.
  case wrongType(at: Int)
  /// A number beyond the range of doubles.
  case notFinite(at: Int)
  /// A number that its key does not allow, such as an `echo` that is negative or not whole.
  case outOfRange(at: Int)
  case unknownCommand(at: Int)
  /// CSV: a direction other than 0, 1 or 2.
  case unknownDirection(at: Int)
  /// Reply: a state other than the four.
  case unknownState(at: Int)
  /// Valid JSON without the keys that make it a command.
  case missing
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
    }
  }
}

extension DatagramError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .empty, .missing: name
    case .tooLong(let count): "\(name) (\(count) bytes)"
    case .malformed(let at), .notUTF8(let at), .tooDeep(let at), .trailing(let at), .wrongType(let at),
      .notFinite(let at), .outOfRange(let at), .unknownCommand(let at), .unknownDirection(let at),
      .unknownState(let at):
      "\(name) at byte \(at)"
    }
  }
}
