/// The reason why bytes are not a Plant-Tracker message; `at` is the offset of the offending byte.
public enum PlantMessageError: Error, Sendable, Hashable {
  /// The message has more than `PlantMessage.maximumLength` bytes.
  case tooLong(count: Int)
  case notUTF8(at: Int)
  /// A part has no colon, or is empty.
  case missingValue(at: Int)
  /// A part has a second colon.
  case missingKey(at: Int)
  /// The message does not have five parts.
  case wrongPartCount(Int)
  case repeatedKey(at: Int)
  /// One of the five parts does not have one of the five keys. Keys are case-sensitive.
  case unknownKey(at: Int)
}

extension PlantMessageError {
  /// The tag of the error that the sender receives, or `nil` if the message is not echoed and therefore not answered.
  public var tag: PlantErrorTag? {
    switch self {
    case .tooLong, .notUTF8: nil
    case .missingValue: .missingVals
    case .missingKey, .unknownKey: .missingKeys
    case .wrongPartCount, .repeatedKey: .hashLength
    }
  }

  /// A short name for counters and logs that stays the same from release to release.
  public var name: String {
    switch self {
    case .tooLong: "too-long"
    case .notUTF8: "not-utf8"
    case .missingValue: "missing-value"
    case .missingKey: "missing-key"
    case .wrongPartCount: "wrong-part-count"
    case .repeatedKey: "repeated-key"
    case .unknownKey: "unknown-key"
    }
  }
}

extension PlantMessageError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .tooLong(let count): "\(name): expected at most \(PlantMessage.maximumLength) bytes, got \(count)"
    case .notUTF8(let at), .repeatedKey(let at): "\(name) at byte \(at)"
    case .missingValue(let at): "\(name) at byte \(at): expected KEY:VALUE"
    case .missingKey(let at): "\(name) at byte \(at): expected ';' or the end, got ':'"
    case .wrongPartCount(let count): "\(name): expected 5, got \(count)"
    case .unknownKey(let at): "\(name) at byte \(at): expected ID, sender, receiver, payload or operation"
    }
  }
}
