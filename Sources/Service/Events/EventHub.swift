/// Hands events to every WebSocket client that wants them. Never waits for one.
public final class EventHub: Sendable {
  public init() {}

  /// Any thread; returns at once.
  public func publish(_ events: [Event]) {}
}
