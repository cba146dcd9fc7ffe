/// The rule for a program that runs as a child of another one: the child is started, killed when it hangs, and started
/// again after it has ended. The machine itself accesses neither a process nor a clock.
///
///     waiting ──due──▶ running ──ended──▶ waiting
///                        │  silence: kill, then as ended
///                        │  replace: kill, then started at once
///     any ──stop──▶ stopping ──ended, or too late──▶ stopped
///
/// The pause grows from half a second to `longestPause`, and is short again after a process has lived for `provenAfter`.
public struct SupervisionMachine: Sendable, Equatable {
  /// The state of the child process.
  public enum State: Sendable, Equatable {
    /// No process runs. The next one is started at `until`; `cause` is why the last one ended, `nil` before the first one.
    case waiting(until: TickInstant, cause: String?)
    /// The process has been running since `since`, and last sent a message at `lastHeard`.
    case running(since: TickInstant, lastHeard: TickInstant)
    /// SIGKILL has been sent to a process that hung or sent invalid bytes, and the process has not ended yet.
    case killing(since: TickInstant, cause: String)
    /// SIGKILL has been sent for a change of settings. `isLate` is set if the process has not ended within `endLimit`,
    /// which means that it hangs in a driver.
    case replacing(since: TickInstant, isLate: Bool)
    /// The parent is stopping. SIGKILL has been sent, and the process has not ended yet.
    case stopping(since: TickInstant)
    /// No process is started any more. One that hangs in a driver may still be there; it ends when the driver lets it.
    case stopped
  }

  /// An event that the parent reports to the machine.
  public enum Event: Sendable, Equatable {
    /// The current time is reported, since a deadline may have come.
    case time
    /// The process has sent a message.
    case heard
    /// The process has ended, or could not be started.
    case ended(String)
    /// The process has sent bytes that are not a message.
    case nonsense(String)
    /// The process is to be replaced by one with other settings.
    case replace
    /// The parent is stopping.
    case stop
  }

  /// An action that the parent must take on the child.
  public enum Action: Sendable, Equatable {
    /// The parent has nothing to do.
    case none
    /// The parent has to start a process. If the start fails, the parent reports `ended`.
    case spawn
    /// The parent has to send SIGKILL.
    case kill
    /// The parent has to publish the state, because it has changed.
    case tell
  }

  /// The longest silence of a process that is expected to send a message every half second.
  public static let silenceLimit = Nanoseconds.seconds(5)
  /// The time after SIGKILL within which a process ends unless it hangs in a driver.
  public static let endLimit = Nanoseconds.seconds(1)
  /// The first pause between the end of a process and the next start; further pauses are longer.
  public static let shortestPause = Nanoseconds.milliseconds(500)
  /// The longest pause before a start, after many processes that ended soon.
  public static let longestPause = Nanoseconds.seconds(30)
  /// The lifetime from which on a process's end is followed by the shortest pause.
  public static let provenAfter = Nanoseconds.seconds(30)

  /// The present state.
  public private(set) var state: State
  /// The number of processes that were started.
  public private(set) var starts: Int64 = 0
  /// The number of processes that have ended, whatever the cause.
  public private(set) var ends: Int64 = 0
  private var pause = Self.shortestPause
  private let silence: Nanoseconds?

  /// Creates a machine without a process, of which the first start is due at once.
  ///
  /// - Parameters:
  ///   - now: the present instant.
  ///   - silence: how long the process may say nothing, more than 0, or `nil` if it need not say anything.
  public init(at now: TickInstant, silence: Nanoseconds? = Self.silenceLimit) {
    state = .waiting(until: now, cause: nil)
    self.silence = silence
  }

  /// Handles an event at the instant `now`.
  ///
  /// - Returns: the action that the parent must take on the child.
  public mutating func step(_ event: Event, at now: TickInstant) -> Action {
    switch (state, event) {
    case (.waiting, .stop):
      state = .stopped
      return .none
    case (.running, .stop), (.killing, .stop), (.replacing, .stop):
      // A second SIGKILL for a process that is being killed does no harm.
      state = .stopping(since: now)
      return .kill
    case (.stopping, .ended):
      ends += 1
      state = .stopped
      return .none
    case (.stopping(let since), .time):
      if now - since >= Self.endLimit { state = .stopped }
      return .none
    case (.stopping, _), (.stopped, _): return .none

    case (.waiting(let until, _), .time):
      guard now >= until else { return .none }
      state = .running(since: now, lastHeard: now)
      starts += 1
      return .spawn
    case (.waiting(_, let cause), .replace):
      // Other settings may have removed the cause of the end, so the pause is over.
      state = .waiting(until: now, cause: cause)
      return .none
    case (.waiting, _): return .none

    case (.running(let since, _), .heard):
      state = .running(since: since, lastHeard: now)
      return .none
    case (.running(let since, let heard), .time):
      guard Mechanism.childSilence.acts, let silence, now - heard >= silence else { return .none }
      state = .killing(since: since, cause: "it said nothing for \(silence) and was killed")
      return .kill
    case (.running(let since, _), .nonsense(let reason)):
      state = .killing(since: since, cause: "it was killed for what it said: \(reason)")
      return .kill
    case (.running, .replace):
      state = .replacing(since: now, isLate: false)
      return .kill
    case (.running(let since, _), .ended(let cause)): return rest(since, cause, at: now)

    case (.killing(let since, let cause), .ended): return rest(since, cause, at: now)
    case (.killing, _): return .none

    case (.replacing, .ended):
      ends += 1
      state = .waiting(until: now, cause: nil)
      return .none
    case (.replacing(let since, isLate: false), .time):
      guard now - since >= Self.endLimit else { return .none }
      state = .replacing(since: since, isLate: true)
      return .tell
    case (.replacing, _): return .none
    }
  }

  /// The instant at which the event `time` is due, or `nil` if the machine waits for the process's end only.
  public var nextDeadline: TickInstant? {
    switch state {
    case .waiting(let until, _): until
    case .running(_, let heard): Mechanism.childSilence.acts ? silence.map { heard + $0 } : nil
    case .replacing(let since, isLate: false): since + Self.endLimit
    case .stopping(let since): since + Self.endLimit
    case .killing, .replacing, .stopped: nil
    }
  }

  private mutating func rest(_ since: TickInstant, _ cause: String, at now: TickInstant) -> Action {
    ends += 1
    if Self.provenAfter <= now - since { pause = Self.shortestPause }
    state = .waiting(until: now + pause, cause: cause)
    pause = min(pause * 2, Self.longestPause)
    return .none
  }
}
