import HTTPTypes
import Logging
import NIOCore
import NIOHTTP1
import Tactus

/// The pipeline of one connection:
///
///     TLS ─ arrival ─ HTTP encoder ─ HTTP decoder ─ gate ─┬─ responder, in a task, from its first request on
///                                                         └─ WebSocket decoder ─ session, after an upgrade
struct ServiceChannel: Sendable {
  static let tlsName = "tactus.tls"
  static let decoderName = "tactus.http.decoder"

  /// The signature of `APIResponder.respond`.
  typealias Responder =
    @Sendable (
      _ head: HTTPRequest, _ arriving: ArrivingRequests, _ client: NIOAsyncChannelOutboundWriter<ResponsePart>,
      _ channel: any Channel
    ) async throws -> Void

  /// The signature of `AccessControl.admit`.
  typealias Admission =
    @Sendable (_ request: HTTPRequest, _ peer: String, _ certificate: ClientCertificate?, _ scope: Scope?)
    throws(APIError) -> Caller

  /// The values that all connections of one server share.
  struct Shared: Sendable {
    let prepared: PreparedRoutes
    let admit: Admission
    let hub: EventHub
    let systems: [any ServedSystem]
    /// The WebSockets of the systems' own.
    let sockets: [SystemSocket]
    let counters: ServiceCounters
    let places: ConnectionPlaces
    let limits: ConnectionLimits
    let outgoing: OutgoingBudget
    let isSecure: Bool
    let version: String
    let numbers = WebSocketNumbers()
    let turns = TurnsOfLoops()
    let turnsOfRefused = TurnsOfLoops()
    let now: @Sendable () -> TickInstant
    let secondsSince1970: @Sendable () -> Int64
    let logAction: @Sendable (_ action: String, _ caller: Caller, _ error: APIError?) -> Void
    let logger: Logger

    var watching: AdmissionWatching {
      AdmissionWatching(
        hub: hub, admit: admit, interval: limits.webSocket.tokenCheckInterval, secondsSince1970: secondsSince1970)
    }
  }

  /// The way in which an accepted connection is served.
  enum Outcome: Sendable {
    case responder(NIOAsyncChannel<RequestPart, ResponsePart>)
    /// The connection is served on its event loop, is a WebSocket, or is closed.
    case nothing
  }

  private let responder: Responder
  private let shared: Shared
  private let tls: ChannelSecurity.MakeHandler?

  /// Makes the pipelines of one server.
  ///
  /// - Parameters:
  ///   - routes: the routes. Those with prepared documents are answered on the event loop; the responder must know them
  ///     all the same, for requests that arrive behind others.
  ///   - admit: `AccessControl.admit`.
  ///   - places: the places of this server's connections; the responder reports callers to the same ones.
  ///   - version: the daemon's version, sent in `hello`.
  ///   - outgoing: the budget of what waits for all clients; `nil` for one of this channel's own.
  ///   - logAction: called after each action of a WebSocket client with its name (`robot.e-stop`), the caller and the error, if any.
  ///   - tls: makes the TLS handler at the head of a connection's pipeline; `nil` for plain HTTP.
  init(
    responder: @escaping Responder, routes: [Route], admit: @escaping Admission, hub: EventHub,
    systems: [any ServedSystem],
    counters: ServiceCounters, places: ConnectionPlaces, version: String, limits: ConnectionLimits = ConnectionLimits(),
    outgoing: OutgoingBudget? = nil,
    tls: ChannelSecurity.MakeHandler? = nil, now: @escaping @Sendable () -> TickInstant,
    secondsSince1970: @escaping @Sendable () -> Int64 = { WallClock.microseconds / 1_000_000 },
    logAction: @escaping @Sendable (_ action: String, _ caller: Caller, _ error: APIError?) -> Void, logger: Logger
  ) {
    self.responder = responder
    self.tls = tls
    shared = Shared(
      prepared: PreparedRoutes(routes), admit: admit, hub: hub, systems: systems, sockets: systems.flatMap(\.sockets),
      counters: counters,
      places: places, limits: limits, outgoing: outgoing ?? OutgoingBudget(limits.outgoingBytes), isSecure: tls != nil,
      version: version, now: now,
      secondsSince1970: secondsSince1970,
      logAction: logAction, logger: logger)
  }

  /// Makes a connection's pipeline, or closes the connection if it has no place. The function is to be called on its event loop.
  ///
  /// - Returns: how the connection is served, known when its first request has arrived or it has ended.
  func setup(channel: any Channel) -> EventLoopFuture<EventLoopFuture<Outcome>> {
    let address = channel.peerAddress
    return channel.eventLoop.makeCompletedFuture {
      if shared.places.enter(channel, from: address) { return try serve(channel, address) }
      channel.close(promise: nil)
      return channel.eventLoop.makeSucceededFuture(.nothing)
    }
  }

  private func serve(_ channel: any Channel, _ address: String) throws -> EventLoopFuture<Outcome> {
    let pipeline = channel.pipeline.syncOperations
    if let tls {
      let (places, id) = (shared.places, ObjectIdentifier(channel))
      try pipeline.addHandler(tls { places.show($0, on: id) }, name: Self.tlsName)
    }
    let outcome = channel.eventLoop.makePromise(of: Outcome.self)
    let encoder = HTTPResponseEncoder()
    let gate = RequestGate(
      shared: shared, address: address, encoder: encoder, outcome: outcome, now: channel.eventLoop.now)
    let arrival = ArrivalHandler(
      gate: gate, turns: shared.turns.turns(of: channel.eventLoop),
      turnsOfRefused: shared.turnsOfRefused.turns(of: channel.eventLoop), now: shared.now)
    gate.arrival = arrival
    try pipeline.addHandler(arrival)
    try pipeline.addHandler(encoder)
    try pipeline.addHandler(
      ByteToMessageHandler(RequestDecoder(shared.limits, arrival: arrival)), name: Self.decoderName)
    try pipeline.addHandler(gate)
    return outcome.futureResult
  }

  /// Answers a connection's requests, one after the other, and returns when it is closed. The function is to be called by a task of the connection's
  /// event loop.
  func handle(_ outcome: EventLoopFuture<Outcome>) async {
    guard case .responder(let connection)? = try? await outcome.get() else { return }
    do {
      try await connection.executeThenClose { requests, client in
        let arriving = ArrivingRequests(requests)
        while let head = try await arriving.nextHead() {
          try await responder(head, arriving, client, connection.channel)
        }
        // The gate closes it when the client has had time to read the last answer.
        client.finish()
        try await connection.channel.closeFuture.get()
      }
    } catch {
      shared.logger.trace("a connection has ended", metadata: ["reason": .string("\(error)")])
    }
  }
}

/// Runs the tasks of one event loop's connections on that event loop. A client's requests are read, admitted and handed to their system on one
/// thread, and wait for none of the threads that make answers.
final class LoopExecutor: TaskExecutor {
  private let eventLoop: any EventLoop

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Adds a job without waiting; called by the concurrency runtime for each job of a task that prefers this executor.
  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    eventLoop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
  }
}

extension Channel {
  /// The peer's address without its port. An IPv4 address that arrives on an IPv6 socket is written as IPv4; an unknown address is `unknown`.
  var peerAddress: String {
    guard let address = remoteAddress?.ipAddress else { return "unknown" }
    return address.hasPrefix("::ffff:") && address.contains(".") ? String(address.dropFirst(7)) : address
  }
}
