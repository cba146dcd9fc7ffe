@_spi(FromOutside) import Conversions
import Wire

/// The kind of value that a member of a request must have, and how it is read: `.integer(1...240)`, `.list(of: .object(Zone.self), 0...16)`.
public struct JSONKind<Value>: Sendable {
  /// The expectation in words: `an integer 1…240`.
  public let expected: String
  /// Reads a value; `field` is the path of the member, for the error.
  let read: @Sendable (_ value: JSONValue, _ field: String) throws(APIError) -> Value

  /// Makes a kind. `read` returns `nil` for a value that is not accepted.
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
  /// Returns the kind of a finite number in a range.
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
  /// Returns the kind of a whole number in a range; `3.0` and `3e0` are whole.
  public static func integer(_ range: ClosedRange<Int>) -> JSONKind {
    JSONKind("an integer \(range.lowerBound)…\(range.upperBound)") { value in
      value.wholeNumber.flatMap { range.contains($0) ? $0 : nil }
    }
  }
}

extension JSONKind where Value == Bool {
  /// The kind of `true` and `false`.
  public static var boolean: JSONKind {
    JSONKind("true or false") { value in
      if case .boolean(let value) = value { value } else { nil }
    }
  }
}

extension JSONKind where Value == String {
  /// Returns the kind of a text whose length in characters is in a range, and which has at most four bytes for each
  /// character of the greatest length.
  public static func text(_ length: ClosedRange<Int>) -> JSONKind {
    JSONKind("text of \(length.lowerBound)…\(length.upperBound) characters") { value in
      guard case .text(let text) = value, GivenName.excess(of: text, length) == nil else { return nil }
      return text
    }
  }

  /// Returns the kind of a name or note that people see, as `GivenName` has it. An error names an invisible character.
  ///
  /// - Parameter expected: the name in words for a member that is missing or no text; unless given, its length.
  public static func name(_ length: ClosedRange<Int>, expected: String? = nil) -> JSONKind {
    let expected = expected ?? text(length).expected
    return JSONKind(expected: expected) { (value, field) throws(APIError) in
      guard case .text(let text) = value, !text.isEmpty || length.contains(0) else {
        throw .validation(field, expected: expected, got: value.summary)
      }
      if let flaw = GivenName.flaw(in: text, length) {
        throw .validation(field, expected: GivenName.rule(length), got: flaw)
      }
      return text
    }
  }

  /// Returns the kind of a text that is one of the given words, in the same case.
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
  /// Returns the kind of an object with the members that `Value` reads.
  public static func object(_ type: Value.Type = Value.self) -> JSONKind {
    JSONKind(expected: "an object") { (value, field) throws(APIError) in
      try JSONReader.read(type, from: value, field: field)
    }
  }
}

extension JSONKind {
  /// Returns the kind of a list whose number of items is in a range. An error names the item: `zones[2]`.
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
