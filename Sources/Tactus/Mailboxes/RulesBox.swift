import Synchronization

/// The progress of the loop in taking a commit of rules.
public enum RulesProgress: Sendable, Hashable, BitwiseCopyable {
  /// The loop has not ticked since the commit.
  case waiting
  /// The loop uses all rules of the commit.
  case taken
  /// The loop uses the stricter rules of the commit; the wider ones wait for its safe state.
  case takenInPart
}

/// Rules that may change while a loop runs, such as limits, gains and timeouts. The loop takes them between two ticks, either all or none.
///
/// A change has two phases, so that a change over several loops happens in all of them or in none: call `propose()` for every loop
/// and wait until each `isPrepared`; then `commit` to all of them, or `withdraw` from all of them if one loop is not prepared in
/// time.
///
///     let number = box.propose()
///     …                                                 // until box.isPrepared(number), or too much time has passed
///     box.commit(number, now: stricter, whenSafe: wanted)
///
/// A tighter limit holds immediately. A wider limit may wait until the loop has been in its safe state, so that no moving part
/// becomes faster because a file was saved: the caller passes the tighter of the old and new limits as `now` and all new limits as
/// `whenSafe`.
///
/// Any thread may use the box. These threads share a lock; the loop takes no lock and never waits.
public final class RulesBox<Rules: BitwiseCopyable & Sendable>: Sendable {
  private struct Sender: ~Copyable {
    var writer: LatestWriter<RulesOrder<Rules>>
    var order: RulesOrder<Rules>
    /// The newest number that was issued.
    var last: UInt64 = 0
    /// The number of the proposal that may be committed, or 0 if no proposal may be.
    var open: UInt64 = 0

    mutating func send() { writer.write(order) }
  }

  let orders: Latest<RulesOrder<Rules>>
  let reports: Latest<RulesReport<Rules>>
  private let sender: Mutex<Sender>

  /// Creates a box with the rules that the loop begins with. The initialiser allocates; the size is fixed from then on.
  public init(_ rules: Rules) {
    let order = RulesOrder(proposed: 0, committed: 0, now: rules, whenSafe: rules, hasWhenSafe: false)
    orders = Latest(order)
    reports = Latest(RulesReport(prepared: 0, taken: 0, waits: false, rules: rules))
    sender = Mutex(Sender(writer: orders.writer(), order: order))
  }

  /// Returns the loop's end. There is one at a time: a second call traps unless the first end is gone; the new end then continues its work.
  public func input() -> RulesInput<Rules> { RulesInput(self) }

  /// Phase 1: asks the loop to confirm at its next tick that it is running. The proposal replaces an older one, which is withdrawn.
  ///
  /// - Returns: the number of the proposal, from 1 on.
  public func propose() -> UInt64 {
    sender.withLock { sender in
      sender.last += 1
      sender.open = sender.last
      sender.order.proposed = sender.last
      sender.send()
      return sender.last
    }
  }

  /// Returns whether a tick of the loop has seen the proposal. The result is `false` if the proposal was withdrawn or replaced.
  public func isPrepared(_ number: UInt64) -> Bool {
    sender.withLock { sender in
      guard number != 0, number == sender.open || number == sender.order.committed else { return false }
      return report.prepared >= number
    }
  }

  /// Withdraws a proposal, so that nothing changes. Has no effect if the proposal was withdrawn, replaced or committed before.
  public func withdraw(_ number: UInt64) {
    sender.withLock { sender in
      if sender.open == number { sender.open = 0 }
    }
  }

  /// Phase 2: changes the rules. The commit replaces an older commit as a whole, including rules of it that still wait for the safe state.
  ///
  /// A commit does not require that the loop has confirmed the proposal.
  ///
  /// - Parameters:
  ///   - number: the number of the newest proposal, neither withdrawn nor committed before; any other number traps.
  ///   - now: the rules that the loop takes when its next tick begins.
  ///   - whenSafe: the rules that replace `now` at the first tick before which the loop has finished in its safe state, which may be
  ///     the same tick. `nil` if `now` stays.
  public func commit(_ number: UInt64, now: Rules, whenSafe: Rules?) {
    sender.withLock { sender in
      require(number != 0 && number == sender.open, "rules are committed once, and only those that were proposed last")
      sender.open = 0
      sender.order.committed = number
      sender.order.now = now
      sender.order.whenSafe = whenSafe ?? now
      sender.order.hasWhenSafe = whenSafe != nil
      sender.send()
    }
  }

  /// Changes the rules of this loop alone. The loop takes all of them at its next tick, including wider ones.
  public func set(_ rules: Rules) { commit(propose(), now: rules, whenSafe: nil) }

  /// Returns the progress of the loop with the commit of the given number. For a commit that was replaced, the result is that of the newest commit
  /// that the loop has taken.
  public func progress(_ number: UInt64) -> RulesProgress {
    let report = report
    guard number != 0, report.taken >= number else { return .waiting }
    return report.waits ? .takenInPart : .taken
  }

  /// The rules that the loop uses, or before its first tick those that it begins with.
  public var inEffect: Rules { report.rules }

  private var report: RulesReport<Rules> {
    var reader = reports.reader()
    return reader.read()
  }
}
