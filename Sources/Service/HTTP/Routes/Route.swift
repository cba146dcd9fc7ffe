import HTTPTypes

/// One route of the API. The table of all routes is what the server answers, what 405 knows, and what the OpenAPI document is
/// checked against.
public struct Route: Sendable {
  /// How a request is answered.
  public enum Handling: Sendable {
    /// Bytes that are ready before anyone asks: answered on the event loop, without a task.
    case prepared(PreparedDocument)
    /// Called in a task for each request that has been let in. An `APIError` is the answer; any other error is logged
    /// and answered with 500 `INTERNAL`.
    case handler(@Sendable (APIRequest) async throws -> APIResponse)
  }

  /// Never HEAD or OPTIONS: the server answers HEAD by the route of GET, and OPTIONS itself.
  public let method: HTTPRequest.Method
  /// `/api/sim/bus/{name}`: a parameter is a whole segment.
  public let path: String
  /// What the caller's token must allow, or `nil` if no token is needed.
  public let scope: Scope?
  /// The action that the log names, a line for each request, such as `robot.drive`, or `nil` if the route changes nothing.
  public let action: String?
  /// Where the answer comes from: bytes kept ready, or a handler.
  public let handling: Handling
  /// Greatest number of bytes of a route that takes a file of any content type, or `nil` if it takes JSON, within the service's limit.
  public var fileLimit: Int?
  /// Parameters of the path that the action's log line has as members of their own, refused or not, with their names there.
  public var loggedParameters: [String: String] = [:]
  /// Whether the handler may wait for a disk, and is carried out on threads of its own.
  public var waitsForDisk = false

  /// A look at a document that is kept ready.
  public init(_ path: String, scope: Scope? = .read, _ document: PreparedDocument) {
    (method, self.path, self.scope, action) = (.get, path, scope, nil)
    handling = .prepared(document)
  }

  /// A route whose handler makes each answer.
  ///
  /// - Parameters:
  ///   - path: its parameters are whole segments in braces: `/api/sim/bus/{name}`.
  ///   - scope: what the caller's token must allow, or `nil` if anyone may ask.
  ///   - action: the name in the log line of each request, or `nil` if the route changes nothing.
  public init(
    _ method: HTTPRequest.Method, _ path: String, scope: Scope? = .read, action: String? = nil,
    _ handler: @escaping @Sendable (APIRequest) async throws -> APIResponse
  ) {
    (self.method, self.path, self.scope, self.action) = (method, path, scope, action)
    handling = .handler(handler)
  }

  /// Of an action's log line, from the path; no longer than a number or a name is.
  func logFields(of parameters: [String: String]) -> [String: String] {
    var fields: [String: String] = [:]
    for (parameter, name) in loggedParameters { fields[name] = parameters[parameter].map { String($0.prefix(20)) } }
    return fields
  }
}

extension Route {
  /// The same, with a handler that may wait for a disk.
  public func waitingForDisk() -> Route {
    var route = self
    route.waitsForDisk = true
    return route
  }

  /// The same, with a handler that is asked only if `check` lets it.
  public func requiring(_ check: @escaping @Sendable () throws(APIError) -> Void) -> Route {
    guard case .handler(let handle) = handling else { preconditionFailure("a prepared document has no handler") }
    var route = Route(method, path, scope: scope, action: action) { request in
      try check()
      return try await handle(request)
    }
    (route.fileLimit, route.loggedParameters, route.waitsForDisk) = (fileLimit, loggedParameters, waitsForDisk)
    return route
  }

  /// Carries out the handler, which is this route's.
  func run(
    _ handle: @Sendable (APIRequest) async throws -> APIResponse, _ request: APIRequest
  ) async throws -> APIResponse {
    guard waitsForDisk else { return try await handle(request) }
    return try await withTaskExecutorPreference(DiskThreads.shared) { try await handle(request) }
  }
}
