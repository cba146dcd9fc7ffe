import Wire

/// What a member of a request must be, and how it is read: `.integer(1...240)`, `.list(of: .object(Zone.self), 0...16)`.
public struct JSONKind<Value>: Sendable {
  /// `an integer 1…240`
  public let expected: String
  /// Reads a value; `field` is its path, for the error.
  let read: @Sendable (_ value: JSONValue, _ field: String) throws(APIError) -> Value

  /// A kind of its own: `read` answers nil for what it does not accept.
  public init(_ expected: String, _ read: @escaping @Sendable (JSONValue) -> Value?) {
    self.expected = expected
    self.read = { (value, field) throws(APIError) in
      guard let result = read(value) else {
        throw .validation(field, expected: expected, got: value.summary)
      }
      return result
    }
  }

  private init(
    expected: String, reading read: @escaping @Sendable (JSONValue, String) throws(APIError) -> Value
  ) {
    self.expected = expected
    self.read = read
  }
}

extension JSONKind where Value == Double {
  /// A finite number in a range.
  public static func number(_ range: ClosedRange<Double>) -> JSONKind {
    JSONKind("a number \(plain(range.lowerBound))…\(plain(range.upperBound))") { value in
      guard case .number(let digits) = value, let number = Double(digits), range.contains(number) else { return nil }
      return number
    }
  }

  private static func plain(_ number: Double) -> String {
    Int(exactly: number).map(String.init) ?? String(number)
  }
}

extension JSONKind where Value == Int {
  /// A whole number in a range; `3.0` and `3e0` are whole.
  public static func integer(_ range: ClosedRange<Int>) -> JSONKind {
    JSONKind("an integer \(range.lowerBound)…\(range.upperBound)") { value in
      guard case .number(let digits) = value else { return nil }
      guard let number = Int(digits) ?? Double(digits).flatMap({ Int(exactly: $0) }), range.contains(number) else {
        return nil
      }
      return number
    }
  }
}

extension JSONKind where Value == Bool {
  /// `true` or `false`.
  public static var boolean: JSONKind {
    JSONKind("true or false") { value in
      if case .boolean(let value) = value { value } else { nil }
    }
  }
}

extension JSONKind where Value == String {
  /// Text of a length in characters.
  public static func text(_ length: ClosedRange<Int>) -> JSONKind {
    JSONKind("text of \(length.lowerBound)…\(length.upperBound) characters") { value in
      guard case .text(let text) = value, length.contains(text.count) else { return nil }
      return text
    }
  }

  /// One of some words, in exactly this case.
  public static func choice(_ words: [String]) -> JSONKind {
    let expected = "one of \(words.joined(separator: ", "))"
    return JSONKind(expected: expected) { (value, field) throws(APIError) in
      let text = value.string
      if let text, words.contains(text) { return text }
      let near = text.flatMap { nearestName(to: $0, among: words) }.map { " (\($0)?)" } ?? ""
      throw .validation(field, expected: expected + near, got: value.summary)
    }
  }
}

extension JSONKind where Value: JSONReadable {
  /// An object with the members that `Value` reads.
  public static func object(_ type: Value.Type = Value.self) -> JSONKind {
    JSONKind(expected: "an object") { (value, field) throws(APIError) in
      try JSONReader.read(type, from: value, field: field)
    }
  }
}

extension JSONKind {
  /// A list of a length; the error names the item: `zones[2]`.
  public static func list<Item: Sendable>(of item: JSONKind<Item>, _ length: ClosedRange<Int>) -> JSONKind
  where Value == [Item] {
    let expected = "a list of \(length.lowerBound)…\(length.upperBound), each \(item.expected)"
    return JSONKind(expected: expected) { (value, field) throws(APIError) in
      guard case .list(let values) = value, length.contains(values.count) else {
        throw .validation(field, expected: expected, got: value.summary)
      }
      var items: [Item] = []
      for (index, value) in values.enumerated() { items.append(try item.read(value, "\(field)[\(index)]")) }
      return items
    }
  }
}
