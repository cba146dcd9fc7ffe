import Tactus

/// Decides what the daemon does when its guard dies or hangs. Starts no process and reads no clock.
///
///     watching ──lost──▶ replacing ──ready──▶ watching
///         ▲                  │ failed, or not ready within 2 s
///         └──────ready── unguarded: every output is kept safe, another guard is tried every second
///
/// A guard that was lost more than ten times within a minute is `unguarded` at once: a guard that keeps dying protects nothing.
package struct GuardLossMachine: Sendable, Equatable {
  /// How a guard was lost.
  package enum Reason: String, Sendable, Equatable, CaseIterable {
    /// Its process ended.
    case died
    /// It did not answer heartbeats, and was killed.
    case hung
  }

  /// Whether there is a guard.
  package enum State: Sendable, Equatable {
    /// It watches.
    case watching
    /// Its successor is being started.
    case replacing(Reason, since: TickInstant)
    /// There is none, and outputs are kept safe. `retry`: when the next start is tried; `nil` while one is under way.
    case unguarded(Reason, retry: TickInstant?)
  }

  /// What happens to the guard, and the passing of time.
  package enum Event: Sendable, Equatable {
    case lost(Reason)
    /// The successor is ready.
    case ready
    /// No successor could be started.
    case failed
    /// Ten times a second.
    case beat
  }

  /// What to do next; both may be asked for.
  package struct Action: Sendable, Equatable {
    /// Start another guard, on the thread that does nothing else.
    package var replaces = false
    /// Stop every output: again at every beat, in case the stop has been reset meanwhile.
    package var makesSafe = false
  }

  /// How long a successor may take before the outputs are stopped.
  static let limit = Nanoseconds.seconds(2)
  /// From a start that failed to the next.
  static let pause = Nanoseconds.seconds(1)
  /// Losses within a minute, after which the next one stops the outputs.
  package static let mostLosses = 10

  /// Whether there is a guard.
  package private(set) var state = State.watching
  /// The losses of the last minute.
  private var losses: [TickInstant] = []

  /// The guard watches.
  package init() {}

  /// Decides what to do after `event`.
  package mutating func step(_ event: Event, at now: TickInstant) -> Action {
    switch (state, event) {
    case (.watching, .lost(let reason)): return lose(reason, at: now)
    case (.replacing(let reason, _), .failed), (.unguarded(let reason, _), .failed):
      state = .unguarded(reason, retry: now + Self.pause)
      return Self.unguarded()
    case (.replacing, .ready), (.unguarded, .ready):
      state = .watching
      return Action()
    case (.replacing(let reason, let since), .beat) where now - since >= Self.limit:
      state = .unguarded(reason, retry: nil)
      return Self.unguarded()
    case (.unguarded(let reason, let retry?), .beat) where now >= retry:
      state = .unguarded(reason, retry: nil)
      return Self.unguarded(replaces: true)
    case (.unguarded, .beat): return Self.unguarded()
    // The end of one that is being replaced, or was killed for hanging, is no news.
    case (.replacing, .lost), (.unguarded, .lost), (.replacing, .beat), (.watching, _): return Action()
    }
  }

  /// There is no guard: every output stops.
  private static func unguarded(replaces: Bool = false) -> Action {
    Action(replaces: replaces, makesSafe: Mechanism.unguardedStop.acts)
  }

  private mutating func lose(_ reason: Reason, at now: TickInstant) -> Action {
    losses = losses.filter { now - $0 < .seconds(60) } + [now]
    guard losses.count <= Self.mostLosses || !Mechanism.guardLossLimit.acts else {
      state = .unguarded(reason, retry: now + Self.pause)
      return Self.unguarded()
    }
    state = .replacing(reason, since: now)
    return Action(replaces: Mechanism.guardReplaced.acts)
  }
}
