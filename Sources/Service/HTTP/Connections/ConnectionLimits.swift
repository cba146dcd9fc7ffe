import NIOCore

/// The share of the service that a single connection, a single address and all connections together may take.
public struct ConnectionLimits: Sendable {
  /// The greatest number of open connections that have shown a token. A request beyond that number is answered with 503.
  public var connections: Int
  /// The number of `connections` that one address (IPv6: /64) other than loopback may have, so that one device cannot shut out the others.
  public var connectionsOfOneNetwork = 512
  /// The number of `connections` reserved for callers whose token allows them to stop.
  public var placesForStopping: Int
  /// The greatest number of connections without a token, which do not count among `connections`: this many from
  /// loopback, where a reverse proxy may be, and as many from the network. Half of them are kept for at least
  /// `strangerHeadTime`.
  public var strangers: Int
  /// The number of `strangers` that one address (IPv6: /64) of the network may have.
  public var strangersOfOneNetwork: Int
  /// The greatest number of connections without a token that were accepted while descriptors were running out.
  public var strangersInScarcity = 4
  /// The time for which a connection without a token is safe from being closed to make room for another, while its request is awaited or answered.
  public var strangerHeadTime: TimeAmount = .seconds(2)
  /// The time without traffic after which a connection without a token is closed.
  public var strangerIdleTime: TimeAmount = .seconds(10)
  /// The greatest number of descriptors that the process may have open.
  public var descriptors = Int.max
  /// The number of `descriptors` reserved for connections that may stop, and for files that the daemon opens meanwhile.
  public var descriptorsKept = 16
  /// The greatest number of bytes of request bodies held at a time by all connections together.
  public var bodyBytes = 4 << 20
  /// The greatest number of bytes that wait for clients to read them, of all connections together; a single connection may have more. Beyond it the
  /// client that has read nothing for the longest time is closed. An event counts once for each client that it waits for.
  public var outgoingBytes = 32 << 20
  /// The greatest length in bytes of one header field, name and value together, and of the request's target.
  public var headerFieldBytes = 8 * 1024
  /// The greatest length in bytes of all header fields and the request's target together.
  public var headerBytes = 16 * 1024
  /// The greatest number of header fields in a request; a request with more is answered with 431.
  public var headerFields = 64
  /// The time limit from a request's first byte to the end of its head.
  public var headTime: TimeAmount = .seconds(10)
  /// The time limit from the end of a request's head to the end of its body.
  public var bodyTime: TimeAmount = .seconds(60)
  /// The time after which a connection is closed if no byte was received and no answer sent.
  public var idleTime: TimeAmount = .seconds(60)
  /// The time for which a closing connection is still read, so that a reset does not overtake the answer.
  public var lingerTime: TimeAmount = .seconds(1)
  /// The time for which a closing connection is read from while descriptors are running out, because other connections wait for its descriptor.
  public var lingerTimeInScarcity: TimeAmount = .milliseconds(100)
  /// The limits of each WebSocket client.
  public var webSocket = WebSocketLimits()

  /// Derives the numbers of reserved places and of places without a token from `connections`: an eighth of it, within
  /// 1…64 for stopping (0 if there is a single connection) and within 8…256 for connections without a token.
  public init(connections: Int = 2048) {
    self.connections = connections
    placesForStopping = connections > 1 ? max(1, min(64, connections / 8)) : 0
    strangers = max(8, min(256, connections / 8))
    strangersOfOneNetwork = max(4, strangers / 4)
  }

  /// The greatest number of connections of all kinds that may be open at a time.
  public var most: Int { connections + 2 * strangers }
}

/// The limits of a single WebSocket client.
public struct WebSocketLimits: Sendable {
  /// The greatest length of a message in bytes, all fragments together.
  public var messageBytes = 64 * 1024
  /// The greatest number of frames of one read that are taken at once; those behind them wait for turns.
  public var framesAtOnce = 64
  /// The greatest number of bytes in the frames that are taken at once.
  public var bytesAtOnce = 4 * 1024
  /// The greatest number of events that wait for a client that does not read.
  public var queuedEvents = 256
  /// The greatest number of bytes of waiting events.
  public var queuedBytes = 1 << 20
  /// The size of the socket's send buffer in bytes; the kernel's automatic size would hide megabytes of delay.
  public var socketBufferBytes = 128 * 1024
  /// The time between two pings. A client's silence is noticed only when a ping is due, so up to this much later.
  public var pingInterval: TimeAmount = .seconds(20)
  /// The time without a frame from the client after which the connection is closed.
  public var silence: TimeAmount = .seconds(60)
  /// The greatest delay between the revocation of a token and the end of its connection.
  public var tokenCheckInterval: TimeAmount = .seconds(1)
  /// The time from sending the close frame to closing the connection without the client's answer.
  public var closeTime: TimeAmount = .seconds(1)
  /// The greatest number of e-stops and resets of one client in progress at a time.
  public var actionsInProgress = 8

  /// Makes the limits that the daemon uses.
  public init() {}
}
