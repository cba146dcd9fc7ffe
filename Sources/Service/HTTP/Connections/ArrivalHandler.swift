import NIOCore

/// Between the socket and the decoder: gives the gate one request at a time, and keeps what comes while the gate cannot take more or
/// the connection becomes a WebSocket.
///
/// A client may send hundreds of requests in one packet and read no answer. The decoder would hand them all on at once, so the bytes wait
/// here, at most one read of them: nothing more is read from the socket while some do. One request of each read (two, if they are short) is
/// taken at once; those behind it wait for turns (`PipelineTurns`), so that clients which send many hold up no other client's e-stop.
///
/// Bytes may come at any moment on the event loop, also within a write: NIO reads what is left before it closes a socket whose
/// write failed. While handlers come and go, no other handler may see them.
final class ArrivalHandler: ChannelDuplexHandler, RemovableChannelHandler {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private enum State {
    case http(RequestGate)
    /// The connection becomes a WebSocket.
    case holding
    /// About to leave the pipeline.
    case released
  }

  /// A client that closes its half is read to the end at once, which may be more than one read.
  private static let mostHeldBytes = 64 * 1024
  /// Shorter ones would let a client that sends empty lines cost a call for each. Two short requests may fit into it.
  private static let shortestPieceBytes = 64

  private var state: State
  private var context: ChannelHandlerContext?
  /// Bytes that wait, oldest first.
  private var held = CircularBuffer<ByteBuffer>()
  private var heldBytes = 0
  /// The client has sent all it wanted, behind what is held.
  private var isInputClosed = false
  /// The channel asked to read while bytes waited.
  private var readWaits = false
  private var isFeeding = false
  private let turns: PipelineTurns
  private var waitsForTurn = false

  /// - Parameter turns: those of the channel's event loop.
  init(gate: RequestGate, turns: PipelineTurns) { (state, self.turns) = (.http(gate), turns) }

  func handlerAdded(context: ChannelHandlerContext) { self.context = context }

  func handlerRemoved(context: ChannelHandlerContext) {
    self.context = nil
    clear()
  }

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    if case .released = state { return context.fireChannelRead(data) }
    let bytes = unwrapInboundIn(data)
    guard heldBytes + bytes.readableBytes <= Self.mostHeldBytes else {
      clear()
      return context.close(promise: nil)
    }
    held.append(bytes)
    heldBytes += bytes.readableBytes
    feed(context)
  }

  func channelWritabilityChanged(context: ChannelHandlerContext) {
    context.fireChannelWritabilityChanged()
    goOn()
  }

  func channelInactive(context: ChannelHandlerContext) {
    clear()
    context.fireChannelInactive()
  }

  func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
    guard case ChannelEvent.inputClosed? = event as? ChannelEvent, case .http = state, !held.isEmpty else {
      return context.fireUserInboundEventTriggered(event)
    }
    isInputClosed = true
  }

  // What a client does not read must not pile up here: no new requests until it has.
  func read(context: ChannelHandlerContext) {
    if mayRead(context) { context.read() } else { readWaits = true }
  }

  private func mayRead(_ context: ChannelHandlerContext) -> Bool {
    guard case .http(let gate) = state else { return true }
    return switch gate.appetite(context.channel) {
    case .request: held.isEmpty
    case .nothing: true
    case .wait: false
    }
  }

  // MARK: Requests, one after the other

  /// The gate may take more than before.
  func goOn() {
    guard let context, case .http(let gate) = state else { return }
    if !held.isEmpty {
      switch gate.appetite(context.channel) {
      case .nothing: clear()
      case .request: waitForTurn()
      case .wait: break
      }
    }
    if isInputClosed, held.isEmpty {
      isInputClosed = false
      context.fireUserInboundEventTriggered(ChannelEvent.inputClosed)
    }
    if readWaits, mayRead(context) {
      readWaits = false
      context.read()
    }
  }

  private func waitForTurn() {
    guard !waitsForTurn else { return }
    waitsForTurn = true
    turns.add(self)
  }

  /// Takes one of the requests that wait, if there still are any.
  func takeTurn() {
    waitsForTurn = false
    guard let context, !held.isEmpty else { return }
    feed(context)
    context.fireChannelReadComplete()
    goOn()
  }

  /// Hands on bytes until a request has been taken.
  private func feed(_ context: ChannelHandlerContext) {
    // What is flushed here makes the channel writable within this call.
    guard !isFeeding else { return }
    isFeeding = true
    defer { isFeeding = false }
    while case .http(let gate) = state, !held.isEmpty {
      switch gate.appetite(context.channel) {
      case .wait: return
      case .nothing: clear()
      case .request:
        guard let bytes = nextPiece() else { return }
        let before = gate.requests
        gate.bytesArrive(at: context.eventLoop.now)
        context.fireChannelRead(wrapInboundOut(bytes))
        gate.bytesDecoded(context)
        // What the socket takes at once does not count as waiting.
        if !context.channel.isWritable { gate.flush() }
        if gate.requests != before {
          if !held.isEmpty { waitForTurn() }
          return
        }
      }
    }
  }

  /// Bytes up to the end of a head, so that the next request can wait for this one's answer.
  private func nextPiece() -> ByteBuffer? {
    guard var first = held.popFirst() else { return nil }
    let length = first.withUnsafeReadableBytes { bytes in
      var end = Self.shortestPieceBytes
      while end < bytes.count {
        if bytes[end - 1] == 0x0A, bytes[end - 2] == 0x0A || bytes[end - 2] == 0x0D && bytes[end - 3] == 0x0A { break }
        end += 1
      }
      return min(end, bytes.count)
    }
    heldBytes -= length
    guard length < first.readableBytes, let piece = first.readSlice(length: length) else { return first }
    held.prepend(first)
    return piece
  }

  private func clear() {
    held.removeAll()
    heldBytes = 0
  }

  // MARK: Becoming a WebSocket

  /// Keeps what comes from now on.
  func hold() { state = .holding }

  /// What the decoder had read and not touched when it left: it came before all that is held.
  func takeBack(_ bytes: ByteBuffer) {
    guard case .holding = state else { return }
    held.prepend(bytes)
    heldBytes += bytes.readableBytes
  }

  /// Hands on what was held, in its order, and leaves. The handlers behind are those that bytes are for.
  func release() {
    guard let context else { return }
    while context.channel.isActive, let bytes = held.popFirst() { context.fireChannelRead(wrapInboundOut(bytes)) }
    state = .released
    context.fireChannelReadComplete()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    if readWaits { context.read() }
  }
}
