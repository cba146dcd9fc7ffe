/// The guard's rule: what to do when the daemon is silent, gone or back. Knows no descriptor and no clock.
///
///     watching ──silence──▶ writing(lapse) ──confirmed──▶ holding ──silence──▶ writing(lapse)
///        ▲  │                   │    ▲ │                     │
///        │  │                   │    │ └─failed─▶ retrying ──┘ (silence: write again)
///        │  └──────closed───────┼────┼──▶ writing(death) ──confirmed──▶ finished
///        └──────heartbeat───────┴────┴── from retrying(lapse) and holding
///
/// A goodbye finishes it in every state: the daemon says it only after its own stop was confirmed.
struct GuardMachine: Equatable {
  enum Cause: String, Equatable {
    /// The daemon exited or was killed: its end of the socket closed without a goodbye.
    case death
    /// No heartbeat for the time-out: the daemon hangs, is stopped, or its control loop no longer advances.
    case lapse
  }

  enum State: Equatable {
    case watching
    case writing(Cause, attempt: Int)
    case retrying(Cause, attempt: Int)
    /// Safe, the daemon silent but alive: the safe state is written again after every further time-out.
    case holding
    case finished
  }

  enum Event: Equatable {
    case heartbeat, goodbye, closed
    /// The wait asked for is over and nothing came.
    case silence
    /// Every safe-state write was acknowledged.
    case confirmed
    case failed
  }

  enum Action: Equatable {
    case wait(milliseconds: Int)
    /// Write the safe state, then step with `confirmed` or `failed`.
    case write
    case finish(status: Int)
  }

  /// Heartbeats further apart than this mean trouble.
  let timeoutMilliseconds: Int
  private(set) var state = State.watching

  /// After a death the guard gives up after this many attempts, about a minute: a later daemon must not find an old
  /// guard stopping its motors.
  static let attemptsAfterDeath = 170

  init(timeoutMilliseconds: Int) {
    self.timeoutMilliseconds = timeoutMilliseconds
  }

  mutating func step(_ event: Event) -> Action {
    switch (state, event) {
    case (.finished, _): return .finish(status: 0)
    case (_, .goodbye): return finish(status: 0)
    case (.writing(let cause, let attempt), .confirmed): return confirmed(cause, attempt)
    case (.writing(.death, Self.attemptsAfterDeath...), .failed): return finish(status: 1)
    case (.writing(let cause, let attempt), .failed):
      state = .retrying(cause, attempt: attempt)
      return .wait(milliseconds: Self.pause(after: attempt))
    case (.retrying(let cause, let attempt), .silence): return write(cause, attempt: attempt + 1)
    case (.retrying(.death, let attempt), _): return .wait(milliseconds: Self.pause(after: attempt))
    case (.watching, .silence), (.holding, .silence): return write(.lapse, attempt: 1)
    case (_, .closed): return write(.death, attempt: 1)
    case (.watching, .heartbeat), (.holding, .heartbeat), (.retrying(.lapse, _), .heartbeat):
      state = .watching
      return .wait(milliseconds: timeoutMilliseconds)
    // Impossible: a write is answered before anything else is asked, and answered only when asked.
    case (.writing, _), (_, .confirmed), (_, .failed): preconditionFailure("\(event) in \(state)")
    }
  }

  private mutating func confirmed(_ cause: Cause, _ attempt: Int) -> Action {
    if cause == .death { return finish(status: 0) }
    state = .holding
    return .wait(milliseconds: timeoutMilliseconds)
  }

  private mutating func write(_ cause: Cause, attempt: Int) -> Action {
    state = .writing(cause, attempt: attempt)
    return .write
  }

  private mutating func finish(status: Int) -> Action {
    state = .finished
    return .finish(status: status)
  }

  /// 20 ms for the first second, then half a second.
  private static func pause(after attempt: Int) -> Int { attempt < 50 ? 20 : 500 }
}
