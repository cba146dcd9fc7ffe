import HTTPTypes
public import Tactus

/// One route of the API. The table of all routes determines which requests the server answers and which methods a 405
/// names, and the OpenAPI document is checked against it.
public struct Route: Sendable {
  /// The way in which a request is answered.
  public enum Handling: Sendable {
    /// The answer is a prepared document, which is sent on the event loop without a task.
    case prepared(PreparedDocument)
    /// The answer is made by a handler, which is called in a task for each admitted request. An `APIError` that it
    /// throws is the answer; any other error is logged and answered with 500 `INTERNAL`.
    case handler(@Sendable (APIRequest) async throws -> APIResponse)
  }

  /// The method of the route, never HEAD or OPTIONS: the server answers HEAD from the route of GET, and OPTIONS itself.
  public let method: HTTPRequest.Method
  /// The path. A parameter is a whole segment: `/api/sim/bus/{name}`.
  public let path: String
  /// The scope that the caller's token must have, or `nil` if no token is needed.
  public let scope: Scope?
  /// The action named in the log line of each request, such as `robot.drive`, or `nil` if the route changes nothing and is not logged.
  public let action: String?
  /// The source of the answer: a prepared document or a handler.
  public let handling: Handling
  /// The greatest length of the body in bytes for a route that accepts a file of any content type, or `nil` if the
  /// route accepts JSON within the service's limit.
  public var fileLimit: Int?
  /// The content type that the file must have, such as `application/sdp`, or `nil` if it may have any.
  public var fileType: String?
  /// The path parameters that are members of the action's log line, whether the action succeeds or not, with the names of the members.
  public var loggedParameters: [String: String] = [:]
  /// Whether the handler may wait for a disk and is therefore run on `DiskThreads`.
  public var waitsForDisk = false
  /// Whether the handler changes nothing, as that of every GET. It then waits behind handlers that change something.
  public private(set) var onlyLooks: Bool
  /// The time that a handler which waits for a disk may take before its client is answered without its result.
  private(set) var diskPatience = DiskThreads.patience
  /// Whether each request can only make a system safer. Its handler is called on the event loop that has read it, and waits for no thread; it
  /// must not block, nor take long.
  public private(set) var makesSafe = false
  /// The maker of the answers that all requests share, or `nil` if the answer depends on the request.
  private(set) var common: CommonAnswer?

  /// Makes a GET route that answers from a prepared document.
  public init(_ path: String, scope: Scope? = .read, _ document: PreparedDocument) {
    (method, self.path, self.scope, action) = (.get, path, scope, nil)
    (handling, onlyLooks) = (.prepared(document), true)
  }

  /// Makes a route whose answers are made by a handler.
  ///
  /// - Parameters:
  ///   - path: its parameters are whole segments in braces: `/api/sim/bus/{name}`.
  ///   - scope: the scope that the caller's token must have, or `nil` if no token is needed.
  ///   - action: the action named in the log line of each request, or `nil` if the route changes nothing.
  public init(
    _ method: HTTPRequest.Method, _ path: String, scope: Scope? = .read, action: String? = nil,
    _ handler: @escaping @Sendable (APIRequest) async throws -> APIResponse
  ) {
    (self.method, self.path, self.scope, self.action) = (method, path, scope, action)
    (handling, onlyLooks) = (.handler(handler), method == .get)
  }

  /// Returns the members that the path adds to an action's log line, each cut to 20 characters.
  func logFields(of parameters: [String: String]) -> [String: String] {
    var fields: [String: String] = [:]
    for (parameter, name) in loggedParameters { fields[name] = parameters[parameter].map { String($0.prefix(20)) } }
    return fields
  }
}

extension Route {
  /// Returns the same route with a handler that may wait for a disk, and is not waited for longer than a limit.
  public func waitingForDisk(longest: Nanoseconds = DiskThreads.patience) -> Route {
    var route = self
    (route.waitsForDisk, route.diskPatience) = (true, longest)
    return route
  }

  /// Returns the same route with a handler that changes nothing, though its method is another than GET.
  public func onlyLooking() -> Route {
    var route = self
    route.onlyLooks = true
    return route
  }

  /// Returns the same route, each request of which can only make a system safer.
  public func makingSafe(_ makesSafe: Bool = true) -> Route {
    var route = self
    route.makesSafe = makesSafe
    return route
  }

  /// Returns the same route, whose answers do not depend on the request: one is made for all that wait, and its bytes are shared. It suits long
  /// answers of handlers that change nothing.
  public func answeringAllAlike() -> Route {
    precondition(method == .get, "what changes something is done for each request")
    var route = self
    route.common = CommonAnswer()
    return route
  }

  /// Returns the same route with a handler that is called only if `check` does not throw.
  public func requiring(_ check: @escaping @Sendable () throws(APIError) -> Void) -> Route {
    guard case .handler(let handle) = handling else { preconditionFailure("a prepared document has no handler") }
    var route = Route(method, path, scope: scope, action: action) { request in
      try check()
      return try await handle(request)
    }
    (route.fileLimit, route.fileType) = (fileLimit, fileType)
    (route.loggedParameters, route.waitsForDisk, route.makesSafe) = (loggedParameters, waitsForDisk, makesSafe)
    (route.diskPatience, route.onlyLooks, route.common) = (diskPatience, onlyLooks, common)
    return route
  }

  /// The threads on which the handler waits for a disk, or `nil` if it does not wait for one.
  var diskThreads: DiskThreads? { waitsForDisk ? onlyLooks ? .looks : .shared : nil }

  /// Runs this route's handler, and returns its answer, whose bytes are made by the handler's thread, so that the event loop copies none of a long
  /// answer.
  func answer(
    _ handle: @escaping @Sendable (APIRequest) async throws -> APIResponse, _ request: APIRequest
  ) async throws -> MadeAnswer {
    // Only answers to GET are compressed. The answer to a command may contain a secret that was made for it, such as a
    // new token, and the length of a compressed answer would reveal something about it.
    let varies = method == .get
    let compresses = varies && (common != nil || request.takesGzip)
    let make: @Sendable () async throws -> MadeAnswer = {
      try await self.run({ try await MadeAnswer(handle($0), varies: varies, compresses: compresses) }, request)
    }
    guard let common else { return try await make() }
    return try await common.answer(make)
  }

  /// Runs this route's handler, and returns its response. A request that makes a system safer waits for no thread, and one that changes nothing has
  /// threads of its own with a lower priority: neither delays a command.
  func run<Response: Sendable>(
    _ handle: @escaping @Sendable (APIRequest) async throws -> Response, _ request: APIRequest
  ) async throws -> Response {
    if makesSafe { return try await handle(request) }
    if let diskThreads { return try await diskThreads.run(longest: diskPatience) { try await handle(request) } }
    if onlyLooks {
      return try await withTaskExecutorPreference(LookThreads.shared) { try await handle(request) }
    }
    return try await withTaskExecutorPreference(globalConcurrentExecutor) { try await handle(request) }
  }
}
