import Tactus

/// Decides when the guard opens, feeds, starves and disarms the machine's hardware watchdog. Knows no descriptor and no clock.
///
///     closed ──opened──▶ fed ◀──heartbeats good, or a safe state confirmed──▶ starving
///       ▲  │              │ ended in the safe state                              │ gave up
///       └──┘ not opened   ▼                                                      ▼
///        every 0.2 s    finished, disarmed                                    finished, counting: the board resets
///
/// It is fed while the program is under control (`GuardMachine.State.watching`) and while it is not, but every output is confirmed to be safe
/// (`holding`). It is not fed while a safe state is to be written and is not confirmed.
public struct WatchdogMachine: Sendable, Equatable {
  /// How it stands with the device.
  public enum State: Sendable, Equatable {
    /// Not open; the next attempt is due at this instant.
    case closed(retry: TickInstant)
    /// Open; the next feeding is due at this instant, if the guard has reason to.
    case fed(next: TickInstant)
    /// Open, and not fed: the board resets when the time-out has passed since the last feeding.
    case starving
    /// The guard has ended: nothing more is done.
    case finished
  }

  /// What happens to it.
  public enum Event: Sendable, Equatable {
    /// Look again: what the guard is doing.
    case look(GuardMachine.State)
    /// It is open, with this time-out in effect.
    case opened(timeout: Nanoseconds)
    /// Opening it failed.
    case notOpened
    /// The guard ends; `isSafe`: dismissed, or every output is confirmed to be in its safe state.
    case ended(isSafe: Bool)
  }

  /// What is to be done to the device.
  public enum Action: Sendable, Equatable {
    /// Nothing.
    case none
    /// Open it, then step with `opened` or `notOpened`.
    case open
    /// Feed it: its time-out begins anew.
    case feed
    /// Stop it and close it.
    case disarm
  }

  /// From an attempt to open it to the next.
  public static let retryPause = Nanoseconds.milliseconds(200)

  /// Where it is in the diagram above.
  public private(set) var state: State
  private var period = Nanoseconds.seconds(1)

  /// - Parameter now: it is opened at the first look.
  public init(at now: TickInstant) { state = .closed(retry: now) }

  /// Decides what to do after `event`.
  public mutating func step(_ event: Event, at now: TickInstant) -> Action {
    switch (state, event) {
    case (.finished, _): return .none
    case (.closed(let retry), .look): return now >= retry ? .open : .none
    case (.closed, .opened(let timeout)):
      // Four times in each time-out, and at least once a second.
      period = min(.seconds(1), Nanoseconds(timeout.count / 4))
      state = .fed(next: now + period)
      return .none
    case (.closed, .notOpened):
      state = .closed(retry: now + Self.retryPause)
      return .none
    case (.fed(let next), .look(let state)):
      guard Self.mayFeed(state) else {
        self.state = .starving
        return .none
      }
      return now >= next ? feed(at: now) : .none
    case (.starving, .look(let state)): return Self.mayFeed(state) ? feed(at: now) : .none
    case (_, .ended(let isSafe)):
      let isOpen = if case .closed = state { false } else { true }
      state = .finished
      return isOpen && (isSafe || !Mechanism.hardwareWatchdogLeft.acts) ? .disarm : .none
    // Impossible: it is opened only when that was asked for.
    case (.fed, .opened), (.fed, .notOpened), (.starving, .opened), (.starving, .notOpened):
      preconditionFailure("\(event) in \(state)")
    }
  }

  /// When the next look is due at the latest, or `nil` if none is without an event.
  public var nextDeadline: TickInstant? {
    switch state {
    case .closed(let instant), .fed(let instant): instant
    case .starving, .finished: nil
    }
  }

  private mutating func feed(at now: TickInstant) -> Action {
    state = .fed(next: now + period)
    return .feed
  }

  private static func mayFeed(_ state: GuardMachine.State) -> Bool {
    switch state {
    case .watching, .holding: Mechanism.hardwareWatchdogFed.acts
    case .writing, .retrying, .finished: !Mechanism.hardwareWatchdogStarved.acts
    }
  }
}
