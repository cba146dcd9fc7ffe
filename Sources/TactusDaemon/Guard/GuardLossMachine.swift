import Tactus

/// Decides what the daemon does when its guard dies or hangs. The machine itself starts no process and reads no clock.
///
///     watching ──lost──▶ replacing ──ready──▶ watching
///         ▲                  │ failed, or not ready within 2 s
///         └──────ready── unguarded: every output is kept safe, another guard is tried every second
///
/// A guard that is lost more than ten times within a minute counts as `unguarded` at once, because a guard that keeps dying protects nothing.
package struct GuardLossMachine: Sendable, Equatable {
  /// The way in which a guard was lost.
  package enum Reason: String, Sendable, Equatable, CaseIterable {
    /// The guard's process ended.
    case died
    /// The guard did not answer heartbeats and was killed.
    case hung
  }

  /// The state of the guard.
  package enum State: Sendable, Equatable {
    /// The guard is watching.
    case watching
    /// The guard's successor is being started.
    case replacing(Reason, since: TickInstant)
    /// There is no guard, and outputs are kept safe. `retry` is the instant of the next attempt, or `nil` while one is in progress.
    case unguarded(Reason, retry: TickInstant?)
  }

  /// An event of the guard, or the passing of time.
  package enum Event: Sendable, Equatable {
    case lost(Reason)
    /// The successor is ready.
    case ready
    /// No successor could be started.
    case failed
    /// A tenth of a second has passed.
    case beat
  }

  /// The next actions of the daemon; both may be requested.
  package struct Action: Sendable, Equatable {
    /// Whether to start another guard, on the thread of `GuardKeeper`.
    package var replaces = false
    /// Whether to stop every output; requested again at every beat, in case the stop has been reset meanwhile.
    package var makesSafe = false
  }

  /// The time that a successor may take before the outputs are stopped.
  static let limit = Nanoseconds.seconds(2)
  /// The time from a failed start to the next attempt.
  static let pause = Nanoseconds.seconds(1)
  /// The number of losses within a minute after which the next one stops the outputs.
  package static let mostLosses = 10

  /// The present state of the guard.
  package private(set) var state = State.watching
  /// The instants of the losses within the last minute.
  private var losses: [TickInstant] = []

  /// Makes the machine in the state `watching`.
  package init() {}

  /// Returns the actions that follow `event`.
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
    // The end of a guard that is being replaced or was killed for hanging changes nothing.
    case (.replacing, .lost), (.unguarded, .lost), (.replacing, .beat), (.watching, _): return Action()
    }
  }

  /// Returns the action for a missing guard, which stops every output.
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
