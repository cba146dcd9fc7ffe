import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import NIOHTTP1
import NIOHTTPTypes
import Tactus

/// The pipeline of one connection:
///
///     TLS ─ arrival ─ HTTP encoder ─ HTTP decoder ─ gate ─┬─ responder (Hummingbird), from its first request on
///                                                         └─ WebSocket decoder ─ session, after an upgrade
struct ServiceChannel: HTTPChannelHandler {
  static let decoderName = "tactus.http.decoder"

  /// What `Doorman.admit` does.
  typealias Admission =
    @Sendable (_ request: HTTPRequest, _ peer: String, _ scope: Scope?) throws(APIError) -> Caller

  /// What the connections of one server have in common.
  struct Shared: Sendable {
    let prepared: PreparedRoutes
    let admit: Admission
    let hub: EventHub
    let systems: [any ServedSystem]
    let counters: ServiceCounters
    let limits: ConnectionLimits
    let isSecure: Bool
    let version: String
    let numbers = WebSocketNumbers()
    let now: @Sendable () -> TickInstant
    let secondsSince1970: @Sendable () -> Int64
    let logAction: @Sendable (_ action: String, _ caller: Caller, _ error: APIError?) -> Void
    let logger: Logger
  }

  /// What became of a connection that was accepted.
  enum Outcome: Sendable {
    case responder(NIOAsyncChannel<HTTPRequestPart, HTTPResponsePart>)
    /// It was answered on its event loop, or is a WebSocket, or is closed.
    case nothing
  }

  struct Value: ServerChildChannelValue {
    let channel: any Channel
    fileprivate let outcome: EventLoopFuture<Outcome>
  }

  let responder: Responder
  private let shared: Shared
  private let count: ConnectionCount
  private let tls: (@Sendable () throws -> any ChannelHandler)?

  /// - Parameters:
  ///   - routes: those with prepared documents are answered here; the responder must know them all the same, for requests
  ///     that arrive behind others.
  ///   - admit: `Doorman.admit`.
  ///   - version: of the daemon, told in `hello`.
  ///   - logAction: called after an action of a WebSocket client: its name (`robot.e-stop`), who, what went wrong.
  ///   - tls: makes the handler that a connection begins with; nil: plain HTTP.
  init(
    responder: @escaping Responder, routes: [Route], admit: @escaping Admission, hub: EventHub,
    systems: [any ServedSystem],
    counters: ServiceCounters, version: String, limits: ConnectionLimits = ConnectionLimits(),
    tls: (@Sendable () throws -> any ChannelHandler)? = nil, now: @escaping @Sendable () -> TickInstant,
    secondsSince1970: @escaping @Sendable () -> Int64 = { WallClock.microseconds / 1_000_000 },
    logAction: @escaping @Sendable (_ action: String, _ caller: Caller, _ error: APIError?) -> Void, logger: Logger
  ) {
    self.responder = responder
    self.tls = tls
    count = ConnectionCount(limits)
    shared = Shared(
      prepared: PreparedRoutes(routes), admit: admit, hub: hub, systems: systems, counters: counters,
      limits: limits, isSecure: tls != nil, version: version, now: now, secondsSince1970: secondsSince1970,
      logAction: logAction, logger: logger)
  }

  func setup(channel: any Channel, logger: Logger) -> EventLoopFuture<Value> {
    let address = channel.peerAddress
    let verdict = count.enter(address)
    let (count, counters) = (count, shared.counters)
    if case .welcome = verdict {
      counters.connections.add(1)
      counters.connectionsOpen.add(1)
    } else {
      counters.connectionsRefused.add(1)
    }
    channel.closeFuture.whenComplete { _ in
      if case .welcome = verdict { counters.connectionsOpen.subtract(1) }
      count.leave(address, verdict)
    }
    return channel.eventLoop.makeCompletedFuture {
      switch verdict {
      case .welcome: return try serve(channel, address)
      case .full: return try turnAway(channel)
      case .flooded:
        channel.close(promise: nil)
        return Value(channel: channel, outcome: channel.eventLoop.makeSucceededFuture(.nothing))
      }
    }
  }

  private func serve(_ channel: any Channel, _ address: String) throws -> Value {
    let pipeline = channel.pipeline.syncOperations
    if let tls { try pipeline.addHandler(tls()) }
    let outcome = channel.eventLoop.makePromise(of: Outcome.self)
    let encoder = HTTPResponseEncoder()
    let gate = RequestGate(
      shared: shared, address: address, encoder: encoder, outcome: outcome, now: channel.eventLoop.now)
    let arrival = ArrivalHandler(gate: gate)
    try pipeline.addHandler(arrival)
    try pipeline.addHandler(encoder)
    try pipeline.addHandler(
      ByteToMessageHandler(RequestDecoder(shared.limits, arrival: arrival)), name: Self.decoderName)
    try pipeline.addHandler(gate)
    return Value(channel: channel, outcome: outcome.futureResult)
  }

  private func turnAway(_ channel: any Channel) throws -> Value {
    // Within TLS an answer costs a handshake, which is what there is no room for.
    if tls != nil {
      channel.close(promise: nil)
    } else {
      try channel.pipeline.syncOperations.addHandler(FullHandler(lingerTime: shared.limits.lingerTime))
    }
    return Value(channel: channel, outcome: channel.eventLoop.makeSucceededFuture(.nothing))
  }

  func handle(value: Value, logger: Logger) async {
    guard case .responder(let channel)? = try? await value.outcome.get() else { return }
    await handleHTTP(asyncChannel: channel, logger: logger)
  }
}
