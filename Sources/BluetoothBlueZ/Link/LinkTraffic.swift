import Synchronization

/// Counts of the messages and connections of a link since it was created, modulo 2⁶⁴.
public struct LinkTraffic: Sendable, Hashable {
  /// The number of messages that were delivered to the loop.
  public internal(set) var received: UInt64 = 0
  /// The number of messages that did not reach the loop, because it was behind or they were longer than `MessageLink.mostBytes`.
  public internal(set) var refused: UInt64 = 0
  /// The number of messages of the loop that were passed to BlueZ.
  public internal(set) var sent: UInt64 = 0
  /// The number of messages of the loop that were not sent, because no client has subscribed, BlueZ is behind, or they were too long.
  public internal(set) var dropped: UInt64 = 0
  /// The number of connections.
  public internal(set) var connections: UInt64 = 0

  /// Creates the counts of a new link, which are all 0.
  public init() {}
}

#if Bluetooth
  /// The state of a link's thread as other threads see it.
  final class LinkReport<State: Sendable & Equatable>: Sendable {
    private let current: Mutex<(state: State, traffic: LinkTraffic)>
    private let report: @Sendable (State) -> Void

    init(_ state: State, _ report: @escaping @Sendable (State) -> Void) {
      current = Mutex((state, LinkTraffic()))
      self.report = report
    }

    var state: State { current.withLock { $0.state } }
    var traffic: LinkTraffic { current.withLock { $0.traffic } }

    /// Sets the state and reports it if it has changed.
    func show(_ state: State) {
      let isNews = current.withLock { current in
        defer { current.state = state }
        return current.state != state
      }
      if isNews { report(state) }
    }

    func count(_ update: (inout LinkTraffic) -> Void) { current.withLock { update(&$0.traffic) } }
  }
#endif
