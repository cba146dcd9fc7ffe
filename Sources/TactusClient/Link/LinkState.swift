/// How an app is connected with its daemon.
public enum LinkState: Equatable, Sendable {
  /// How news come.
  public enum Way: Equatable, Sendable {
    /// By WebSocket, at once.
    case socket
    /// By asking every 3 s, since the WebSocket cannot be had.
    case polling
  }

  /// Nothing is tried: before `start`, after `stop`, and in the background.
  case idle
  /// The first connection is being made.
  case connecting
  /// News come in.
  case live(Way)
  /// The daemon is not reached, and is tried again. What is shown is old: see `DaemonModel.age`.
  case lost(ClientError)
  /// The daemon does not take the token. It is not tried again before `DaemonModel.use(token:)` or `start`.
  case refused(Refusal)

  /// Whether news come in.
  public var isLive: Bool { if case .live = self { true } else { false } }
}
