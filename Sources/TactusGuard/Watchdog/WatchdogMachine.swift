import Tactus

/// Decides when the guard opens, feeds, starves and disarms the hardware watchdog. It uses no descriptor and no clock.
///
///     closed ──opened──▶ fed ◀──heartbeats good, or a safe state confirmed──▶ starving
///       ▲  │              │ ended in the safe state                              │ gave up
///       └──┘ not opened   ▼                                                      ▼
///        every 0.2 s    finished, disarmed                                    finished, counting: the board resets
///
/// The watchdog is fed while the program is under control (`GuardMachine.State.watching`), and while every output is confirmed to
/// be safe although the program is not (`holding`). It is not fed while a safe state has to be written and is not confirmed.
public struct WatchdogMachine: Sendable, Equatable {
  /// The state of the watchdog's device.
  public enum State: Sendable, Equatable {
    /// The device is not open; the next attempt is due at this instant.
    case closed(retry: TickInstant)
    /// The device is open; the next feeding is due at this instant, if the guard's state permits it.
    case fed(next: TickInstant)
    /// The device is open and not fed. The board resets when the timeout has passed since the last feeding.
    case starving
    /// The guard has ended, and nothing more is done.
    case finished
  }

  /// An event of the guard or of the device.
  public enum Event: Sendable, Equatable {
    /// The guard's state is to be checked again.
    case look(GuardMachine.State)
    /// The device is open, with this timeout in effect.
    case opened(timeout: Nanoseconds)
    /// Opening the device failed.
    case notOpened
    /// The guard ends. `isSafe` is true if the guard was dismissed or every output is confirmed to be in its safe state.
    case ended(isSafe: Bool)
  }

  /// The action to be taken on the device.
  public enum Action: Sendable, Equatable {
    /// The feeder has nothing to do.
    case none
    /// The feeder must open the device, then call `step` with `opened` or `notOpened`.
    case open
    /// The feeder must feed the watchdog, which restarts its timeout.
    case feed
    /// The feeder must stop the watchdog and close the device.
    case disarm
  }

  /// The pause between two attempts to open the device.
  public static let retryPause = Nanoseconds.milliseconds(200)

  /// The present state, as in the diagram above.
  public private(set) var state: State
  private var period = Nanoseconds.seconds(1)

  /// Creates a machine whose device is not open yet.
  ///
  /// - Parameter now: the instant of the first look, at which the device is opened.
  public init(at now: TickInstant) { state = .closed(retry: now) }

  /// Decides what to do after `event`.
  public mutating func step(_ event: Event, at now: TickInstant) -> Action {
    switch (state, event) {
    case (.finished, _): return .none
    case (.closed(let retry), .look): return now >= retry ? .open : .none
    case (.closed, .opened(let timeout)):
      // The watchdog is fed four times in each timeout, and at least once a second.
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
    // These pairs are impossible: the watchdog is opened only when that was requested.
    case (.fed, .opened), (.fed, .notOpened), (.starving, .opened), (.starving, .notOpened):
      preconditionFailure("\(event) in \(state)")
    }
  }

  /// The latest instant of the next look, or `nil` if none is due without an event.
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
