import Wire

/// A type that can be read from a request's body or from an object in it.
///
///     struct Drive: JSONReadable {
///       let left: Double, right: Double
///       init(_ body: inout JSONReader) throws(APIError) {
///         left = try body.required("left", .number(-100...100))
///         right = try body.required("right", .number(-100...100))
///       }
///     }
///     let drive = try request.decode(Drive.self)
///
/// The initialiser reads every member that the type knows; members that it does not read are refused afterwards.
public protocol JSONReadable: SendableMetatype {
  /// Reads one object, member by member.
  ///
  /// - Throws: 422 `VALIDATION` for a member that is missing, of the wrong type or out of its range, and for members
  ///   that contradict each other.
  init(_ body: inout JSONReader) throws(APIError)
}

/// The members of one JSON object, read by name.
public struct JSONReader {
  private let members: [JSONValue.Member]
  /// The index of each member by its name, or `nil` if there are few members. With it the cost of reading any document is proportional to its length.
  private let indices: [String: Int]?
  /// The path of the object in the body, such as `zones[2]`; empty for the body itself.
  private let path: String
  private var known: [String] = []
  private var ignored: [String] = []
  private var ignoresUnknown = false

  /// Returns the value of a member.
  ///
  /// - Throws: 422 `VALIDATION` if the member is missing or is not of the kind.
  public mutating func required<Value>(_ name: String, _ kind: JSONKind<Value>) throws(APIError) -> Value {
    guard let value = knownValue(name) else {
      throw .validation(field(name), expected: kind.expected, got: "nothing")
    }
    return try kind.read(value, field(name))
  }

  /// Returns the value of a member, or `nil` if the member is missing or null.
  ///
  /// - Throws: 422 `VALIDATION` if the member is neither null nor of the kind.
  public mutating func optional<Value>(_ name: String, _ kind: JSONKind<Value>) throws(APIError) -> Value? {
    guard let value = knownValue(name), value != .null else { return nil }
    return try kind.read(value, field(name))
  }

  /// Returns whether the member is present, even as null. It is used for members whose null differs in meaning from their absence.
  public func has(_ name: String) -> Bool { value(name) != nil }

  /// Returns the member's value as received, cut to 40 characters, for the log, or `nothing` if the member is missing.
  public func summary(_ name: String) -> String { value(name)?.summary ?? "nothing" }

  /// Accepts a member without reading it, because clients may send back a document as they received it.
  public mutating func ignore(_ name: String) { ignored.append(name) }

  /// Accepts every member that is not read, because a client of another version may send more members.
  mutating func ignoreUnknown() { ignoresUnknown = true }

  /// Returns the error for a rule that concerns more than one member.
  public func refusal(_ name: String, expected: String, got: String) -> APIError {
    .validation(field(name), expected: expected, got: got)
  }

  private mutating func knownValue(_ name: String) -> JSONValue? {
    known.append(name)
    return value(name)
  }

  private func value(_ name: String) -> JSONValue? {
    guard let indices else { return members.first { $0.name == name }?.value }
    return indices[name].map { members[$0].value }
  }

  private func field(_ name: String) -> String { path.isEmpty ? name : path + "." + name }

  /// Returns the value of an object, and refuses members that `type` does not read.
  static func read<Value: JSONReadable>(
    _ type: Value.Type, from value: JSONValue, field: String
  ) throws(APIError) -> Value {
    try read(value, field: field) { (reader) throws(APIError) in try type.init(&reader) }
  }

  /// Returns the value that a closure reads from an object, and refuses members that the closure does not read.
  static func read<Value>(
    _ value: JSONValue, field: String, _ read: (inout JSONReader) throws(APIError) -> Value
  ) throws(APIError) -> Value {
    guard case .object(let members) = value else {
      throw .validation(field.isEmpty ? "body" : field, expected: "an object", got: value.summary)
    }
    var reader = JSONReader(members: members, path: field)
    let result = try read(&reader)
    try reader.refuseUnknown()
    return result
  }

  private init(members: [JSONValue.Member], path: String) {
    self.members = members
    self.path = path
    indices =
      members.count > 16
      ? Dictionary(members.enumerated().map { ($1.name, $0) }, uniquingKeysWith: { first, _ in first }) : nil
  }

  private func refuseUnknown() throws(APIError) {
    if ignoresUnknown { return }
    let accepted = Set(known).union(ignored)
    guard let unknown = members.first(where: { !accepted.contains($0.name) })?.name else { return }
    let expected =
      known.isEmpty
      ? "no member"
      : nearestName(to: unknown, among: known).map { "a known member (\($0)?)" }
        ?? "a known member (\(known.joined(separator: ", ")))"
    let shown = JSONValue.shortened(unknown)
    throw .validation(field(shown), expected: expected, got: "\"\(shown)\"")
  }
}
