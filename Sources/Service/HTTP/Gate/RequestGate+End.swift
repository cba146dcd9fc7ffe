import NIOCore

// Timeouts and the end of a connection: slow requests, clients that do not read, and closing.
extension RequestGate {
  func schedule(_ context: ChannelHandlerContext, at deadline: NIODeadline) {
    timer?.cancel()
    timerDeadline = deadline
    timer = context.eventLoop.assumeIsolated().scheduleTask(deadline: deadline) { self.check(context) }
  }

  private func check(_ context: ChannelHandlerContext) {
    guard !machine.isOver else { return }
    let channel = context.channel
    switch machine.check(
      at: context.eventLoop.now, isWritable: channel.isWritable,
      waitingBytes: (try? channel.syncOptions?.getOption(.bufferedWritableBytes)) ?? 0,
      isKnown: shared.places.isKnown(channel)
    ) {
    case .wait(let deadline): schedule(context, at: deadline)
    case .close: context.close(promise: nil)
    case .headTooSlow: refuse(.timedOut("head", shared.limits.headTime, shared.counters), context)
    case .bodyTooSlow: refuse(.timedOut("body", shared.limits.bodyTime, shared.counters), context)
    }
  }

  /// Closes the sending half, discards the bytes that still arrive, then closes the connection. Closing at once with
  /// unread bytes would send a reset, which can overtake the answer.
  func linger(_ context: ChannelHandlerContext) {
    guard !machine.isOver else { return }
    machine.closing()
    wrote = false
    context.flush()
    let box = NIOLoopBound(context, eventLoop: context.eventLoop)
    context.close(mode: .output).whenFailure { _ in box.value.close(promise: nil) }
    timer?.cancel()
    let time = isForOneRequest ? shared.limits.lingerTimeInScarcity : shared.limits.lingerTime
    timer = context.eventLoop.scheduleTask(in: time) { box.value.close(promise: nil) }
    arrival?.goOn()
    context.read()
  }

  func close(context: ChannelHandlerContext, mode: CloseMode, promise: EventLoopPromise<Void>?) {
    guard mode == .output else { return context.close(mode: mode, promise: promise) }
    if !machine.isOver { linger(context) }
    promise?.succeed()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    switch event {
    case is ChannelShouldQuiesceEvent:
      if machine.finish() { context.close(promise: nil) }
    case ChannelEvent.inputClosed:
      if machine.isOver || isUpgrading {
        context.close(promise: nil)
      } else if machine.finish() {
        linger(context)
      }
    default: break
    }
    context.fireUserInboundEventTriggered(event)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    if context.channel.isWritable { machine.drained(at: context.eventLoop.now) }
    context.fireChannelWritabilityChanged()
  }
}
