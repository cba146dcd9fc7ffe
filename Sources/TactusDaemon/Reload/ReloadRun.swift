import Service
import Tactus

/// A change of several loops' rules in progress, which takes effect in all loops or in none. Used on the main thread, at its beats.
package struct ReloadRun {
  /// The function that receives the outcome of a change. It is called once.
  package typealias Completion = @Sendable (Result<Done, APIError>) -> Void

  /// The outcome of a change that took effect.
  package struct Done: Sendable {
    var keys: [KeyChange]
    /// The systems whose wider limits wait for their safe state.
    var waiting: [String]
    /// The systems that have not applied the change in time; each applies it as soon as its loop ticks or its disk answers.
    var late: [String]
  }

  private enum Phase {
    case proposed
    case committed
  }

  /// The time that every loop has for each phase.
  static let patience = Nanoseconds.seconds(3)

  private let changes: [any RulesChange]
  private let others: [KeyChange]
  private let taken: () -> Void
  private let complete: Completion
  private var phase = Phase.proposed
  private var deadline: TickInstant

  /// Starts a change by asking every loop to confirm that it ticks.
  ///
  /// - Parameters:
  ///   - others: further changes, which concern no loop.
  ///   - taken: called when every loop has been given its new rules.
  package init(
    _ changes: [any RulesChange], others: [KeyChange] = [], at now: TickInstant, taken: @escaping () -> Void = {},
    complete: @escaping Completion
  ) {
    (self.changes, self.others, self.taken, self.complete) = (changes, others, taken, complete)
    deadline = now + Self.patience
    for change in changes { change.propose() }
  }

  /// Continues the change as far as the loops have answered. Returns whether the change is over.
  package mutating func beat(at now: TickInstant) -> Bool {
    if case .proposed = phase {
      let missing = changes.filter { !$0.isPrepared }
      guard missing.isEmpty || !Mechanism.wholeReload.acts else { return deadline <= now ? withdraw(missing) : false }
      for change in changes { change.commit() }
      taken()
      (phase, deadline) = (.committed, now + Self.patience)
    }
    let untold = changes.filter { $0.progress == .waiting }
    guard untold.isEmpty || deadline <= now else { return false }
    let waiting = changes.filter { $0.progress == .takenInPart }.map(\.system)
    complete(.success(Done(keys: changes.flatMap(\.keys) + others, waiting: waiting, late: untold.map(\.system))))
    return true
  }

  /// Ends the change early, because the daemon is stopping. No beat may follow.
  func stop() {
    switch phase {
    case .proposed:
      for change in changes { change.withdraw() }
      complete(.failure(.stopping("nothing was changed")))
    case .committed: complete(.failure(.stopping("not every loop has confirmed the change")))
    }
  }

  private func withdraw(_ missing: [any RulesChange]) -> Bool {
    for change in changes { change.withdraw() }
    let names = missing.map(\.system).joined(separator: ", ")
    complete(
      .failure(
        APIError(
          .serviceUnavailable, "NOT_TAKEN",
          "the loop of \(names) did not tick within \(Self.patience); nothing was changed"
        )))
    return true
  }
}

extension APIError {
  /// Returns a 503 for a request that the daemon cannot finish, because it is stopping.
  ///
  /// - Parameter outcome: the outcome of the requested change.
  static func stopping(_ outcome: String) -> APIError {
    APIError(.serviceUnavailable, "STOPPING", "the daemon is stopping; \(outcome)")
  }
}
