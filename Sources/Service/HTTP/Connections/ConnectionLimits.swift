import NIOCore

/// How much of the service one connection, one address and all of them may take.
public struct ConnectionLimits: Sendable {
  /// Greatest number of open connections that have shown a token. A request beyond it is answered 503.
  public var connections: Int
  /// How many of `connections` one address (IPv6: /64) other than loopback may have, so that one device cannot shut out the others.
  public var connectionsOfOneNetwork = 512
  /// How many of `connections` are kept for tokens that may stop.
  public var placesForStopping: Int
  /// Greatest number of connections without a token, besides `connections`: this many from loopback, where a reverse proxy may be, and as many
  /// from the network. Half of them are kept for at least `strangerHeadTime`.
  public var strangers: Int
  /// How many of `strangers` one address (IPv6: /64) of the network may have.
  public var strangersOfOneNetwork: Int
  /// Greatest number of connections without a token that came while descriptors ran out.
  public var strangersInScarcity = 4
  /// How long a connection without a token is not closed to make room for another, while its request is awaited or answered.
  public var strangerHeadTime: TimeAmount = .seconds(2)
  /// How long a connection without a token may be silent.
  public var strangerIdleTime: TimeAmount = .seconds(10)
  /// Greatest number of descriptors that the process may have open.
  public var descriptors = Int.max
  /// How many of `descriptors` are kept for connections that may stop, and for what the daemon opens meanwhile.
  public var descriptorsKept = 16
  /// Bytes of requests' bodies that are held at a time, all connections together.
  public var bodyBytes = 4 << 20
  /// One header field, name and value; the request's target is bound by it too.
  public var headerFieldBytes = 8 * 1024
  /// All header fields and the request's target.
  public var headerBytes = 16 * 1024
  /// Greatest number of header fields in a request; beyond it the answer is 431.
  public var headerFields = 64
  /// From a request's first byte to the end of its head.
  public var headTime: TimeAmount = .seconds(10)
  /// From the end of a request's head to the end of its body.
  public var bodyTime: TimeAmount = .seconds(60)
  /// Without a byte in or an answer out.
  public var idleTime: TimeAmount = .seconds(60)
  /// A closing connection is read from for this long, so that a reset does not overtake the answer.
  public var lingerTime: TimeAmount = .seconds(1)
  /// The same while descriptors run out: others wait for this one.
  public var lingerTimeInScarcity: TimeAmount = .milliseconds(100)
  /// For each WebSocket client.
  public var webSocket = WebSocketLimits()

  /// Derives the places for stopping and those without a token from `connections`: an eighth of it, 1 to 64 for stopping (of a
  /// single connection none) and 8 to 256 without a token.
  public init(connections: Int = 2048) {
    self.connections = connections
    placesForStopping = connections > 1 ? max(1, min(64, connections / 8)) : 0
    strangers = max(8, min(256, connections / 8))
    strangersOfOneNetwork = max(4, strangers / 4)
  }

  /// All connections that may be open at a time.
  public var most: Int { connections + 2 * strangers }
}

/// How much one WebSocket client may take.
public struct WebSocketLimits: Sendable {
  /// One message, all its fragments together.
  public var messageBytes = 64 * 1024
  /// Events that wait for a client that does not read.
  public var queuedEvents = 256
  /// Bytes of them.
  public var queuedBytes = 1 << 20
  /// The socket's own buffer; the kernel's automatic one would hide megabytes of delay.
  public var socketBufferBytes = 128 * 1024
  /// Between two pings. Silence is noticed only when a ping is due, so up to this much later.
  public var pingInterval: TimeAmount = .seconds(20)
  /// Without a frame from the client.
  public var silence: TimeAmount = .seconds(60)
  /// How soon a connection ends after its token has been revoked, at most.
  public var tokenCheckInterval: TimeAmount = .seconds(1)
  /// From our close frame to a hard close.
  public var closeTime: TimeAmount = .seconds(1)
  /// E-stops and resets of one client that are still being carried out.
  public var actionsInProgress = 8

  /// The limits that the daemon uses.
  public init() {}
}
