import Wire

/// A request that has been admitted: its caller is known and authorised, and its body is complete.
public struct APIRequest: Sendable {
  /// The caller. Its scope is at least that of the route.
  public let caller: Caller
  /// The values of the path's parameters, percent-decoded.
  public let parameters: [String: String]
  /// The query's values by name; the last value of a repeated name counts.
  public let query: [String: String]
  /// The body, at most as long as the route allows: 1 MB unless the route has its own limit.
  public let body: [UInt8]
  /// Whether the client accepts an answer in gzip.
  var takesGzip = false
  /// Begins a watch on the token or certificate that admitted the request. The value is `nil` if neither did, as for a command by MQTT.
  var beginWatch:
    (
      @Sendable (_ isNeeded: @escaping @Sendable () -> Bool, _ ended: @escaping @Sendable (_ code: String) -> Void) ->
        Void
    )?

  /// Makes a request without checking it, for the responder, and for transports and tests that call a handler without HTTP.
  public init(caller: Caller, parameters: [String: String] = [:], query: [String: String] = [:], body: [UInt8] = []) {
    self.caller = caller
    self.parameters = parameters
    self.query = query
    self.body = body
  }
}

extension APIRequest {
  /// Ends something that lasts longer than the answer, such as a session that the request has opened, when the token or certificate of the request is
  /// revoked, expires or loses the route's scope: within a second, or at once if it is revoked over the API. An answer in pieces, and a WebSocket,
  /// need no such call: they are closed by the server.
  ///
  /// - Parameters:
  ///   - isNeeded: returns `false` once it has ended by itself. Called each second on an event loop; it must not block.
  ///   - ended: called at most once, on an event loop, with the code of the refusal, such as `TOKEN_INVALID`. It must not block.
  public func watch(
    while isNeeded: @escaping @Sendable () -> Bool, ended: @escaping @Sendable (_ code: String) -> Void
  ) {
    beginWatch?(isNeeded, ended)
  }

  /// Returns the body, decoded from JSON.
  ///
  /// - Throws: 400 `BODY_MISSING`; 400 `BAD_JSON` with line and column; 422 `VALIDATION` with the field that is missing,
  ///   unknown, of the wrong type or out of its range.
  public func decode<Body: JSONReadable>(_ type: Body.Type = Body.self) throws(APIError) -> Body {
    guard !body.isEmpty else {
      throw APIError(.badRequest, "BODY_MISSING", "expected a JSON object, got an empty body")
    }
    return try JSONReader.read(type, from: json, field: "")
  }

  /// Returns the body, decoded from JSON, or `nil` if the body is empty.
  ///
  /// - Throws: as `decode`.
  public func decodeIfGiven<Body: JSONReadable>(_ type: Body.Type = Body.self) throws(APIError) -> Body? {
    body.isEmpty ? nil : try decode(type)
  }

  /// Returns the body, decoded from a JSON object, or from a JSON list that stands for the object's only member `name`.
  ///
  /// - Throws: as `decode`.
  public func decode<Body: JSONReadable>(_ type: Body.Type, listAs name: String) throws(APIError) -> Body {
    guard !body.isEmpty, case .list = try json else { return try decode(type) }
    return try JSONReader.read(type, from: .object([.init(name: name, value: try json)]), field: "")
  }

  /// Returns the body, a JSON object read by a closure, for values that have no `JSONReadable` type.
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

  /// Returns whether the body is a JSON object that has a member of this name.
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
