import Synchronization

/// What the door has done since the daemon's start, for `/metrics`.
///
/// Usable from any thread. Relaxed: each number is right, no two are of the same instant.
public final class ServiceCounters: Sendable {
  /// All counters at 0.
  public init() {}

  /// Connections accepted and let in.
  public let connections = ServiceCounter()
  /// Connections and requests turned away: too many, in all or of one address.
  public let connectionsRefused = ServiceCounter()
  /// Connections without a token that were closed to make room for others.
  public let connectionsEvicted = ServiceCounter()
  /// Connections that are open now.
  public let connectionsOpen = ServiceCounter()
  /// Answers of class 2xx.
  public let success = ServiceCounter()
  /// Answers of class 3xx.
  public let redirection = ServiceCounter()
  /// Answers of class 4xx.
  public let clientErrors = ServiceCounter()
  /// Answers of class 5xx.
  public let serverErrors = ServiceCounter()
  /// Answers that were given on the event loop from prepared bytes.
  public let prepared = ServiceCounter()
  /// Requests whose head or body did not become whole in time.
  public let timeouts = ServiceCounter()
  /// Bytes that were no HTTP, or more header than allowed.
  public let malformed = ServiceCounter()

  /// WebSocket clients that were let in.
  public let clients = ServiceCounter()
  /// WebSocket clients that are open now.
  public let clientsOpen = ServiceCounter()
  /// Clients dropped because they did not read.
  public let clientsTooSlow = ServiceCounter()
  /// Clients dropped because they did not answer pings.
  public let clientsSilent = ServiceCounter()
  /// Clients closed for breaking the protocol.
  public let clientsMalformed = ServiceCounter()
  /// Events handed to a client's socket, telemetry included, one for each client.
  public let eventsSent = ServiceCounter()
  /// Telemetry that a newer one replaced before the client could take it.
  public let eventsCoalesced = ServiceCounter()

  func countAnswer(_ status: Int) {
    switch status {
    case 200..<300: success.add(1)
    case 300..<400: redirection.add(1)
    case 400..<500: clientErrors.add(1)
    case 500...: serverErrors.add(1)
    default: break
    }
  }
}

/// One number that threads count in.
public final class ServiceCounter: Sendable {
  private let count = Atomic<UInt64>(0)

  init() {}

  /// The number now. It only grows, except for counters of what is open.
  public var value: UInt64 { count.load(ordering: .relaxed) }

  func add(_ amount: UInt64) { count.wrappingAdd(amount, ordering: .relaxed) }
  func subtract(_ amount: UInt64) { count.wrappingSubtract(amount, ordering: .relaxed) }
}
