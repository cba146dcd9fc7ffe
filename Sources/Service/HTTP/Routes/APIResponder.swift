import HTTPTypes
import Logging
import NIOCore
import Tactus

/// Answers requests according to the route table.
struct APIResponder: Sendable {
  let table: RouteTable
  let accessControl: AccessControl
  let crossOrigin: CrossOrigin
  let actions: ActionLog
  let logger: Logger
  /// The greatest length of a JSON body in bytes.
  let bodyLimit: Int
  /// The connection places of the server whose requests are answered.
  let places: ConnectionPlaces
  let bodies: BodyBudget
  let outgoing: OutgoingBudget
  let counters: ServiceCounters
  let watching: AdmissionWatching
  /// The turns of long answers, apart from those of requests.
  private let turns = TurnsOfLoops()

  /// Answers one request. Throws only if the connection ends.
  ///
  /// - Parameters:
  ///   - head: the request's head; `arriving` has its body.
  ///   - client: takes the answer's parts, and lets the caller wait while the client does not read.
  @Sendable
  func respond(
    to head: HTTPRequest, arriving: ArrivingRequests, client: NIOAsyncChannelOutboundWriter<ResponsePart>,
    channel: any Channel
  ) async throws {
    let body = RequestBodyReader(head: head, arriving: arriving, limit: bodyLimit)
    var answer: APIAnswer
    do {
      answer = try await self.answer(head, read: arriving.read, body: body, client: client, channel: channel)
    } catch let error as APIError {
      answer = APIAnswer(error.response)
    }
    // What may be compressed varies by the encodings, and by the origin.
    for field in crossOrigin.fields(for: head)
    where field.name == .vary || answer.head.headerFields[field.name] == nil {
      answer.head.headerFields.append(field)
    }
    let closes = !answer.bodyWasRead && !body.canSkip
    if closes { answer.head.headerFields[.connection] = "close" }
    if head.method == .head {
      try await client.write(contentsOf: [.head(answer.head), .end])
    } else if let pieces = answer.pieces {
      try await client.write(.head(answer.head))
      try await write(pieces, of: answer.admission, to: client, channel)
    } else {
      try await write(answer, to: client, channel)
    }
    if closes { closeGently(channel) }
  }

  /// Writes the pieces of an answer, and closes its connection if the token is revoked or expires meanwhile: a client then sees that the
  /// answer has not come to its end.
  private func write(
    _ pieces: @Sendable () async throws -> [UInt8]?, of admission: LastingAdmission?,
    to client: NIOAsyncChannelOutboundWriter<ResponsePart>, _ channel: any Channel
  ) async throws {
    let watch = admission.map { admission in
      AdmissionWatch(admission, watching, on: channel.eventLoop) { [logger] code in
        logger.info(
          "a stream was closed", metadata: ["caller": .string(admission.caller.address), "reason": .string(code)])
        channel.close(promise: nil)
      }
    }
    channel.eventLoop.execute { watch?.begin() }
    defer { channel.eventLoop.execute { watch?.cancel() } }
    // Pieces come from the store or from a camera, so some wait for a disk.
    while let piece = try await withTaskExecutorPreference(DiskThreads.looks, operation: pieces) {
      try await client.write(.body(ByteBuffer(bytes: piece)))
    }
    try await client.write(.end)
  }

  /// Writes a whole answer, in pieces if it is long. After every few pieces it waits for a turn, so that the event loop
  /// polls its sockets in between. The rest of a long answer counts as waiting for the client, unless other clients
  /// share its bytes.
  private func write(
    _ answer: APIAnswer, to client: NIOAsyncChannelOutboundWriter<ResponsePart>, _ channel: any Channel
  ) async throws {
    var body = AnswerBody(answer.body)
    let isCounted = !answer.isShared && body.count > APIAnswer.pieceBytes
    let waiting: OutgoingBudget.Account? =
      !isCounted
      ? nil
      : outgoing.account { [counters] in
        counters.connectionsTooSlow.add(1)
        channel.close(promise: nil)
      }
    defer { waiting?.set(0, at: MonotonicClock.now) }
    var parts: [ResponsePart] = [.head(answer.head)]
    while let piece = body.next() {
      parts.append(.body(piece.bytes))
      guard body.count > 0 else { break }
      waiting?.set(body.count, at: MonotonicClock.now)
      try await client.write(contentsOf: parts)
      parts = []
      if piece.endsTurn { await turns.wait(on: channel.eventLoop) }
    }
    try await client.write(contentsOf: parts + [.end])
  }

