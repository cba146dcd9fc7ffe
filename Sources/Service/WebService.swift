import Buses
import Dispatch
import HummingbirdCore
import Logging
import NIOCore
import NIOPosix
import Synchronization
import Tactus

/// The door: one HTTP and WebSocket server over the systems' mailboxes.
///
/// Runs on one or two threads of its own at normal priority. Started once, stopped once.
public final class WebService: Sendable {
  /// Where events go.
  public let hub: EventHub
  /// Every route it answers, its own included.
  public let table: RouteTable

  /// Of connections and answers, for metrics.
  public let counters: ServiceCounters

  private let configuration: ServiceConfiguration
  private let systems: [any ServedSystem]
  private let health: ServiceHealth
  private let responder: APIResponder
  private let logger: Logger
  private let connections = OpenConnections()
  private let running = Mutex<Running?>(nil)
  private let lastBeat = Mutex<TickInstant?>(nil)

  private struct Running {
    let group: MultiThreadedEventLoopGroup
    let shutDown: @Sendable () async -> Void
    let endpoint: Endpoint
    /// Finishing it lets connections in.
    let gate: AsyncStream<Never>.Continuation
    /// Ends when the server has ended and no request is being answered.
    let task: Task<Void, Never>
  }

  /// - Parameter routes: those that no system brings: metrics, runtime, logs.
  public init(
    configuration: ServiceConfiguration, doorman: Doorman, systems: [any ServedSystem], routes: [Route],
    hub: EventHub = EventHub(), counters: ServiceCounters = ServiceCounters(), logger: Logger
  ) {
    self.configuration = configuration
    self.systems = systems
    self.hub = hub
    self.counters = counters
    self.logger = logger
    health = ServiceHealth()
    let own = DoorRoutes(systems: systems, health: health, version: configuration.version)
    table = RouteTable(own.routes + Console.routes + systems.flatMap(\.routes) + routes)
    responder = APIResponder(
      table: table, doorman: doorman, crossOrigin: CrossOrigin(configuration.allowedOrigins),
      actions: ActionLog(logger: logger), logger: logger, bodyLimit: configuration.bodyLimit)
  }

  /// Takes the port; connections wait until `start`. Blocks the calling thread for some milliseconds.
  public func bind() throws(ServiceStartError) {
    guard running.withLock({ $0 == nil }) else { return }
    let security = try ChannelSecurity(configuration.tls)
    let group = MultiThreadedEventLoopGroup(numberOfThreads: System.coreCount <= 2 ? 1 : 2)
    let (entrance, gate) = AsyncStream.makeStream(of: Never.self)
    let listening = DispatchSemaphore(value: 0)
    let outcome = BindOutcome()
    // Hummingbird tells every start and stop at info; this program has lines of its own for that.
    var quiet = logger
    quiet.logLevel = max(logger.logLevel, .warning)
    let server = Server(
      childChannelSetup: TrackedChannel(inner: channel(security), connections: connections),
      configuration: ServerConfiguration(
        address: .hostname(configuration.address, port: Int(configuration.port))),
      onServerRunning: { channel in
        outcome.set(.success(channel.localAddress))
        listening.signal()
        for await _ in entrance {}
      },
      eventLoopGroup: group, logger: quiet)
    let task = Task.detached {
      do {
        try await server.run()
      } catch {
        outcome.set(.failure(error))
      }
      listening.signal()
    }
    listening.wait()
    switch outcome.get() {
    case .success(let address):
      let endpoint = Endpoint(address)
      running.withLock {
        $0 = Running(
          group: group, shutDown: { try? await server.shutdownGracefully() }, endpoint: endpoint, gate: gate,
          task: task)
      }
    case .failure(let error):
      try? group.syncShutdownGracefully()
      throw ServiceStartError(error, address: configuration.address, port: configuration.port)
    }
  }

  /// Takes the port, unless `bind` has, and lets connections in. Blocks the calling thread for some milliseconds.
  public func start() throws(ServiceStartError) {
    try bind()
    running.withLock { $0?.gate.finish() }
  }

  /// The address and port in effect; nil: not listening.
  public var endpoint: Endpoint? { running.withLock { $0?.endpoint } }

  /// Tells subscribers what is due at a beat (10 Hz).
  public func beat(at now: TickInstant) {
    let isSecond = lastBeat.withLock { last in
      defer { last = now }
      return last.map { $0.nanoseconds / 1_000_000_000 != now.nanoseconds / 1_000_000_000 } ?? true
    }
    publish(systems.flatMap { $0.events(at: now, second: isSecond) })
  }

  /// Tells subscribers of changes.
  public func publish(_ events: [Event]) { hub.publish(events) }

  /// A control loop has stopped ticking, or ticks again: what `GET /api/health` says.
  public func setStalled(_ isStalled: Bool, loop: String) { health.setStalled(isStalled, loop: loop) }

  /// Closes the port and every connection; requests under way have a quarter of a second to be answered.
  ///
  /// Blocks the calling thread for at most a second, whatever the clients do. No thread is left; when a handler has not
  /// returned by then, the threads end as soon as it does.
  public func stop() {
    health.setStopping()
    guard let running = running.withLock({ $0.take() }) else { return }
    running.gate.finish()
    let ended = DispatchSemaphore(value: 0)
    let loop = running.group.next()
    let patience = loop.scheduleTask(in: .milliseconds(750)) { _ = ended.signal() }
    loop.scheduleTask(in: .milliseconds(250)) { [connections] in connections.closeAll() }
    Task.detached {
      await running.shutDown()
      await running.task.value
      patience.cancel()
      // Not before: NIO forbids to end threads that somebody still wants to run something on.
      try? await running.group.shutdownGracefully()
      ended.signal()
    }
    ended.wait()
  }

  /// Its threads; nil: not listening.
  var group: MultiThreadedEventLoopGroup? { running.withLock { $0?.group } }

  private func channel(_ security: ChannelSecurity) -> ServiceChannel {
    let actions = responder.actions
    return ServiceChannel(
      responder: responder.respond, routes: table.routes, admit: responder.doorman.admit, hub: hub, systems: systems,
      counters: counters, version: configuration.version, limits: configuration.limits, tls: security.makeHandler,
      now: { MonotonicClock.now },
      logAction: { action, caller, error in
        actions.note(
          action, value: nil, address: caller.address, tokenID: caller.tokenID, result: error?.code ?? "ok")
      },
      logger: logger)
  }
}

/// Where the server listens, or why it does not; told by whichever comes first.
private final class BindOutcome: Sendable {
  private let result = Mutex<Result<SocketAddress?, any Error>?>(nil)

  func set(_ value: Result<SocketAddress?, any Error>) {
    result.withLock { $0 = $0 ?? value }
  }

  /// After one `set`.
  func get() -> Result<SocketAddress?, any Error> { result.withLock { $0! } }
}

extension Endpoint {
  /// Of a listening socket.
  fileprivate init(_ address: SocketAddress?) {
    let port = UInt16(address?.port ?? 0)
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
