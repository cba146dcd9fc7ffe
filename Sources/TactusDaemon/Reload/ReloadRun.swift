import Service
import Tactus

/// A change of several loops' rules on its way: everywhere or nowhere. Used by the main thread, at its beats.
package struct ReloadRun {
  /// Called once, with what has come of the change.
  package typealias Completion = @Sendable (Result<Done, APIError>) -> Void

  /// What has come of it.
  package struct Done: Sendable {
    var keys: [KeyChange]
    /// Systems whose wider limits wait for their safe state.
    var waiting: [String]
    /// Systems that have not taken the change in time, and take it as soon as their loop ticks or their disk answers.
    var late: [String]
  }

  private enum Phase {
    case proposed
    case committed
  }

  /// How long every loop has for each phase.
  static let patience = Nanoseconds.seconds(3)

  private let changes: [any RulesChange]
  private let others: [KeyChange]
  private let taken: () -> Void
  private let complete: Completion
  private var phase = Phase.proposed
  private var deadline: TickInstant

  /// Asks every loop whether it is there.
  ///
  /// - Parameters:
  ///   - others: what changes besides, in no loop.
  ///   - taken: called when every loop has been given its new rules.
  package init(
    _ changes: [any RulesChange], others: [KeyChange] = [], at now: TickInstant, taken: @escaping () -> Void = {},
    complete: @escaping Completion
  ) {
    (self.changes, self.others, self.taken, self.complete) = (changes, others, taken, complete)
    deadline = now + Self.patience
    for change in changes { change.propose() }
  }

  /// Goes on as far as the loops have come. True when it is over.
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

  /// Ends it before its time, because the daemon stops. There is no beat afterwards.
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
  /// 503: the daemon stops.
  ///
  /// - Parameter outcome: what has become of the change that was asked for.
  static func stopping(_ outcome: String) -> APIError {
    APIError(.serviceUnavailable, "STOPPING", "the daemon is stopping; \(outcome)")
  }
}
