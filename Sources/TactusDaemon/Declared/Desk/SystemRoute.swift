import Service
import Wire

/// A route of a system's desk, below `/api/NAME`: its method, its path, what it takes and what it answers, of which its description in OpenAPI is
/// made. What comes from outside has passed the keys' ranges before a handler sees it: anything else is 422 with its field.
///
/// A handler is called on the desk's thread, with what was asked and the caller. It may throw an `APIError`, such as `.notFound("…")` or
/// `.conflict("BUSY", "…")`, which is the answer; a `StoreError` is 503.
public struct SystemRoute<Desk: SystemDesk>: Sendable {
  /// What is asked of the desk.
  typealias Handler = @Sendable (Desk, APIRequest) throws -> APIResponse

  enum Source: Sendable {
    case desk(Handler)
    /// The rows of a table, in pages or as CSV.
    case rows(ObjectIdentifier, isCSV: Bool)
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

  private static func json<Input: Settings, Result: Answers>(
    _ method: RouteMethod, _ path: String, _ scope: Scope, _: Input.Type, _: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (Desk, Input, Caller) throws -> Result
  ) -> SystemRoute {
    SystemRoute(method, path, scope, takes: Input.self, meaning, answers: .json(Result.schema)) { desk, input, caller in
      APIResponse(contentType: "application/json", body: try handler(desk, input, caller).document.bytes)
    }
  }

  /// A look.
  ///
  /// - Parameters:
  ///   - path: below the system's, without a slash before it; a parameter `{number}` is a key of `query`.
  ///   - query: its keys are parts of the query, in camel case, or of the path. One whose initial value its range does not have must be given.
  ///   - meaning: one sentence.
  public static func get<Query: Settings, Result: Answers>(
    _ path: String, scope: Scope = .read, query: Query.Type, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ query: Query, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    json(.get, path, scope, query, answers, meaning, handler)
  }

  /// A look that asks for nothing in particular: without a query.
  public static func get<Result: Answers>(
    _ path: String, scope: Scope = .read, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    get(path, scope: scope, query: NoSettings.self, answers: answers, meaning) { desk, _, caller in
      try handler(desk, caller)
    }
  }

  /// Something new, or something that is done.
  ///
  /// - Parameter body: its keys are members of a JSON object, in camel case, or parameters of the path. One whose initial value its range does
  ///   not have must be given; a member that it does not know is 422.
  public static func post<Body: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, body: Body.Type, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ body: Body, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    json(.post, path, scope, body, answers, meaning, handler)
  }

  /// Something that is to be so; `body` as of `post`.
  public static func put<Body: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, body: Body.Type, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ body: Body, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    json(.put, path, scope, body, answers, meaning, handler)
  }

  /// Something that goes; `query` as of `get`.
  public static func delete<Query: Settings, Result: Answers>(
    _ path: String, scope: Scope = .control, query: Query.Type, answers: Result.Type, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ query: Query, _ caller: Caller) throws -> Result
  ) -> SystemRoute {
    json(.delete, path, scope, query, answers, meaning, handler)
  }

  /// A look at bytes of another kind: a calendar, a picture; `query` as of `get`.
  ///
  /// - Parameter contentType: `text/calendar; charset=utf-8`.
  public static func raw<Query: Settings>(
    _ path: String, scope: Scope = .read, query: Query.Type, contentType: String, _ meaning: String,
    _ handler: @escaping @Sendable (_ desk: Desk, _ query: Query, _ caller: Caller) throws -> [UInt8]
  ) -> SystemRoute {
    SystemRoute(.get, path, scope, takes: query, meaning, answers: .bytes(contentType)) { desk, query, caller in
      APIResponse(contentType: contentType, body: try handler(desk, query, caller))
    }
  }

  /// The rows of a table in pages, `?since=&until=&order=newest|oldest&limit=100&after=NUMBER`, or as CSV where the path ends in `.csv`. The desk
  /// is not asked: a history may be read while it waits.
  ///
  /// - Parameter row: of a table in `tables` of `Keeps`.
  public static func history<Row: Settings>(
    _ path: String, scope: Scope = .read, of row: Row.Type, _ meaning: String
  ) -> SystemRoute {
    let isCSV = path.hasSuffix(".csv")
    return SystemRoute(
      method: .get, path: RoutePath(path, keys: []), scope: scope,
      description: RouteDescription(history: RowShape(row), meaning: meaning, isCSV: isCSV),
      source: .rows(ObjectIdentifier(row), isCSV: isCSV))
  }

  private init(method: RouteMethod, path: RoutePath, scope: Scope, description: RouteDescription, source: Source) {
    (self.method, self.path, self.scope, self.description) = (method, path, scope, description)
    self.source = source
  }
}

/// How a route is asked.
enum RouteMethod: String, Sendable {
  case get, post, put, delete
}
