import Service
import Wire

/// A route of a system's desk below `/api/NAME`. It consists of a method, a path, an input and an answer, from which
/// the OpenAPI description is made. Input is checked against the ranges of its keys before the handler is called;
/// invalid input is answered with 422 and the name of the field.
///
/// A handler has one of two forms. `{ desk, input, caller in … }` is called on the desk's thread with the desk, and may
/// wait for a disk. `{ line, input, caller in … }` is asynchronous, for what orders the loop: it has a `DeskLine`
/// instead of the desk, so an order in it waits for no disk. Both may throw an `APIError`, such as `.notFound("…")` or
/// `.conflict("BUSY", "…")`, which becomes the answer; a `StoreError` becomes 503.
public struct SystemRoute<System: Serves>: Sendable {
  /// The desk of the system.
  public typealias Desk = System.Desk
  /// A function that answers a request with the desk.
  typealias Handler = @Sendable (Desk, APIRequest) throws -> APIResponse

  enum Source: Sendable {
    case desk(Handler)
    /// A route that orders the loop.
    case line(@Sendable (DeskLine<System>, APIRequest) async throws -> APIResponse, makesSafe: Bool)
    /// A route that returns the rows of a table, in pages or as CSV.
    case rows(ObjectIdentifier, isCSV: Bool)
    /// Routes that the desk makes.
    case own(@Sendable (Desk) -> [Route])
  }

  let method: RouteMethod
  let path: RoutePath
  let scope: Scope
  let description: RouteDescription
  let source: Source

  private init<Input: Settings>(
    _ method: RouteMethod, _ path: String, _ scope: Scope, takes: Input.Type, _ meaning: String,
    answers: RouteDescription.Content,
    _ handler: @escaping @Sendable (Desk, Input, Caller) throws -> APIResponse
  ) {
    let place = RoutePath(path, keys: Input.keys.map(\.member))
    let hasBody = method == .post || method == .put
    (self.method, self.path, self.scope) = (method, place, scope)
    description = RouteDescription(meaning: meaning, input: Input.self, path: place, hasBody: hasBody, answers: answers)
    source = .desk { desk, request in
      try handler(desk, Input(request, of: place, hasBody: hasBody), request.caller)
    }
  }

  private init<Input: Settings, Result: Answers>(
    _ method: RouteMethod, _ path: String, _ scope: Scope, makesSafe: Bool, _: Input.Type, _: Result.Type,
    _ meaning: String, _ handler: @escaping @Sendable (DeskLine<System>, Input, Caller) async throws -> Result
  ) {
    let place = RoutePath(path, keys: Input.keys.map(\.member))
    let hasBody = method != .delete
    (self.method, self.path, self.scope) = (method, place, scope)
    description = RouteDescription(
      meaning: meaning, input: Input.self, path: place, hasBody: hasBody, answers: .json(Result.schema),
      mayBeRefused: true)
    source = .line(
      { line, request in
        let input = try Input(request, of: place, hasBody: hasBody)
        return APIResponse(
          contentType: "application/json", body: try await handler(line, input, request.caller).document.bytes)
      }, makesSafe: makesSafe)
  }

  private static func json<Input: Settings, Result: Answers>(
    _ method: RouteMethod, _ path: String, _ scope: Scope, _: Input.Type, _: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (Desk, Input, Caller) throws -> Result
  ) -> SystemRoute {
    SystemRoute(method, path, scope, takes: Input.self, meaning, answers: .json(Result.schema)) { desk, input, caller in
      APIResponse(contentType: "application/json", body: try handler(desk, input, caller).document.bytes)
    }
  }

  /// Declares a route that reads.
  ///
  /// - Parameters:
  ///   - path: the path below that of the system, without a leading slash; a parameter such as `{number}` is a key of
  ///     `query`.
  ///   - query: a type whose keys are parameters of the query, in camel case, or of the path. A key whose range
  ///     excludes the property's initial value is required.
  ///   - meaning: a description in one sentence.
  public static func get<Query: Settings, Result: Answers>(
    _ path: String, scope: Scope = .read, query: Query.Type, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ query: Query, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    json(.get, path, scope, query, answers, meaning, handler)
  }

  /// Declares a route that reads without a query.
  public static func get<Result: Answers>(
    _ path: String, scope: Scope = .read, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    get(path, scope: scope, query: NoSettings.self, answers: answers, meaning) { desk, _, caller in
      try handler(desk, caller)
    }
  }

