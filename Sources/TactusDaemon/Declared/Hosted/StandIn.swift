import Service
import Tactus

/// The mailboxes and the door of a declared system around a loop and a desk that are made elsewhere, without a bench
/// and a file. It is for parts of a swarm and for tests, which bring their own hardware, store and clock.
public final class StandIn<System: Serves> {
  private let (wiring, rules): (System.Wiring, System.Rules)
  private let loops: HostedDoor<System>.Loops
  private let requests: HostedDoor<System>.Requests
  private var door: HostedDoor<System>?

  /// Makes the mailboxes, with the defaults of all keys unless values are given.
  ///
  /// - Parameters:
  ///   - ring: wakes the loop after a request; unless given the bell of the mailbox is rung.
  ///   - now: returns the time on the loop's clock. Called from any thread.
  /// - Throws: `RuntimeError.system` if the process or the machine has no free descriptor.
  public init(
    _: System.Type, _ wiring: System.Wiring = .init(), _ rules: System.Rules = .init(),
    ring: (@Sendable () -> Void)? = nil, now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) throws(RuntimeError) {
    (self.wiring, self.rules) = (wiring, rules)
    loops = try HostedDoor<System>.mailboxes(
      state: System.firstState(wiring, rules), rules: System.loopRules(wiring, rules))
    requests = HostedDoor<System>.requests(of: System.name, loops, ring: ring, now: now)
  }

  /// Returns the loop's ends of the mailboxes, for the one loop that publishes the state.
  ///
  /// - Parameter requestBell: the bell that is rung after a request in simulated time.
  public func ends(requestBell: DoorbellInput? = nil) -> System.Ends { loops.loopEnds(requestBell: requestBell) }

  /// Delivers the loop's answers as the main thread of a daemon does. Returns the events of the loop's notices.
  @discardableResult
  public func takeAnswers(at now: TickInstant) -> [Event] {
    door?.takeAnswers(at: now)
    return door?.takeNotices().compactMap { door?.edge($0) } ?? []
  }

  /// The version of the state, which grows whenever the loop publishes.
  public var version: LatestVersion { loops.state.version }

  /// A function that returns the state that the loop has last published. It may be called from any thread.
  public var newest: @Sendable () -> Published<System.State> {
    let state = loops.state
    return {
      var reader = state.reader()
      return reader.read()
    }
  }

  /// Returns the system as the service and the broker see it, and its participant on the broker, or `nil` if it uses no
  /// additional topics there.
  ///
  /// - Parameters:
  ///   - parts: the values that `Look.shared` finds.
  ///   - clock: the wall clock.
  public func serve(
    _ desk: System.Desk, sharing parts: any Sendable..., clock: WatchedWallClock = WatchedWallClock()
  ) -> (system: any ServedSystem & MetricSource, participant: (any BrokerParticipant)?) {
    let shared = SharedParts()
    for part in parts { shared.add(part) }
    let beside = HostedDesk<System>(System.name, desk, wiring, clock, requests, newest: newest)
    let door = HostedDoor<System>(
      loops, at: System.onlyPlace, beside: beside, requests: requests, notices: loops.noticeReader(),
      look: { [wiring, rules] now in
        Look(name: System.name, wiring: wiring, rules: rules, now: now, parts: shared)
      })
    self.door = door
    return (door, beside.participant)
  }
}

extension StandIn where System: OrdersLoop {
  /// Returns the object by which the desk sends orders to the loop; see `DeskMaterial.orders`.
  public func orders(
    makesSafe: @escaping @Sendable (System.Order) -> Bool, mayBeLate: @escaping @Sendable (System.Order) -> Bool,
    part: @escaping @Sendable (System.Order) -> SystemPart? = { _ in .whole }
  ) -> LoopOrders<System.Order, System.Refusal> {
    LoopOrders(requests, of: System.name, makesSafe: makesSafe, mayBeLate: mayBeLate, part: part)
  }
}
