import NIOCore
import Tactus

/// Stands between the socket and the HTTP decoder. It passes on one request at a time, and keeps the bytes that arrive
/// while the request gate cannot take more or while the connection becomes a WebSocket.
///
/// A client may send hundreds of requests in one packet and read no answer. The decoder would pass all of them on at once, so the bytes wait here: at
/// most those of one read, because the socket is not read while bytes wait. One request of each read (two, if they are short), with its body, is
/// passed on at once; the requests behind it wait for turns (`PipelineTurns`), so that clients that send many requests delay no other client's
/// e-stop. A connection that is refused again and again without a token waits for turns with all its requests. However long a request waits here, it
/// bears the instant at which its first byte was read.
///
/// Bytes may arrive at any moment on the event loop, also during a write: NIO reads the remaining bytes before it
/// closes a socket whose write failed. No other handler may see bytes while handlers are being exchanged.
final class ArrivalHandler: ChannelDuplexHandler, RemovableChannelHandler, TurnTaker {
  typealias InboundIn = ByteBuffer
  typealias InboundOut = ByteBuffer
  typealias OutboundIn = ByteBuffer

  private enum State {
    case http(RequestGate)
    /// The connection is becoming a WebSocket, and bytes are kept.
    case holding
    /// The handler is about to leave the pipeline.
    case released
  }

  /// The greatest number of bytes kept. When a client closes its sending half, NIO reads to the end at once, which may be more than one read.
  private static let mostHeldBytes = 64 * 1024
  /// The least length of a piece passed on, in bytes. With shorter pieces a client that sends empty lines would cost
  /// one call for each line. Two short requests may fit into one piece.
  private static let shortestPieceBytes = 64

  private var state: State
  private var context: ChannelHandlerContext?
  /// The bytes that wait, oldest first.
  private var held = CircularBuffer<(bytes: ByteBuffer, read: TickInstant)>()
  private var heldBytes = 0
  /// Whether the client has closed its sending half. The event of the closing is passed on after the waiting bytes.
  private var isInputClosed = false
  /// Whether the channel asked to read while bytes were waiting.
  private var readWaits = false
  private var isFeeding = false
  private let turns: PipelineTurns
  private let turnsOfRefused: PipelineTurns
  private let now: @Sendable () -> TickInstant
  private var waitsForTurn = false

  /// Makes the handler in front of a request gate.
  ///
  /// - Parameters:
  ///   - turns: the turns of the channel's event loop.
  ///   - turnsOfRefused: the turns of connections that only get refusals, which delay no others.
  ///   - now: the clock of the loops, by which requests are stamped.
  init(
    gate: RequestGate, turns: PipelineTurns, turnsOfRefused: PipelineTurns, now: @escaping @Sendable () -> TickInstant
  ) {
    (state, self.turns, self.turnsOfRefused, self.now) = (.http(gate), turns, turnsOfRefused, now)
  }

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
    held.append((bytes, now()))
    heldBytes += bytes.readableBytes
    if mustWait(context) { waitForTurn(context) } else { feed(context) }
  }

  private func mustWait(_ context: ChannelHandlerContext) -> Bool {
    if case .http(let gate) = state { gate.mustWait(context.channel) } else { false }
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

  // Answers that a client does not read must not pile up: no request is read until it has read them.
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

  /// Continues after the gate has become able to take more.
  func goOn() {
    guard let context, case .http(let gate) = state else { return }
    if !held.isEmpty {
      switch gate.appetite(context.channel) {
      case .nothing: clear()
      case .request: waitForTurn(context)
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

  private func waitForTurn(_ context: ChannelHandlerContext) {
    guard !waitsForTurn else { return }
    waitsForTurn = true
    (mustWait(context) ? turnsOfRefused : turns).add(self)
  }

  /// Passes on one of the waiting requests, if any are left.
  func takeTurn() {
    waitsForTurn = false
    guard let context, !held.isEmpty else { return }
    feed(context)
    context.fireChannelReadComplete()
    goOn()
  }

  /// Passes on bytes until the gate has taken a request with its body, or as much of that as is here.
  private func feed(_ context: ChannelHandlerContext) {
    // A flush can make the channel writable within this call.
    guard !isFeeding else { return }
    isFeeding = true
    defer { isFeeding = false }
    let before = gateRequests
    while case .http(let gate) = state, !held.isEmpty {
      switch gate.appetite(context.channel) {
      case .wait: return
      case .nothing: clear()
      case .request:
        guard let (bytes, read) = nextPiece() else { return }
        gate.bytesArrive(at: context.eventLoop.now, read: read)
        context.fireChannelRead(wrapInboundOut(bytes))
        gate.bytesDecoded(context)
        // Bytes that the socket accepts at once do not count as waiting.
        if !context.channel.isWritable { gate.flush() }
        if gate.requests != before, !gate.isInBody {
          if !held.isEmpty { waitForTurn(context) }
          return
        }
      }
    }
  }

  /// Returns the waiting bytes up to the end of a request head, so that the next request waits until this one is
  /// answered. Returns `nil` if no bytes wait.
  private func nextPiece() -> (bytes: ByteBuffer, read: TickInstant)? {
    guard let (bytes, read) = held.popFirst() else { return nil }
    var first = bytes
    let length = first.withUnsafeReadableBytes { bytes in
      var end = Self.shortestPieceBytes
      while end < bytes.count {
        if bytes[end - 1] == 0x0A, bytes[end - 2] == 0x0A || bytes[end - 2] == 0x0D && bytes[end - 3] == 0x0A { break }
        end += 1
      }
      return min(end, bytes.count)
    }
    heldBytes -= length
    guard length < first.readableBytes, let piece = first.readSlice(length: length) else {
      return (first, read)
    }
    held.prepend((first, read))
    return (piece, read)
  }

  private var gateRequests: UInt64 { if case .http(let gate) = state { gate.requests } else { 0 } }

  private func clear() {
    held.removeAll()
    heldBytes = 0
  }

  // MARK: Becoming a WebSocket

  /// Keeps all bytes that arrive from now on.
  func hold() { state = .holding }

  /// Takes back the bytes that the decoder had read but not decoded when it was removed. They precede all bytes kept here.
  func takeBack(_ bytes: ByteBuffer) {
    guard case .holding = state else { return }
    held.prepend((bytes, now()))
    heldBytes += bytes.readableBytes
  }

  /// Passes on the kept bytes in their order and leaves the pipeline. The handlers for which the bytes are meant must be in place.
  func release() {
    guard let context else { return }
    while context.channel.isActive, let (bytes, _) = held.popFirst() { context.fireChannelRead(wrapInboundOut(bytes)) }
    state = .released
    context.fireChannelReadComplete()
    context.pipeline.syncOperations.removeHandler(context: context, promise: nil)
    if readWaits { context.read() }
  }
}
