import Tactus

/// An additional WebSocket of one system, beside `/ws`, on which clients speak the system's own protocol. Access,
/// lifetime and the limits of one client are those of `/ws`. When the WebSocket closes, the system is notified that the
/// client has left.
public struct SystemSocket: Sendable {
  /// The path, such as `/rosbridge`.
  public let path: String
  /// The subprotocol that the server selects if the client offers it. A browser that sends its token as another
  /// subprotocol, `bearer.TOKEN`, must offer it.
  let subprotocol: String
  let open: @Sendable (Caller, SocketLine) -> any SocketTalk

  /// Makes a WebSocket that is opened by `open` for each client with scope read.
  public init(
    _ path: String, subprotocol: String, open: @escaping @Sendable (Caller, SocketLine) -> any SocketTalk
  ) {
    (self.path, self.subprotocol, self.open) = (path, subprotocol, open)
  }
}

/// The daemon's side of one client of a `SystemSocket`.
///
/// The functions are called in the order of arrival on the client's event loop and must not block.
public protocol SocketTalk: AnyObject, Sendable {
  /// Takes a text message of at most 64 KiB.
  func receive(_ text: String)
  /// Does periodic work. The function is called 20 times a second while the client is connected.
  func beat()
}

/// The operations of a `SocketTalk` on its client. It may be used from any thread.
public struct SocketLine: Sendable {
  /// The number of messages of one kind that may be kept for a client that does not read.
  public static let longestQueue = 100

  let text: @Sendable (Outgoing) -> Void
  let action: @Sendable (_ name: String, _ error: APIError?) -> Void

  struct Outgoing: Sendable {
    let text: String
    let kind: String?
    let keeping: Int
  }

  /// Sends an answer. A client that leaves more than 256 messages unread is disconnected.
  public func answer(_ text: String) { self.text(Outgoing(text: text, kind: nil, keeping: 1)) }

  /// Sends a message of which only the newest count. While the client does not read, `keeping` (1…100) of each kind wait for it, and one more
  /// takes the oldest one's place.
  public func send(_ text: String, kind: String, keeping: Int) {
    self.text(Outgoing(text: text, kind: kind, keeping: max(1, min(keeping, Self.longestQueue))))
  }

  /// Writes a line about an action of this client, such as `robot.drive`, into the log, with the client's name and the result.
  public func note(_ action: String, _ error: APIError?) { self.action(action, error) }
}