  private func answer(
    _ head: HTTPRequest, read: TickInstant, body: RequestBodyReader,
    client: NIOAsyncChannelOutboundWriter<ResponsePart>,
    channel: any Channel
  ) async throws -> APIAnswer {
    let peer = channel.peerAddress
    let target = try RequestTarget(head.path ?? "")
    guard let place = table.place(target.segments) else {
      // The answer is the same for every client: Host and Origin are checked, but no token is needed.
      _ = try admit(head, nil, channel)
      throw APIError.notFound("no such route; GET /api/openapi.json lists them")
    }
    guard let route = place.route(head.method) else {
      _ = try admit(head, nil, channel)
      if head.method == .options, let response = crossOrigin.preflight(head, allow: place.allow) {
        return APIAnswer(response)
      }
      throw APIError(
        .methodNotAllowed, "METHOD_NOT_ALLOWED", "expected \(place.allow)", headers: [.allow: place.allow])
    }
    let caller: Caller
    do {
      caller = try admit(head, route.scope, channel, stops: route.makesSafe).with(arrival: read)
    } catch {
      note(route, Caller(scope: .read, tokenID: nil, address: peer, client: 0), result: error.code)
      throw error
    }
    switch route.handling {
    case .prepared(let document):
      return document.answer(to: head.headerFields)
    case .handler(let handle):
      if body.isAwaited(fileLimit: route.fileLimit) {
        try await client.write(.head(HTTPResponse(status: .continue)))
      }
      let bytes: [UInt8]
      var taken = 0
      defer { bodies.giveBack(taken) }
      do {
        bytes =
          head.method == .get || head.method == .head
          ? [] : try await body.read(for: route, of: bodies, taken: &taken)
      } catch let error as APIError {
        note(route, caller, result: error.code)
        throw error
      }
      let admission = LastingAdmission(
        caller: caller, request: head, certificate: places.certificate(of: channel), scope: route.scope)
      var asked = APIRequest(caller: caller, parameters: place.parameters, query: target.query, body: bytes)
      asked.takesGzip = PreparedFile.takesGzip(head.headerFields.acceptedEncodings)
      asked.beginWatch = { [watching, loop = channel.eventLoop] isNeeded, ended in
        let watch = AdmissionWatch(admission, watching, on: loop, while: isNeeded, ended: ended)
        loop.execute { watch.begin() }
      }
      var answer = await run(route, handle, asked)
      answer.admission = admission
      answer.bodyWasRead = head.method != .get && head.method != .head
      return answer
    }
  }

  private func admit(
    _ head: HTTPRequest, _ scope: Scope?, _ channel: any Channel, stops: Bool = false
  ) throws(APIError) -> Caller {
    try places.admit(channel, stops: stops) { certificate throws(APIError) in
      try accessControl.admit(head, peer: channel.peerAddress, certificate: certificate, scope: scope)
    }
  }

  /// Returns a handler's answer or error, and writes a log line for every action.
  private func run(
    _ route: Route, _ handle: @escaping @Sendable (APIRequest) async throws -> APIResponse, _ request: APIRequest
  ) async -> APIAnswer {
    do {
      let made = try await route.answer(handle, request)
      note(
        route, request.caller, value: made.response.logValue, fields: fields(route, request, made.response),
        result: "ok")
      return request.takesGzip ? made.short : made.answer
    } catch {
      let refusal = error as? APIError ?? internalError(error, of: route)
      note(route, request.caller, fields: fields(route, request), result: refusal.code)
      return APIAnswer(refusal.response)
    }
  }

  private func note(
    _ route: Route, _ caller: Caller, value: String? = nil, fields: [String: String] = [:], result: String
  ) {
    guard let action = route.action else { return }
    actions.note(
      action, value: value, fields: fields, address: caller.address, tokenID: caller.tokenID, result: result)
  }

  private func fields(_ route: Route, _ request: APIRequest, _ response: APIResponse? = nil) -> [String: String] {
    route.logFields(of: request.parameters).merging(response?.logFields ?? [:]) { $1 }
  }

  /// Returns a 500 for the client. The reason of the error is logged, not sent.
  private func internalError(_ error: any Error, of route: Route) -> APIError {
    logger.error(
      "a request failed", metadata: ["route": .string("\(route.method) \(route.path)"), "reason": .string("\(error)")])
    return APIError(.internalServerError, "INTERNAL", "the daemon could not answer; its log says why")
  }

  /// Closes a connection so that the client can still read the answer; closing it with unread bytes would reset it.
  private func closeGently(_ channel: any Channel) {
    channel.close(mode: .output, promise: nil)
    channel.eventLoop.scheduleTask(in: .seconds(1)) { channel.close(promise: nil) }
  }
}
