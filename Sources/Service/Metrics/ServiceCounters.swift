import Synchronization

/// The counters of the service since the daemon's start, for `/metrics`.
///
/// It may be used from any thread. The counters are updated with relaxed ordering: each value is right, but values read
/// together may belong to different instants.
public final class ServiceCounters: Sendable {
  /// Makes all counters, starting at 0.
  public init() {}

  /// The number of connections accepted and admitted.
  public let connections = ServiceCounter()
  /// The number of connections and requests refused because there were too many, in all or from one address.
  public let connectionsRefused = ServiceCounter()
  /// The number of connections without a token that were closed to make room for others.
  public let connectionsEvicted = ServiceCounter()
  /// The number of connections closed because their clients did not read an answer while the bytes that waited for all clients
  /// exceeded a limit.
  public let connectionsTooSlow = ServiceCounter()
  /// The number of connections that are open at present.
  public let connectionsOpen = ServiceCounter()
  /// The number of answers of class 2xx.
  public let success = ServiceCounter()
  /// The number of answers of class 3xx.
  public let redirection = ServiceCounter()
  /// The number of answers of class 4xx.
  public let clientErrors = ServiceCounter()
  /// The number of answers of class 5xx.
  public let serverErrors = ServiceCounter()
  /// The number of answers given on the event loop from prepared bytes.
  public let prepared = ServiceCounter()
  /// The number of requests whose head or body was not complete in time.
  public let timeouts = ServiceCounter()
  /// The number of requests that were not valid HTTP, or had more header fields than allowed.
  public let malformed = ServiceCounter()

  /// The number of WebSocket clients admitted.
  public let clients = ServiceCounter()
  /// The number of WebSocket clients that are connected at present.
  public let clientsOpen = ServiceCounter()
  /// The number of WebSocket clients disconnected because they did not read.
  public let clientsTooSlow = ServiceCounter()
  /// The number of WebSocket clients disconnected because they did not answer pings.
  public let clientsSilent = ServiceCounter()
  /// The number of WebSocket clients disconnected because they broke the protocol.
  public let clientsMalformed = ServiceCounter()
  /// The number of events passed to a client's socket, telemetry included, counted once for each client.
  public let eventsSent = ServiceCounter()
  /// The number of telemetry events that a newer one replaced before the client could receive them.
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

/// A counter that any thread may change.
public final class ServiceCounter: Sendable {
  private let count = Atomic<UInt64>(0)

  init() {}

  /// The present value. It only grows, except for counters of open connections and clients.
  public var value: UInt64 { count.load(ordering: .relaxed) }

  func add(_ amount: UInt64) { count.wrappingAdd(amount, ordering: .relaxed) }
  func subtract(_ amount: UInt64) { count.wrappingSubtract(amount, ordering: .relaxed) }
}
