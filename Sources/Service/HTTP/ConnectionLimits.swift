import NIOCore

/// How much of the door one connection, one address and all of them may take.
public struct ConnectionLimits: Sendable {
  /// Open connections. Beyond them a connection is accepted, told 503 and closed: a client that waits in the kernel's backlog
  /// does not know why.
  public var connections: Int
  /// Of them, for one address other than loopback, so that one device cannot shut out the others.
  public var connectionsOfOneAddress = 512
  /// One header field, name and value; the request's target is bound by it too.
  public var headerFieldBytes = 8 * 1024
  /// All header fields and the request's target.
  public var headerBytes = 16 * 1024
  public var headerFields = 64
  /// From a request's first byte to the end of its head.
  public var headTime: TimeAmount = .seconds(10)
  /// From the end of a request's head to the end of its body.
  public var bodyTime: TimeAmount = .seconds(60)
  /// Without a byte in or an answer out.
  public var idleTime: TimeAmount = .seconds(60)
  /// A closing connection is read from for this long, so that a reset does not overtake the answer.
  public var lingerTime: TimeAmount = .seconds(1)
  public var webSocket = WebSocketLimits()

  public init(connections: Int = 2048) { self.connections = connections }
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
  public var pingInterval: TimeAmount = .seconds(20)
  /// Without a frame from the client.
  public var silence: TimeAmount = .seconds(60)
  /// How soon a connection ends after its token has been revoked, at most.
  public var tokenCheckInterval: TimeAmount = .seconds(1)
  /// From our close frame to a hard close.
  public var closeTime: TimeAmount = .seconds(1)
  /// E-stops and resets of one client that are still being carried out.
  public var actionsInProgress = 8

  public init() {}
}
