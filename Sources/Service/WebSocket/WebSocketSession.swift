@_spi(FromOutside) import Conversions
import Logging
import NIOCore
import NIOWebSocket
import Tactus

/// One WebSocket client: decodes its messages, sends it events and ends its connection. It is to be used on its event loop only.
final class WebSocketSession: ChannelDuplexHandler, TurnTaker {
  typealias InboundIn = WebSocketFrame
  typealias OutboundIn = ByteBuffer
  typealias OutboundOut = ByteBuffer

  let caller: Caller
  let shared: ServiceChannel.Shared
  private let admission: LastingAdmission
  private let limits: WebSocketLimits
  private var machine: WebSocketMachine
  private var backlog: WebSocketBacklog
  /// The account of the bytes that wait for this client, in the backlog and in the channel.
  private var outgoing: OutgoingBudget.Account?
  private var outgoingBytes = 0
  private var context: ChannelHandlerContext?
  private var joined = false
  /// Whether the session waits for its turn to be sent new events. Only the hub uses this.
  var waitsForEvents = false
  /// The number of the last event that is part of the snapshot with which the client began.
  private var firstNumber: UInt64 = 0
  var rates: [String: TelemetryRate] = [:]
  /// The systems of which the client has had a complete state since it follows changes; `nil` if it does not.
  private var followed: Set<String>?
  var actionsInProgress = 0
  /// The frames that wait for turns, oldest first, each with the instant at which it was read.
  private var held = CircularBuffer<(frame: WebSocketFrame, read: TickInstant)>()
  private var waitsForTurn = false
  /// Whether the channel asked to read while frames were waiting.
  private var readWaits = false
  /// The amount of the present read that was taken at once.
  private var takenAtOnce = (frames: 0, bytes: 0)
  /// The instant at which the present frame was read from the socket.
  private var read = TickInstant.zero
  private var pings: Scheduled<Void>?
  private var watch: AdmissionWatch?
  /// The system's own WebSocket that the session serves, or `nil` for `/ws`.
  private let socket: SystemSocket?
  /// The system's own conversation with the client, or `nil` on `/ws`, before it begins and after it has ended.
  var talk: (any SocketTalk)?
  var talkBeat: Scheduled<Void>?

  init(_ admission: LastingAdmission, socket: SystemSocket? = nil, shared: ServiceChannel.Shared) {
    self.socket = socket
    (self.admission, caller, self.shared, limits) = (admission, admission.caller, shared, shared.limits.webSocket)
    machine = WebSocketMachine(limits, at: .uptimeNanoseconds(0))
    backlog = WebSocketBacklog(limits)
  }

