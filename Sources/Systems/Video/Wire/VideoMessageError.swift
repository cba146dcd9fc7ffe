/// The reason why bytes between the daemon and its video process could not be decoded as a message.
public enum VideoMessageError: Error, Sendable, Hashable {
  /// The announced length exceeds `VideoMessages.limit`.
  case tooLong(Int)
  case unknownKind(UInt8)
  /// The message ends within this field.
  case truncated(String)
  /// This many bytes follow the last field.
  case trailing(Int)
  case invalid(String)
}

extension VideoMessageError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLong(let count): "a message of \(count) bytes, expected at most \(VideoMessages.limit)"
    case .unknownKind(let kind): "a message of the unknown kind \(kind)"
    case .truncated(let field): "a message that ends within \(field)"
    case .trailing(let count): "\(count) bytes beyond the end of a message"
    case .invalid(let field): "a message with an invalid \(field)"
    }
  }
}
