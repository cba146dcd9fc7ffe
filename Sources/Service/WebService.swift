import Buses
@_spi(FromOutside) import Conversions
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Tactus

/// The HTTP and WebSocket server of the daemon, in front of the systems' mailboxes.
///
/// The server runs on its own threads at normal priority. It can be started once and stopped once.
public final class WebService: Sendable {
  /// The hub that passes events to WebSocket clients.
  public let hub: EventHub
  /// Every route that the server answers, including the service's own routes.
  public let table: RouteTable

  /// The counters of connections and answers, for metrics.
  public let counters: ServiceCounters

  private let configuration: ServiceConfiguration
  let systems: [any ServedSystem]
  private let health: ServiceHealth
  private let responder: APIResponder
  private let places: ConnectionPlaces
  private let logger: Logger
  private let listener = Mutex<Listener?>(nil)
  private let lastBeat = Mutex<TickInstant?>(nil)

  /// Makes the service, which does not listen before `bind` or `start`.
  ///
  /// - Parameter routes: the routes that belong to no system: metrics, runtime, logs.
  public init(
    configuration: ServiceConfiguration, accessControl: AccessControl, systems: [any ServedSystem], routes: [Route],
    hub: EventHub = EventHub(), counters: ServiceCounters = ServiceCounters(),
    guardHealth: GuardHealth = GuardHealth(.none), logger: Logger
  ) {
    self.configuration = configuration
    self.systems = systems
    self.hub = hub
    self.counters = counters
    self.logger = logger
    health = ServiceHealth(guardHealth: guardHealth)
    let places = ConnectionPlaces(configuration.limits, counters: counters, logger: logger)
    self.places = places
    let others = systems.flatMap(\.routes) + routes
    let own = DoorRoutes(
      systems: systems, health: health, version: configuration.version, additions: configuration.additions,
      others: others, zone: configuration.zone, isScarce: { places.isScarce })
    let console = Console(
      systems: configuration.additions.documents, cards: configuration.additions.cards,
      program: configuration.additions.title, timeZone: configuration.additions.timeZone,
      framePolicy: configuration.frameAncestors.policy)
    table = RouteTable(own.routes + console.routes + others)
    responder = APIResponder(
      table: table, accessControl: accessControl, crossOrigin: CrossOrigin(configuration.allowedOrigins),
      actions: ActionLog(logger: logger), logger: logger, bodyLimit: configuration.bodyLimit,
      places: places, bodies: BodyBudget(configuration.limits.bodyBytes),
      outgoing: OutgoingBudget(configuration.limits.outgoingBytes), counters: counters,
      watching: AdmissionWatching(
        hub: hub, admit: accessControl.admit(_:peer:certificate:scope:),
        interval: configuration.limits.webSocket.tokenCheckInterval,
        secondsSince1970: { WallClock.microseconds / 1_000_000 }))
  }

  /// Binds the port; connections wait until `start`. Blocks the calling thread for some milliseconds.
  public func bind() throws(ServiceStartError) {
    guard listener.withLock({ $0 == nil }) else { return }
    let channel = channel(try ChannelSecurity(configuration.tls, clients: configuration.clients))
    do {
      let bound = try Listener(
        channel, address: configuration.address, port: configuration.port,
        threads: configuration.threads.map { MultiThreadedEventLoopGroup(numberOfThreads: $0) } ?? Listener.threads,
        descriptors: configuration.limits.descriptors)
      listener.withLock { $0 = bound }
    } catch {
      throw ServiceStartError(error, address: configuration.address, port: configuration.port)
    }
  }

  /// Binds the port, unless `bind` has done so, and starts to accept connections. Blocks the calling thread for some milliseconds.
  public func start() throws(ServiceStartError) {
    try bind()
    listener.withLock { $0?.open() }
  }

  /// The address and port in effect, or `nil` while the service does not listen.
  public var endpoint: Endpoint? { listener.withLock { $0.map { Endpoint($0.address) } } }

  /// Sends the events that are due at a beat (10 Hz) to subscribers, and returns them.
  @discardableResult
  public func beat(at now: TickInstant) -> [Event] {
    let isSecond = lastBeat.withLock { last in
      defer { last = now }
      return last.map { $0.nanoseconds / 1_000_000_000 != now.nanoseconds / 1_000_000_000 } ?? true
    }
    health.beat()
    let events = systems.flatMap { $0.events(at: now, second: isSecond) }
    publish(events)
    return events
  }

  /// Sends events to subscribers without waiting for any of them.
  public func publish(_ events: [Event]) { hub.publish(events) }

  /// Notes, for `GET /api/health`, that a control loop has stopped ticking or ticks again.
  public func setStalled(_ isStalled: Bool, loop: String) { health.setStalled(isStalled, loop: loop) }

  /// Sets the troubles that `GET /api/health` reports although all loops tick. Each call replaces all earlier ones.
  public func setTroubles(_ troubles: [ServiceTrouble]) { health.setTroubles(troubles) }

  /// Closes the port at once, then every connection; requests in progress have a quarter of a second to be answered.
  ///
  /// Blocks the calling thread for at most a second, whatever the clients and handlers do.
  public func stop() {
    health.setStopping()
    listener.withLock { $0.take() }?.stop()
  }

  private func channel(_ security: ChannelSecurity) -> ServiceChannel {
    let actions = responder.actions
    return ServiceChannel(
      responder: responder.respond, routes: table.routes,
      admit: responder.accessControl.admit(_:peer:certificate:scope:),
      hub: hub, systems: systems,
      counters: counters, places: places, version: configuration.version, limits: configuration.limits,
      outgoing: responder.outgoing,
      tls: security.makeHandler,
      now: { MonotonicClock.now },
      logAction: { action, caller, error in
        actions.note(
          action, value: nil, address: caller.address, tokenID: caller.tokenID, result: error?.code ?? "ok")
      },
      logger: logger)
  }
}

extension Endpoint {
  /// Makes the endpoint of a listening socket.
  fileprivate init(_ address: SocketAddress) {
    let port = UInt16(clamping: address.port ?? 0)
    switch address {
    case .v4(let four):
      let bytes = withUnsafeBytes(of: four.address.sin_addr) { Array($0) }
      self = .ipv4(bytes[0], bytes[1], bytes[2], bytes[3], port: port)
    case .v6(let six):
      let words = withUnsafeBytes(of: six.address.sin6_addr) { bytes in
        (0..<2).map { half in bytes[half * 8..<half * 8 + 8].reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
      }
      self.init(high: words[0], low: words[1], port: port, scope: six.address.sin6_scope_id)
    default:
      preconditionFailure("a TCP server listens on an Internet address")
    }
  }
}
