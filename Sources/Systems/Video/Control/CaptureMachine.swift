import Tactus

/// The rule that decides when camera and encoder run: while their frames are wanted, and again after every failure. The machine accesses
/// neither a camera nor a clock.
///
///     idle ──wanted──▶ starting ──frame──▶ running ──unwanted──▶ lingering ──5 s, or silence──▶ idle
///                        ▲   │                │ ▲                   │
///                        │   └── failure, ────┤ └──────wanted───────┘
///                        │       silence      ▼
///                        └─────pause───── waiting ──unwanted──▶ idle
///
/// The pause after a failure grows from half a second to `longestPause`, and is short again after the camera has run for `provenAfter`.
/// The pause ends at once when the last viewer leaves, so that it never delays a viewer who comes later.
public struct CaptureMachine: Sendable, Equatable {
  public enum State: Sendable, Equatable {
    case idle
    case starting(since: TickInstant)
    case running(since: TickInstant, lastFrame: TickInstant)
    /// The last viewer has left. The camera stays on for a while, because the next viewer may come soon and a start takes long.
    case lingering(since: TickInstant, until: TickInstant, lastFrame: TickInstant)
    case waiting(until: TickInstant, cause: String)
  }

  public enum Event: Sendable, Equatable {
    /// Frames are wanted from now on, or no longer wanted.
    case wanted(Bool)
    /// Encoded frames have come since the last event.
    case frames
    /// The pipeline has failed or could not be created.
    case failed(String)
    case time
  }

  public enum Action: Sendable, Equatable {
    case none
    /// A pipeline is to be created and started. An error is reported back as `failed`.
    case start
    case stop
  }

  /// The time after which a camera without a first frame counts as failed. A slow start (libcamera: a second or two) is not a failure.
  public static let startLimit = Nanoseconds.seconds(10)
  /// The time without a frame after which a running camera counts as failed.
  public static let silenceLimit = Nanoseconds.seconds(5)
  public static let linger = Nanoseconds.seconds(5)
  public static let shortestPause = Nanoseconds.milliseconds(500)
  public static let longestPause = Nanoseconds.seconds(30)
  public static let provenAfter = Nanoseconds.seconds(10)

  public private(set) var state = State.idle
  public private(set) var isWanted = false
  public private(set) var failures: Int64 = 0
  private var pause = Self.shortestPause

  public init() {}

  public mutating func step(_ event: Event, at now: TickInstant) -> Action {
    if case .wanted(let isWanted) = event { self.isWanted = isWanted }
    switch (state, event) {
    case (.idle, .wanted(true)):
      state = .starting(since: now)
      return .start
    case (.idle, _): return .none

    case (.waiting, .wanted(false)):
      state = .idle
      return .none
    case (.waiting(let until, _), _):
      guard now >= until else { return .none }
      state = .starting(since: now)
      return .start

    case (_, .failed(let cause)): return fail(cause, at: now)

    case (.starting(let since), .frames):
      state = .running(since: since, lastFrame: now)
      return isWanted ? .none : leave(since: since, lastFrame: now, at: now)
    case (.starting(let since), _):
      guard now - since < Self.startLimit else { return fail("no frame within \(Self.startLimit)", at: now) }
      return .none

    case (.running(let since, _), .frames):
      state = .running(since: since, lastFrame: now)
      return .none
    case (.running(let since, let last), .wanted(false)): return leave(since: since, lastFrame: last, at: now)
    case (.running(_, let last), _):
      guard now - last < Self.silenceLimit else { return fail("no frame for \(Self.silenceLimit)", at: now) }
      return .none

    case (.lingering(let since, _, let last), .wanted(true)):
      state = .running(since: since, lastFrame: last)
      return .none
    case (.lingering(let since, let until, _), .frames):
      state = .lingering(since: since, until: until, lastFrame: now)
      return now >= until ? rest() : .none
    case (.lingering(_, let until, let last), _):
      guard now < until else { return rest() }
      guard now - last < Self.silenceLimit else { return fail("no frame for \(Self.silenceLimit)", at: now) }
      return .none
    }
  }

  /// The instant at which the event `time` is due, or `nil` in the idle state, which has no deadline.
  public var nextDeadline: TickInstant? {
    switch state {
    case .idle: nil
    case .starting(let since): since + Self.startLimit
    case .running(_, let last): last + Self.silenceLimit
    case .lingering(_, let until, let last): min(until, last + Self.silenceLimit)
    case .waiting(let until, _): until
    }
  }

  private mutating func leave(since: TickInstant, lastFrame: TickInstant, at now: TickInstant) -> Action {
    state = .lingering(since: since, until: now + Self.linger, lastFrame: lastFrame)
    return .none
  }

  private mutating func rest() -> Action {
    state = .idle
    pause = Self.shortestPause
    return .stop
  }

  private mutating func fail(_ cause: String, at now: TickInstant) -> Action {
    failures += 1
    switch state {
    case .running(let since, _) where Self.provenAfter <= now - since: pause = Self.shortestPause
    default: break
    }
    guard isWanted else {
      state = .idle
      return .stop
    }
    state = .waiting(until: now + pause, cause: cause)
    pause = min(pause * 2, Self.longestPause)
    return .stop
  }

  /// Returns the time from `now` to the end of the pause; zero unless the state is `waiting`.
  public func pauseLeft(at now: TickInstant) -> Nanoseconds {
    guard case .waiting(let until, _) = state else { return .zero }
    return max(.zero, until - now)
  }
}