  /// Declares a route that creates something or performs an action.
  ///
  /// - Parameter body: a type whose keys are members of a JSON object, in camel case, or parameters of the path. A key
  ///   whose range excludes the property's initial value is required; an unknown member is answered with 422.
  public static func post<Body: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, body: Body.Type, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ body: Body, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    json(.post, path, scope, body, answers, meaning, handler)
  }

  /// Declares a route that sets something to a new value; `body` is as for `post`.
  public static func put<Body: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, body: Body.Type, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ body: Body, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    json(.put, path, scope, body, answers, meaning, handler)
  }

  /// Declares a route that deletes something; `query` is as for `get`.
  public static func delete<Query: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, query: Query.Type, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ query: Query, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    json(.delete, path, scope, query, answers, meaning, handler)
  }

  /// Declares a route that orders the loop.
  ///
  /// - Parameters:
  ///   - makesSafe: whether each request can only make the system safer, such as one that closes a valve. It is then
  ///     carried out as soon as it has been read, beside requests that wait for a disk, over MQTT too; its handler
  ///     orders before it does anything else.
  ///   - body: as for every `post`.
  @_disfavoredOverload
  public static func post<Body: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, makesSafe: Bool = false, body: Body.Type, answers: Result.Type,
    _ meaning: String,
    _ handler: @escaping @Sendable (_ line: DeskLine<System>, _ body: Body, _ caller: Caller) async throws -> Result
  ) -> SystemRoute {
    SystemRoute(.post, path, scope, makesSafe: makesSafe, body, answers, meaning, handler)
  }

  /// Declares a route that orders the loop to take a new value, with the parameters of `post`.
  @_disfavoredOverload
  public static func put<Body: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, makesSafe: Bool = false, body: Body.Type, answers: Result.Type,
    _ meaning: String,
    _ handler: @escaping @Sendable (_ line: DeskLine<System>, _ body: Body, _ caller: Caller) async throws -> Result
  ) -> SystemRoute {
    SystemRoute(.put, path, scope, makesSafe: makesSafe, body, answers, meaning, handler)
  }

  /// Declares a route that deletes something and orders the loop; `query` is as for `get`, all else as for `post`.
  @_disfavoredOverload
  public static func delete<Query: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, makesSafe: Bool = false, query: Query.Type, answers: Result.Type,
    _ meaning: String,
    _ handler: @escaping @Sendable (_ line: DeskLine<System>, _ query: Query, _ caller: Caller) async throws -> Result
  ) -> SystemRoute {
    SystemRoute(.delete, path, scope, makesSafe: makesSafe, query, answers, meaning, handler)
  }

  /// Declares a route that returns bytes in another format, such as a calendar or a picture; `query` is as for `get`.
  ///
  /// - Parameter contentType: the content type, such as `text/calendar; charset=utf-8`.
  public static func raw<Query: Settings>(
    _ path: String, scope: Scope = .read, query: Query.Type, contentType: String, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ query: Query, _ caller: Caller) throws -> [UInt8]
  ) -> SystemRoute {
    SystemRoute(.get, path, scope, takes: query, meaning, answers: .bytes(contentType)) { desk, query, caller in
      APIResponse(contentType: contentType, body: try handler(desk, query, caller))
    }
  }

  /// Declares a route that returns the rows of a table in pages, with the query
  /// `?since=&until=&order=newest|oldest&limit=100&after=NUMBER`, or as CSV if the path ends in `.csv`. The desk does
  /// not take part, so a history can be read while the desk waits.
  ///
  /// - Parameter row: the type of the rows, whose table is declared in `tables` of `Keeps`.
  public static func history<Row: Settings>(
    _ path: String, scope: Scope = .read, of row: Row.Type, _ meaning: String
  ) -> SystemRoute {
    let isCSV = path.hasSuffix(".csv")
    return SystemRoute(
      method: .get, path: RoutePath(path, keys: []), scope: scope,
      description: RouteDescription(history: RowShape(row), meaning: meaning, isCSV: isCSV),
      source: .rows(ObjectIdentifier(row), isCSV: isCSV))
  }

  /// Declares routes with hand-written documents. The routes are used unchanged, with whole paths, and are described by
  /// the files of `HasDocuments`.
  ///
  /// - Parameter make: makes the routes; called once, before the first tick. The routes may use the desk on any thread.
  public static func own(_ make: @escaping @Sendable (_ desk: Desk) -> [Route]) -> SystemRoute {
    SystemRoute(
      method: .get, path: RoutePath("own", keys: []), scope: .read,
      description: RouteDescription(
        meaning: "", input: NoSettings.self, path: RoutePath("own", keys: []), hasBody: false, answers: .json(.null)),
      source: .own(make))
  }

  private init(method: RouteMethod, path: RoutePath, scope: Scope, description: RouteDescription, source: Source) {
    (self.method, self.path, self.scope, self.description) = (method, path, scope, description)
    self.source = source
  }
}

/// The HTTP method of a route.
enum RouteMethod: String, Sendable {
  case get, post, put, delete
}
