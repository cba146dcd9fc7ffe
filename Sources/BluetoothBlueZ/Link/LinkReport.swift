#if Bluetooth
  import Synchronization

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
