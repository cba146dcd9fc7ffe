extension PlantMessage {
  /// Parses the message in `bytes`.
  ///
  /// Total: every byte string is a message or an error. The checks are made in this order: the form of every part, the number of parts, the keys. A
  /// value may be empty. Time is linear; allocates the five texts.
  public static func parse(_ bytes: UnsafeRawBufferPointer) throws(PlantMessageError) -> PlantMessage {
    guard bytes.count <= maximumLength else { throw .tooLong(count: bytes.count) }
    if let offset = firstInvalidByte(bytes) { throw .notUTF8(at: offset) }
    var scanner = PlantPartScanner(bytes)
    var values: (id: String?, sender: String?, receiver: String?, payload: String?, operation: String?)
    var count = 0
    var repeated: Int?
    var unknown: Int?
    while let part = scanner.next() {
      guard let colon = part.colon else { throw .missingValue(at: part.start) }
      if let second = part.secondColon { throw .missingKey(at: second) }
      count += 1
      // A sixth part is an error already, so its text is not needed.
      guard count <= PlantKey.count else { continue }
      let text = String(decoding: bytes[(colon + 1)..<part.end], as: UTF8.self)
      var isRepeated = false
      switch PlantKey(bytes[part.start..<colon]) {
      case .id: isRepeated = put(text, into: &values.id)
      case .sender: isRepeated = put(text, into: &values.sender)
      case .receiver: isRepeated = put(text, into: &values.receiver)
      case .payload: isRepeated = put(PlantPayload.unescaped(text), into: &values.payload)
      case .operation: isRepeated = put(text, into: &values.operation)
      case nil: unknown = unknown ?? part.start
      }
      if isRepeated { repeated = repeated ?? part.start }
    }
    guard count == PlantKey.count else { throw .wrongPartCount(count) }
    if let repeated { throw .repeatedKey(at: repeated) }
    if let unknown { throw .unknownKey(at: unknown) }
    // Five parts with known keys, none of them repeated, are all five.
    return PlantMessage(
      id: values.id!, sender: values.sender!, receiver: values.receiver!, payload: values.payload!,
      operation: values.operation!)
  }

  public static func parse(_ bytes: [UInt8]) throws(PlantMessageError) -> PlantMessage {
    let result = bytes.withUnsafeBytes { bytes in Result { () throws(PlantMessageError) in try parse(bytes) } }
    return try result.get()
  }

  /// Sets `value` if it is `nil`. Returns whether it had been set before.
  private static func put(_ text: String, into value: inout String?) -> Bool {
    guard value == nil else { return true }
    value = text
    return false
  }

  /// Returns the offset of the first byte that is not valid UTF-8, or `nil` if all are valid.
  private static func firstInvalidByte(_ bytes: UnsafeRawBufferPointer) -> Int? {
    guard String(validating: bytes, as: UTF8.self) == nil else { return nil }
    var parser = Unicode.UTF8.ForwardParser()
    var iterator = bytes.makeIterator()
    var offset = 0
    while true {
      switch parser.parseScalar(from: &iterator) {
      case .valid(let scalar): offset += scalar.count
      case .error: return offset
      case .emptyInput: return nil
      }
    }
  }
}

/// The parts of an invalid message that are needed to answer it: the first well-formed part of each key.
public struct PlantMessageRemains: Sendable, Hashable {
  public private(set) var id: String?
  public private(set) var sender: String?
  public private(set) var receiver: String?
  public private(set) var operation: String?

  /// Parses a message of any bytes; at most `PlantMessage.maximumLength` of them are read.
  public init(of bytes: UnsafeRawBufferPointer) {
    var scanner = PlantPartScanner(UnsafeRawBufferPointer(rebasing: bytes.prefix(PlantMessage.maximumLength)))
    while let part = scanner.next() {
      guard let colon = part.colon, part.secondColon == nil,
        let text = String(validating: bytes[(colon + 1)..<part.end], as: UTF8.self)
      else { continue }
      switch PlantKey(bytes[part.start..<colon]) {
      case .id: id = id ?? text
      case .sender: sender = sender ?? text
      case .receiver: receiver = receiver ?? text
      case .operation: operation = operation ?? text
      case .payload, nil: break
      }
    }
  }
}

/// The five keys, which all differ in length.
private enum PlantKey {
  case id, sender, receiver, payload, operation

  static let count = 5

  init?(_ bytes: UnsafeRawBufferPointer.SubSequence) {
    let (key, name): (Self, StaticString)
    switch bytes.count {
    case 2: (key, name) = (.id, "ID")
    case 6: (key, name) = (.sender, "sender")
    case 7: (key, name) = (.payload, "payload")
    case 8: (key, name) = (.receiver, "receiver")
    case 9: (key, name) = (.operation, "operation")
    default: return nil
    }
    for index in 0..<bytes.count where bytes[bytes.startIndex + index] != name.utf8Start[index] { return nil }
    self = key
  }
}

/// Splits a message at its semicolons.
private struct PlantPartScanner {
  struct Part {
    var start: Int
    var end: Int
    var colon: Int?
    var secondColon: Int?
  }

  let bytes: UnsafeRawBufferPointer
  /// The start of the next part, or `nil` after the last one. A message has at least one part.
  var start: Int? = 0

  init(_ bytes: UnsafeRawBufferPointer) { self.bytes = bytes }

  mutating func next() -> Part? {
    guard let start else { return nil }
    var part = Part(start: start, end: start)
    while part.end < bytes.count, bytes[part.end] != 0x3B {
      if bytes[part.end] == 0x3A {
        if part.colon == nil {
          part.colon = part.end
        } else if part.secondColon == nil {
          part.secondColon = part.end
        }
      }
      part.end += 1
    }
    self.start = part.end < bytes.count ? part.end + 1 : nil
    return part
  }
}
