/// The rule for a program that runs as a child of another one: started, killed when it hangs, started again when it has ended. Knows no process and
/// no clock.
///
///     waiting ──due──▶ running ──ended──▶ waiting
///                        │  silence: kill, then as ended
///                        │  replace: kill, then started at once
///     any ──stop──▶ stopping ──ended, or too late──▶ stopped
///
/// The pause grows from half a second to `longestPause`, and is short again after a process has lived for `provenAfter`.
public struct SupervisionMachine: Sendable, Equatable {
  /// Where the child's life stands.
  public enum State: Sendable, Equatable {
    /// Since the parent's start, or since a process has ended for this cause.
    case waiting(until: TickInstant, cause: String?)
    /// It runs, and has said something then.
    case running(since: TickInstant, lastHeard: TickInstant)
    /// SIGKILL is on its way.
    case killing(since: TickInstant, cause: String)
    /// The same, for one that did nothing wrong; late: it should have ended by now, and hangs in a driver.
    case replacing(since: TickInstant, isLate: Bool)
    /// The parent stops; SIGKILL is on its way.
    case stopping(since: TickInstant)
    /// Nothing is started any more. A process that hangs in a driver may be left: it ends when the driver lets it.
    case stopped
  }

  /// What the machine is told.
  public enum Event: Sendable, Equatable {
    /// A deadline may have come.
    case time
    /// The process has said something.
    case heard
    /// The process has ended, or could not be started.
    case ended(String)
    /// What the process says makes no sense.
    case nonsense(String)
    /// Another is to run, with other settings.
    case replace
    /// The parent stops.
    case stop
  }

  /// What is to be done with the child.
  public enum Action: Sendable, Equatable {
    /// Nothing.
    case none
    /// A start that fails comes back as `ended`.
    case spawn
    /// SIGKILL is to be sent.
    case kill
    /// What people are told of it is another.
    case tell
  }

  /// How long a process that says something every half second may say nothing.
  public static let silenceLimit = Nanoseconds.seconds(5)
  /// From SIGKILL to the end of a process that hangs in no driver, and more.
  public static let endLimit = Nanoseconds.seconds(1)
  /// Between the first end and the start after it.
  public static let shortestPause = Nanoseconds.milliseconds(500)
  /// Between two of many starts of a process that ends soon.
  public static let longestPause = Nanoseconds.seconds(30)
  /// How long a process has lived whose end is followed by the shortest pause.
  public static let provenAfter = Nanoseconds.seconds(30)

  /// The present state.
  public private(set) var state: State
  /// How often it was started.
  public private(set) var starts: Int64 = 0
  /// Of `starts`, ended for whatever cause.
  public private(set) var ends: Int64 = 0
  private var pause = Self.shortestPause
  private let silence: Nanoseconds?

  /// At first no process runs, and one is started at once.
  ///
  /// - Parameters:
  ///   - now: the present instant.
  ///   - silence: how long the process may say nothing, more than 0, or `nil` if it need not say anything.
  public init(at now: TickInstant, silence: Nanoseconds? = Self.silenceLimit) {
    state = .waiting(until: now, cause: nil)
    self.silence = silence
  }

  /// Takes an event.
  ///
  /// - Returns: what is to be done with the child.
  public mutating func step(_ event: Event, at now: TickInstant) -> Action {
    switch (state, event) {
    case (.waiting, .stop):
      state = .stopped
      return .none
    case (.running, .stop), (.killing, .stop), (.replacing, .stop):
      // Again, if it has been killed before: that does no harm.
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
      // What it ended of may be mended.
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

  /// When `time` is due, or `nil` if only the process's end is waited for.
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