  // MARK: Beginning and end

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    machine = WebSocketMachine(limits, at: context.eventLoop.now)
    // A channel that is not a socket has no such option.
    context.channel.setOption(.socketOption(.so_sndbuf), value: .init(limits.socketBufferBytes)).whenFailure { _ in }
    shared.counters.clients.add(1)
    shared.counters.clientsOpen.add(1)
    joined = true
    let end = onLoop { (session, _: Void) in session.endSlow() }
    outgoing = shared.outgoing.account { end(()) }
    firstNumber = shared.hub.join(self, on: context.eventLoop)
    schedulePing(context)
    watchToken(context)
    if let socket { begin(socket) } else { greet() }
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    held.removeAll()
    leave()
    backlog.clear()
    count(0)
    outgoing = nil
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    machine.disconnected()
    leave()
    context.fireChannelInactive()
  }

  /// Unsubscribes the client and lets the systems release whatever it was holding; only the first call has an effect.
  private func leave() {
    pings?.cancel()
    watch?.cancel()
    watch = nil
    talkBeat?.cancel()
    talk = nil
    guard joined, let context else { return }
    joined = false
    shared.hub.leave(self, on: context.eventLoop)
    if followed != nil { shared.hub.unfollow() }
    shared.counters.clientsOpen.subtract(1)
    for system in shared.systems { system.clientLeft(caller) }
  }

  /// Ends the connection when its token expires, is revoked or gets another scope.
  private func watchToken(_ context: ChannelHandlerContext) {
    let watch = AdmissionWatch(
      admission, shared.watching, on: context.eventLoop, while: { [weak self] in self?.machine.state == .open },
      ended: { [weak self] code in
        guard let self else { return }
        carryOut(machine.close(.init(4001, code)))
      })
    self.watch = watch
    watch.begin()
  }

  private func schedulePing(_ context: ChannelHandlerContext) {
    pings = context.eventLoop.assumeIsolated().scheduleTask(in: limits.pingInterval) { self.pingDue(context) }
  }

  private func pingDue(_ context: ChannelHandlerContext) {
    let action = machine.pingDue(at: context.eventLoop.now)
    if case .close = action { shared.counters.clientsSilent.add(1) }
    carryOut(action)
    guard machine.state == .open else { return }
    send(webSocketFrame(.ping, []))
    schedulePing(context)
  }

  // MARK: In

  /// The caller, with the instant at which the present frame was read.
  var arrivingCaller: Caller { caller.with(arrival: read) }

  // What a client sends in one packet is taken at once if it is little: a controller may send a frame for each of 32 legs. The rest waits for turns
  // (`PipelineTurns`), and the socket is not read meanwhile: a client that sends without a pause delays no other client's stop.
  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let frame = unwrapInboundIn(data)
    takenAtOnce.frames += 1
    takenAtOnce.bytes += frame.data.readableBytes
    guard held.isEmpty, takenAtOnce.frames <= limits.framesAtOnce, takenAtOnce.bytes <= limits.bytesAtOnce else {
      held.append((frame, shared.now()))
      return waitForTurn(context)
    }
    receive(frame, read: shared.now(), context)
  }

  func channelReadComplete(context: ChannelHandlerContext) {
    takenAtOnce = (0, 0)
    context.fireChannelReadComplete()
  }

  func read(context: ChannelHandlerContext) {
    if held.isEmpty { context.read() } else { readWaits = true }
  }

  private func receive(_ frame: WebSocketFrame, read: TickInstant, _ context: ChannelHandlerContext) {
    self.read = read
    carryOut(machine.frame(frame, at: context.eventLoop.now))
  }

  private func waitForTurn(_ context: ChannelHandlerContext) {
    guard !waitsForTurn else { return }
    waitsForTurn = true
    shared.turns.turns(of: context.eventLoop).add(self)
  }

  func takeTurn() {
    waitsForTurn = false
    guard let context, let (frame, read) = held.popFirst() else { return }
    receive(frame, read: read, context)
    if !held.isEmpty { return waitForTurn(context) }
    guard readWaits else { return }
    readWaits = false
    context.read()
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let reason = error as? WebSocketMachine.CloseReason {
      carryOut(machine.close(reason))
    } else if machine.state == .open {
      context.close(promise: nil)
    }
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent: carryOut(machine.close(.init(1001, "the daemon stops")))
    case ChannelEvent.inputClosed: context.close(promise: nil)
    default: context.fireUserInboundEventTriggered(event)
    }
  }

  private func carryOut(_ action: WebSocketMachine.Action) {
    switch action {
    case .nothing: break
    case .text(let text): if let talk { talk.receive(text) } else { heard(text) }
    case .binary(let bytes):
      if talk == nil { heard(bytes) } else { carryOut(machine.close(.init(1003, "expected text"))) }
    case .pong(let bytes): send(webSocketFrame(.pong, bytes))
    case .close(let reason): close(reason)
    case .answerClose(let code):
      leave()
      sendLast(closeFrame(code, ""), waits: false)
    case .end: context?.close(promise: nil)
    }
  }

  // MARK: Out

  /// Sends the events of some batches of the hub to this client, as far as it has subscribed to them.
  ///
  /// - Returns: whether any of them were for this client.
  func deliver(_ batches: some Sequence<[NumberedEvent]>) -> Bool {
    guard machine.state == .open, socket == nil else { return false }
    var count: UInt64 = 0
    for event in batches.joined() where machine.state == .open {
      switch event.kind {
      case .telemetry:
        guard event.number >= firstNumber, rates[event.system]?.takes(event.at) == true else { continue }
        offer(event.frame, telemetry: event.system)
      case .frame(let client):
        guard client == caller.client else { continue }
        offer(event.frame, telemetry: "binary " + event.type)
      case .edge, .state:
        guard event.number > firstNumber else { continue }
        offer(frame(of: event))
      }
      count += 1
    }
    guard count > 0 else { return false }
    shared.counters.eventsSent.add(count)
    // One system call sends all of them.
    context?.flush()
    countOutgoing()
    return true
  }

  /// Switches the client to changes: it gets the complete state of each system once, and then only the members that
  /// change.
  func followChanges() {
    guard joined, followed == nil else { return }
    followed = []
    shared.hub.follow()
  }

  private func frame(of event: NumberedEvent) -> ByteBuffer {
    guard followed != nil, let states = event.followed else { return event.frame }
    let isFirst = followed?.insert(event.system).inserted == true
    return isFirst ? states.whole : states.changes ?? states.whole
  }

  /// Sends an event to this client alone, with the number of the last event that went to all clients.
  func send(_ event: Event) {
    send(NumberedEvent(event, number: max(shared.hub.number, firstNumber)).frame)
  }

  var eventLoop: (any EventLoop)? { context?.eventLoop }

  /// Sends what `offer` has written.
  func flush() {
    context?.flush()
    countOutgoing()
  }

  /// Sends a frame at once.
  func send(_ frame: ByteBuffer) {
    offer(frame)
    context?.flush()
    countOutgoing()
  }

  /// Writes a frame, or queues it if the client reads too slowly. What was written is sent by the next `flush`.
  ///
  /// - Parameters: as those of `WebSocketBacklog.offer`.
  func offer(_ frame: ByteBuffer, telemetry: String? = nil, keeping: Int = 1) {
    guard machine.state == .open, let context else { return }
    switch backlog.offer(
      frame, telemetry: telemetry, keeping: keeping, isWritable: context.channel.isWritable)
    {
    case .write: context.write(wrapOutboundOut(frame), promise: nil)
    case .wait: break
    case .replaced: shared.counters.eventsCoalesced.add(1)
    case .tooSlow(let behind): endSlow("\(behind) events behind")
    }
  }

  /// Ends the connection of a client that does not read.
  private func endSlow(_ words: String = "too much waits for all clients, for this one the longest") {
    guard machine.state == .open else { return }
    shared.counters.clientsTooSlow.add(1)
    carryOut(machine.close(.init(1008, "too slow: \(words)")))
  }

  /// Counts the bytes that wait for this client. It must be called only after the written bytes have been flushed.
  private func countOutgoing() {
    guard let context, machine.state == .open else { return }
    // A channel that accepts more has hardly any bytes waiting.
    guard !context.channel.isWritable || outgoingBytes > 0 else { return }
    let isWritable = context.channel.isWritable
    let buffered = isWritable ? nil : try? context.channel.syncOptions?.getOption(.bufferedWritableBytes)
    count(backlog.byteCount + (buffered ?? 0))
  }

  private func count(_ bytes: Int) {
    guard bytes != outgoingBytes else { return }
    outgoingBytes = bytes
    outgoing?.set(bytes, at: shared.now())
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    while machine.state == .open, context.channel.isWritable, let frame = backlog.next() {
      context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
    countOutgoing()
    context.fireChannelWritabilityChanged()
  }

  private func close(_ reason: WebSocketMachine.CloseReason) {
    leave()
    if [1002, 1007, 1009].contains(reason.code) { shared.counters.clientsMalformed.add(1) }
    if reason.code != 1001 {
      shared.logger.info(
        "a WebSocket client was closed",
        metadata: [
          "caller": .string(caller.address), "client": .stringConvertible(caller.client),
          "code": .stringConvertible(reason.code), "reason": .string(reason.reason),
        ])
    }
    sendLast(closeFrame(reason.code, reason.reason), waits: true)
  }

  private func closeFrame(_ code: UInt16?, _ reason: String) -> ByteBuffer {
    guard let code else { return webSocketFrame(.connectionClose, []) }
    let bytes = [UInt8(clamping: code >> 8), UInt8(clamping: code & 0xFF)] + Array(reason.utf8.prefix(120))
    return webSocketFrame(.connectionClose, bytes)
  }

  /// Sends a close frame.
  ///
  /// - Parameter waits: whether the client's close frame is awaited. If not, the connection ends once the frame has
  ///   been sent. It ends after `closeTime` in any case.
  private func sendLast(_ frame: ByteBuffer, waits: Bool) {
    backlog.clear()
    guard let context else { return }
    let box = NIOLoopBound(context, eventLoop: context.eventLoop)
    let sent = context.eventLoop.makePromise(of: Void.self)
    if !waits { sent.futureResult.whenComplete { _ in box.value.close(promise: nil) } }
    context.writeAndFlush(wrapOutboundOut(frame), promise: sent)
    context.eventLoop.scheduleTask(in: limits.closeTime) { box.value.close(promise: nil) }
  }

  /// Returns a closure that passes a value from any thread to the session on its event loop.
  func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable (WebSocketSession, Value) -> Void
  ) -> @Sendable (Value) -> Void {
    guard let context else { return { _ in } }
    let (loop, box) = (context.eventLoop, NIOLoopBound(self, eventLoop: context.eventLoop))
    return { value in loop.execute { body(box.value, value) } }
  }
}
