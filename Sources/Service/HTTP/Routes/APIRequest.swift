import Wire

/// A request that has passed the door: its caller is known and allowed, its body is whole.
public struct APIRequest: Sendable {
  /// The caller. Its scope is at least that of the route.
  public let caller: Caller
  /// Values of the path's parameters, percent-decoded.
  public let parameters: [String: String]
  /// Of a repeated name the last counts.
  public let query: [String: String]
  /// At most as long as the route takes: 1 MB unless it says otherwise.
  public let body: [UInt8]

  /// For the responder, and for links and tests that call a handler without HTTP. Checks nothing.
  public init(caller: Caller, parameters: [String: String] = [:], query: [String: String] = [:], body: [UInt8] = []) {
    self.caller = caller
    self.parameters = parameters
    self.query = query
    self.body = body
  }
}

extension APIRequest {
  /// The body as JSON.
  ///
  /// - Throws: 400 `BODY_MISSING`; 400 `BAD_JSON` with line and column; 422 `VALIDATION` with the field that is missing,
  ///   unknown, of the wrong type or out of its range.
  public func decode<Body: JSONReadable>(_ type: Body.Type = Body.self) throws(APIError) -> Body {
    guard !body.isEmpty else {
      throw APIError(.badRequest, "BODY_MISSING", "expected a JSON object, got an empty body")
    }
    return try JSONReader.read(type, from: json, field: "")
  }

  /// The body as JSON, which may be missing: nil.
  ///
  /// - Throws: as `decode`.
  public func decodeIfGiven<Body: JSONReadable>(_ type: Body.Type = Body.self) throws(APIError) -> Body? {
    body.isEmpty ? nil : try decode(type)
  }

  /// The body as JSON: an object, or the list alone that would be its member `name`.
  ///
  /// - Throws: as `decode`.
  public func decode<Body: JSONReadable>(_ type: Body.Type, listAs name: String) throws(APIError) -> Body {
    guard !body.isEmpty, case .list = try json else { return try decode(type) }
    return try JSONReader.read(type, from: .object([.init(name: name, value: try json)]), field: "")
  }

  /// The body as a JSON object, read by a closure, for values that have no `JSONReadable` type.
  ///
  /// - Throws: as `decode`.
  public func decode<Value>(
    _ read: (inout JSONReader) throws(APIError) -> Value
  ) throws(APIError) -> Value {
    guard !body.isEmpty else {
      throw APIError(.badRequest, "BODY_MISSING", "expected a JSON object, got an empty body")
    }
    return try JSONReader.read(json, field: "", read)
  }

  /// Whether the body is an object that has a member of this name.
  ///
  /// - Throws: 400 `BAD_JSON`.
  func has(_ member: String) throws(APIError) -> Bool {
    guard !body.isEmpty, case .object(let members) = try json else { return false }
    return members.contains { $0.name == member }
  }

  private var json: JSONValue {
    get throws(APIError) {
      do {
        return try JSONParser.parse(body)
      } catch {
        throw APIError(
          .badRequest, "BAD_JSON",
          "line \(error.line), column \(error.column) (byte \(error.offset)): \(error.reason)")
      }
    }
  }
}
