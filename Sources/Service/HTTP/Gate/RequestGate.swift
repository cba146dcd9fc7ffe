import HTTPTypes
import NIOCore
import NIOHTTP1
import NIOWebSocket
import Tactus

/// Stands between the HTTP decoder and the responder. It answers requests for prepared documents at once, turns `/ws`
/// and the paths of systems' own sockets into a WebSocket, passes all other requests to the responder, and enforces limits, timeouts, the order of answers
/// and the end of the connection.
///
/// The responder's side of the pipeline is made when the first request needs it.
final class RequestGate: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = HTTPServerRequestPart
  typealias InboundOut = RequestPart
  typealias OutboundIn = ResponsePart
  typealias OutboundOut = HTTPServerResponsePart

  /// The way in which the parts of the present request are handled.
  private enum Route {
    case skip
    case respond
    case upgrade(WebSocketRequest, LastingAdmission)
    /// The decoder and the gate are about to leave the pipeline; the arrival handler keeps the bytes that arrive.
    case upgrading
  }

  /// The input that the gate can accept now.
  enum Appetite {
    /// The gate accepts a request, or more of the body of the present one.
    case request
    /// The gate accepts no input until answers have been given or read.
    case wait
    /// The gate accepts no more input, and further bytes are discarded.
    case nothing
  }

  let shared: ServiceChannel.Shared
  private let address: String
  private let encoder: HTTPResponseEncoder
  private let outcome: EventLoopPromise<ServiceChannel.Outcome>
  var machine: ConnectionMachine
  private var admission = RecentAdmission()
  private var route = Route.skip
  private var outcomeKnown = false
  /// Whether a request of HTTP/1.0 has arrived. All later answers use what HTTP/1.0 understands; an answer still
  /// outstanding for an earlier HTTP/1.1 request is sent as before.
  private var speaksOld = false
  /// The number of request heads accepted so far.
  private(set) var requests: UInt64 = 0
  /// The number of refusals that are sent without a delay to a connection that has shown no token.
  static let refusalsAtOnce = 8
  private var refusals = 0
  /// Whether the connection has one of the last descriptors and therefore serves one request only.
  private(set) var isForOneRequest = false
  /// The instant at which the first byte of the request being read was read from the socket.
  private var headRead = TickInstant.zero
  /// The instant at which the bytes that are being decoded were read from the socket.
  private var pieceRead = TickInstant.zero
  /// Whether written bytes wait to be flushed.
  var wrote = false
  /// The handler that passes on arriving bytes, or `nil` after it has left the pipeline.
  weak var arrival: ArrivalHandler?
  private var belowEncoder: ChannelHandlerContext?
  var timer: Scheduled<Void>?
  var timerDeadline = NIODeadline.distantFuture

  init(
    shared: ServiceChannel.Shared, address: String, encoder: HTTPResponseEncoder,
    outcome: EventLoopPromise<ServiceChannel.Outcome>, now: NIODeadline
  ) {
    (self.shared, self.address, self.encoder, self.outcome) = (shared, address, encoder, outcome)
    machine = ConnectionMachine(shared.limits, at: now)
  }

  func handlerAdded(context: ChannelHandlerContext) {
    belowEncoder = try? context.pipeline.syncOperations.context(handler: encoder)
    schedule(context, at: context.eventLoop.now + shared.limits.strangerIdleTime)
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    timer?.cancel()
    belowEncoder = nil
    complete(.nothing)
  }

  func channelInactive(context: ChannelHandlerContext) {
    complete(.nothing)
    context.fireChannelInactive()
  }

  private func complete(_ value: ServiceChannel.Outcome) {
    guard !outcomeKnown else { return }
    outcomeKnown = true
    outcome.succeed(value)
  }

  // MARK: Requests

  /// Returns the input that the gate can accept now. When it can accept more, the gate calls `ArrivalHandler.goOn`.
  func appetite(_ channel: any Channel) -> Appetite {
    if machine.isOver || machine.reading == .nothing { return .nothing }
    return channel.isWritable && machine.mayTakeMore ? .request : .wait
  }

  /// Returns whether arriving requests must wait for turns, because no request of the connection was ever admitted and many were refused. Otherwise
  /// hundreds of connections whose requests are refused in each round of the event loop would delay the stops of all clients.
  func mustWait(_ channel: any Channel) -> Bool {
    refusals >= Self.refusalsAtOnce && machine.reading != .nothing && !shared.places.isKnown(channel)
  }

  /// Whether more of the body of the request that was accepted last may come.
  var isInBody: Bool { if case .body = machine.reading { true } else { false } }

  /// Notes that bytes are about to be decoded, which were read from the socket at `read`.
  func bytesArrive(at now: NIODeadline, read: TickInstant) {
    pieceRead = read
    if machine.reading == .head(since: nil) { headRead = read }
    machine.bytesArrived(at: now)
  }

  /// Notes that bytes have been decoded, and starts the timer of a request head that is still incomplete.
  func bytesDecoded(_ context: ChannelHandlerContext) {
    guard case .head(let since?) = machine.reading else { return }
    if since + shared.limits.headTime < timerDeadline { schedule(context, at: since + shared.limits.headTime) }
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    // The decoder stops behind a request to upgrade, unless it reads the fields differently from `WebSocketRequest`.
    if isUpgrading { return context.close(promise: nil) }
    switch unwrapInboundIn(data) {
    case .head(let head):
      guard machine.reading != .nothing else { return }
      headArrived(head, context)
    case .body(let bytes):
      guard case .body = machine.reading, case .respond = route else { return }
      context.fireChannelRead(wrapInboundOut(.body(bytes)))
    case .end:
      guard case .body = machine.reading else { return }
      machine.endArrived()
      // The bytes behind this request are the beginning of the next one.
      headRead = pieceRead
      switch route {
      case .respond:
        context.fireChannelRead(wrapInboundOut(.end))
      case .upgrade(let request, let admission): upgrade(request, admission, context)
      case .skip, .upgrading: break
      }
    }
  }

  private func headArrived(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) {
    requests &+= 1
    let asksUpgrade = head.headers.contains(name: "upgrade")
    isForOneRequest = shared.places.headArrived(context.channel)
    let isLast = !head.isKeepAlive || asksUpgrade || head.method == .CONNECT || isForOneRequest
    machine.headArrived(keepsAlive: !isLast, at: context.eventLoop.now)
    if head.version == .http1_0 { speaksOld = true }
    route = .skip
    do throws(APIError) {
      try head.checkHost()
      try RequestTarget.checkLength(head.uri)
      let path = head.uri.prefix { $0 != "?" }
      if path == "/ws" { return try webSocketAsked(head, nil, context) }
      if let own = shared.sockets.first(where: { $0.path == path }) { return try webSocketAsked(head, own, context) }
      if machine.mayAnswer, try answerPrepared(head, context) { return }
      try handOver(head, context)
    } catch {
      answer(error, isHead: head.method == .HEAD, context)
    }
  }

  /// Answers a request from a prepared document. Returns `false` if the route has none, or if only the responder can answer this request.
  private func answerPrepared(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) throws(APIError) -> Bool {
    guard head.method == .GET || head.method == .HEAD, let entry = shared.prepared.entry(head.uri) else { return false }
    // A body must be read first, and another origin's page gets CORS headers: the responder does both.
    for name in ["content-length", "transfer-encoding", "origin"] where head.headers.contains(name: name) {
      return false
    }
    let now = context.eventLoop.now
    try admission.check(head, at: now, on: context.channel, with: shared, peer: address, scope: entry.scope)
    let answer = entry.answer(to: head.headers)
    // Each connection has its own copy of encrypted bytes, so the responder writes them in pieces.
    if shared.isSecure, answer.body.readableBytes > APIAnswer.pieceBytes { return false }
    let field: ConnectionField =
      machine.isLastRequest ? .close : head.version == .http1_0 ? .keepAlive : .unsaid
    for bytes in answer.bytes(
      isHead: head.method == .HEAD, connection: field, allocator: context.channel.allocator)
    { writeRaw(bytes) }
    shared.counters.prepared.add(1)
    shared.counters.countAnswer(answer.status.code)
    shared.places.answered(context.channel)
    if machine.answered(at: now) { linger(context) }
    return true
  }

  private func handOver(_ head: HTTPRequestHead, _ context: ChannelHandlerContext) throws(APIError) {
    let request = try head.request(isSecure: shared.isSecure)
    if !outcomeKnown {
      do {
        complete(
          .responder(
            try NIOAsyncChannel(
              wrappingChannelSynchronously: context.channel, configuration: .init(isOutboundHalfClosureEnabled: true))))
      } catch {
        context.close(promise: nil)
        return
      }
    }
    route = .respond
    machine.handedOver(isHead: head.method == .HEAD)
    context.fireChannelRead(wrapInboundOut(.head(request, read: headRead)))
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    flush()
    context.fireChannelReadComplete()
    if machine.isOver { context.read() }
  }

  // MARK: WebSocket

  private func webSocketAsked(
    _ head: HTTPRequestHead, _ socket: SystemSocket?, _ context: ChannelHandlerContext
  ) throws(APIError) {
    let asked = try WebSocketRequest(head, of: socket)
    guard machine.mayAnswer else {
      throw APIError(.badRequest, "BAD_REQUEST", "a WebSocket is asked for behind requests that are not answered yet")
    }
    let request = try head.request(isSecure: shared.isSecure)
    let (shared, address) = (shared, address)
    let certificate = shared.places.certificate(of: context.channel)
    let caller = try shared.places.admit(context.channel) { certificate throws(APIError) in
      try shared.admit(request, address, certificate, .read)
    }
    try shared.places.requireLasting(context.channel)
    route = .upgrade(
      asked,
      .init(
        caller: caller.webSocket(number: shared.numbers.next()), request: request, certificate: certificate,
        keepsScope: true))
  }

  var isUpgrading: Bool { if case .upgrading = route { true } else { false } }

  private func upgrade(
    _ request: WebSocketRequest, _ admission: LastingAdmission, _ context: ChannelHandlerContext
  ) {
    let pipeline = context.pipeline.syncOperations
    guard let arrival = try? pipeline.handler(type: ArrivalHandler.self) else { return context.close(promise: nil) }
    route = .upgrading
    arrival.hold()
    timer?.cancel()
    timerDeadline = .distantFuture
    let box = NIOLoopBound((context, arrival), eventLoop: context.eventLoop)
    request.answer(context.channel).assumeIsolated().whenComplete { answer in
      let context = box.value.0
      guard case .success(let headers) = answer,
        let decoder = try? context.pipeline.syncOperations.context(name: ServiceChannel.decoderName)
      else {
        return context.close(promise: nil)
      }
      context.writeAndFlush(
        self.wrapOutboundOut(.head(HTTPResponseHead(version: .http1_1, status: .switchingProtocols, headers: headers))),
        promise: nil)
      // The decoder leaves once it has returned to its own loop, and passes on the bytes that it had read beyond the request.
      context.pipeline.syncOperations.removeHandler(context: decoder).assumeIsolated().whenComplete { _ in
        self.upgraded(admission, request.socket, box.value.0, box.value.1)
      }
    }
  }

  /// Exchanges the handlers: all further bytes belong to the WebSocket, so the gate is removed before any arrive.
  private func upgraded(
    _ admission: LastingAdmission, _ socket: SystemSocket?, _ context: ChannelHandlerContext,
    _ arrival: ArrivalHandler
  ) {
    let channel = context.channel
    guard channel.isActive else { return }
    let pipeline = channel.pipeline.syncOperations
    pipeline.removeHandler(encoder, promise: nil)
    pipeline.removeHandler(context: context, promise: nil)
    let decoder = ByteToMessageHandler(WebSocketDecoder(shared.limits.webSocket))
    do {
      let session = WebSocketSession(admission, socket: socket, shared: shared)
      try pipeline.addHandlers([decoder, session], position: .after(arrival))
    } catch {
      return channel.close(promise: nil)
    }
    arrival.release()
  }

  // MARK: Answers

  func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
    guard !machine.isOver else {
      promise?.fail(ChannelError.ioOnClosedChannel)
      return
    }
    switch unwrapOutboundIn(data) {
    case .head(let response):
      // HTTP/1.0 knows no interim answers (RFC 9110 §15.2).
      if response.status.kind == .informational, speaksOld {
        promise?.succeed()
        return
      }
      if response.status.kind != .informational {
        machine.answerBegan()
        shared.counters.countAnswer(response.status.code)
        if response.status.kind == .clientError { refusals += 1 }
      }
      context.write(wrapOutboundOut(.head(head(of: response))), promise: promise)
    case .body(let bytes):
      guard !machine.answersHead else {
        promise?.succeed()
        return
      }
      context.write(wrapOutboundOut(.body(.byteBuffer(bytes))), promise: promise)
    case .end:
      if machine.answersHead {
        context.flush()
        promise?.succeed()
      } else {
        context.write(wrapOutboundOut(.end(nil)), promise: promise)
      }
      shared.places.answered(context.channel)
      switch machine.answerEnded(at: context.eventLoop.now) {
      case .carryOn: arrival?.goOn()
      case .refuse(let error): refuse(now: error, context)
      case .close:
        context.flush()
        linger(context)
      }
    }
  }

  private func head(of response: HTTPResponse) -> HTTPResponseHead {
    var head = HTTPResponseHead(response)
    for (name, value) in answerHeaders where !head.headers.contains(name: name) {
      head.headers.add(name: name, value: value)
    }
    if response.status.kind == .informational { return head }
    if let date = HTTPDate.now { head.headers.replaceOrAdd(name: "date", value: date) }
    if head.headers[canonicalForm: "connection"].contains("close") { machine.answersLast() }
    if speaksOld, head.status.mayHaveResponseBody, !head.headers.contains(name: "content-length") {
      // HTTP/1.0 knows no chunks (RFC 9112 §6.1), and a head of its version gets none: the connection's end is the body's.
      head.version = .http1_0
      machine.answersLast()
    }
    head.headers.remove(name: "connection")
    if machine.isLastAnswer {
      head.headers.add(name: "connection", value: "close")
    } else if speaksOld {
      head.headers.add(name: "connection", value: "keep-alive")
    }
    return head
  }

  private func writeRaw(_ bytes: ByteBuffer) {
    guard let belowEncoder, !machine.isOver else { return }
    belowEncoder.write(NIOAny(IOData.byteBuffer(bytes)), promise: nil)
    wrote = true
  }

  /// Flushes the answers written by the gate to the socket.
  func flush() {
    guard wrote else { return }
    wrote = false
    belowEncoder?.flush()
  }

  // MARK: Refusals

  /// Answers a request with an error before it reaches the responder; the connection may go on if the request was complete.
  private func answer(_ error: APIError, isHead: Bool, _ context: ChannelHandlerContext) {
    guard machine.mayAnswer else { return refuse(error, context) }
    refusals += 1
    shared.counters.countAnswer(error.status.code)
    writeRaw(
      error.answer(
        isHead: isHead, connection: machine.isLastRequest ? .close : .unsaid, allocator: context.channel.allocator))
    shared.places.answered(context.channel)
    if machine.answered(at: context.eventLoop.now) { linger(context) }
  }

  /// Ends the connection with an error, which is sent in the order of the requests.
  func refuse(_ error: APIError, _ context: ChannelHandlerContext) {
    guard !machine.isOver else { return }
    switch machine.refuse(error) {
    case .now: refuse(now: error, context)
    case .later: break
    case .close: context.close(promise: nil)
    }
  }

  private func refuse(now error: APIError, _ context: ChannelHandlerContext) {
    shared.counters.countAnswer(error.status.code)
    writeRaw(error.answer(isHead: false, connection: .close, allocator: context.channel.allocator))
    linger(context)
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    guard let error = error as? HTTPParserError else {
      if !machine.isOver { context.close(promise: nil) }
      return
    }
    // Bytes behind the last request are discarded, and the decoder reports them as an error.
    guard !machine.isOver, machine.reading != .nothing else { return }
    shared.counters.malformed.add(1)
    refuse(APIError(error, shared.limits), context)
  }
}
