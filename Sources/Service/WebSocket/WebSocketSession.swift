import Logging
import NIOCore
import NIOWebSocket
import Tactus

/// One WebSocket client: its frames in, events out, its end. All on its event loop.
final class WebSocketSession: ChannelInboundHandler {
  typealias InboundIn = WebSocketFrame
  typealias OutboundOut = ByteBuffer

  let caller: Caller
  let shared: ServiceChannel.Shared
  private let admission: WebSocketAdmission
  private let limits: WebSocketLimits
  private var machine: WebSocketMachine
  private var backlog: WebSocketBacklog
  private var context: ChannelHandlerContext?
  private var joined = false
  /// Events up to this number are part of the snapshot the client began with.
  private var firstNumber: UInt64 = 0
  var rates: [String: TelemetryRate] = [:]
  var actionsInProgress = 0
  private var pings: Scheduled<Void>?
  private var expiry: Scheduled<Void>?
  private var tokenCheck: Scheduled<Void>?

  init(_ admission: WebSocketAdmission, shared: ServiceChannel.Shared) {
    (self.admission, caller, self.shared, limits) = (admission, admission.caller, shared, shared.limits.webSocket)
    machine = WebSocketMachine(limits, at: .uptimeNanoseconds(0))
    backlog = WebSocketBacklog(limits)
  }

  // MARK: Beginning and end

  func handlerAdded(context: ChannelHandlerContext) {
    self.context = context
    machine = WebSocketMachine(limits, at: context.eventLoop.now)
    // Not every channel is a socket.
    context.channel.setOption(.socketOption(.so_sndbuf), value: .init(limits.socketBufferBytes)).whenFailure { _ in }
    shared.counters.clients.add(1)
    shared.counters.clientsOpen.add(1)
    joined = true
    firstNumber = shared.hub.join(self, on: context.eventLoop)
    schedulePing(context)
    awaitExpiry(context)
    scheduleTokenCheck(context)
    greet()
  }

  func handlerRemoved(context: ChannelHandlerContext) {
    leave()
    self.context = nil
  }

  func channelInactive(context: ChannelHandlerContext) {
    machine.disconnected()
    leave()
    context.fireChannelInactive()
  }

  /// What it was holding is let go, at once and once.
  private func leave() {
    pings?.cancel()
    expiry?.cancel()
    tokenCheck?.cancel()
    guard joined, let context else { return }
    joined = false
    shared.hub.leave(self, on: context.eventLoop)
    shared.counters.clientsOpen.subtract(1)
    for system in shared.systems { system.clientLeft(caller) }
  }

  private func awaitExpiry(_ context: ChannelHandlerContext) {
    guard let expires = caller.expires else { return }
    let left = expires - shared.secondsSince1970()
    guard left > 0 else { return carryOut(machine.close(.init(4001, "TOKEN_EXPIRED"))) }
    // The time of day may jump: it is looked at again every minute at least.
    expiry = context.eventLoop.assumeIsolated().scheduleTask(in: .seconds(min(left, 60))) {
      if self.machine.state == .open { self.awaitExpiry(context) }
    }
  }

  private func scheduleTokenCheck(_ context: ChannelHandlerContext) {
    guard caller.tokenID != nil else { return }
    tokenCheck = context.eventLoop.assumeIsolated().scheduleTask(in: limits.tokenCheckInterval) {
      self.tokenCheckDue(context)
    }
  }

  /// What a token has opened ends with it: it may have been revoked, or made anew for less.
  private func tokenCheckDue(_ context: ChannelHandlerContext) {
    guard machine.state == .open else { return }
    do throws(APIError) {
      guard try admission.admittedAgain(by: shared).scope == caller.scope else {
        return carryOut(machine.close(.init(4001, "TOKEN_CHANGED")))
      }
      scheduleTokenCheck(context)
    } catch {
      carryOut(machine.close(.init(4001, error.code)))
    }
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

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    carryOut(machine.frame(unwrapInboundIn(data), at: context.eventLoop.now))
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
    case .text(let text): heard(text)
    case .binary(let bytes): heard(bytes)
    case .pong(let bytes): send(webSocketFrame(.pong, bytes))
    case .close(let reason): close(reason)
    case .answerClose(let code):
      leave()
      sendLast(closeFrame(code, ""), waits: false)
    case .end: context?.close(promise: nil)
    }
  }

  // MARK: Out

  /// A batch of the hub's.
  func tell(_ batch: [NumberedEvent]) {
    guard machine.state == .open else { return }
    for event in batch where machine.state == .open {
      switch event.kind {
      case .telemetry:
        guard event.number >= firstNumber, rates[event.system]?.takes(event.at) == true else { continue }
        send(event.frame, telemetry: event.system)
      case .frame(let client):
        guard client == caller.client else { continue }
        send(event.frame, telemetry: "binary " + event.type)
      case .edge, .state:
        guard event.number > firstNumber else { continue }
        send(event.frame)
      }
      shared.counters.eventsSent.add(1)
    }
    context?.flush()
  }

  /// An event for this client alone: it has the number of the last event that went to all.
  func tell(_ event: Event) {
    send(NumberedEvent(event, number: max(shared.hub.number, firstNumber)).frame)
    context?.flush()
  }

  func send(_ frame: ByteBuffer, telemetry: String? = nil) {
    guard machine.state == .open, let context else { return }
    switch backlog.offer(frame, telemetry: telemetry, isWritable: context.channel.isWritable) {
    case .write:
      context.write(wrapOutboundOut(frame), promise: nil)
      if telemetry == nil { context.flush() }
    case .wait: break
    case .replaced: shared.counters.eventsCoalesced.add(1)
    case .tooSlow(let behind):
      shared.counters.clientsTooSlow.add(1)
      carryOut(machine.close(.init(1008, "too slow: \(behind) events behind")))
    }
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    while machine.state == .open, context.channel.isWritable, let frame = backlog.next() {
      context.writeAndFlush(wrapOutboundOut(frame), promise: nil)
    }
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

  /// - Parameter waits: for the client's close frame; without, the connection ends when this one is out. It ends in any case.
  private func sendLast(_ frame: ByteBuffer, waits: Bool) {
    backlog.clear()
    guard let context else { return }
    let box = NIOLoopBound(context, eventLoop: context.eventLoop)
    let sent = context.eventLoop.makePromise(of: Void.self)
    if !waits { sent.futureResult.whenComplete { _ in box.value.close(promise: nil) } }
    context.writeAndFlush(wrapOutboundOut(frame), promise: sent)
    context.eventLoop.scheduleTask(in: limits.closeTime) { box.value.close(promise: nil) }
  }

  /// A way back to the session for what is answered on another thread.
  func onLoop<Value: Sendable>(
    _ body: @escaping @Sendable (WebSocketSession, Value) -> Void
  ) -> @Sendable (Value) -> Void {
    guard let context else { return { _ in } }
    let (loop, box) = (context.eventLoop, NIOLoopBound(self, eventLoop: context.eventLoop))
    return { value in loop.execute { body(box.value, value) } }
  }
}
