import Synchronization

/// How far a commit of rules has come.
public enum RulesProgress: Sendable, Hashable, BitwiseCopyable {
  /// The loop has not ticked since the commit.
  case waiting
  /// The loop uses all of it.
  case taken
  /// The loop uses the rules for now; the wider ones wait for its safe state.
  case takenInPart
}

/// Rules that may change while a loop runs: limits, gains, timeouts. The loop takes them between two ticks, all or none.
///
/// A change has two phases, so that one over several loops happens everywhere or nowhere: `propose()` to every loop, wait
/// until each `isPrepared`, then `commit` to all of them, or `withdraw` from all of them if one does not say so in time.
///
///     let number = box.propose()
///     …                                                 // until box.isPrepared(number), or too much time has passed
///     box.commit(number, now: stricter, whenSafe: wanted)
///
/// A limit that becomes tighter holds at once. One that becomes wider may wait until the loop has been in its safe state, so
/// that no moving part becomes faster because a file was saved: the caller puts the tighter of old and new into
/// `now`, and all that is new into `whenSafe`.
///
/// Any thread may use it. A lock is taken among these threads; the loop takes none and never waits.
public final class RulesBox<Rules: BitwiseCopyable & Sendable>: Sendable {
  private struct Sender: ~Copyable {
    var writer: LatestWriter<RulesOrder<Rules>>
    var order: RulesOrder<Rules>
    /// The newest number that was given out.
    var last: UInt64 = 0
    /// The number of the proposal that may be committed; 0 if there is none.
    var open: UInt64 = 0

    mutating func send() { writer.write(order) }
  }

  let orders: Latest<RulesOrder<Rules>>
  let reports: Latest<RulesReport<Rules>>
  private let sender: Mutex<Sender>

  /// A box of the rules that the loop begins with. Allocates; the size is fixed from then on.
  public init(_ rules: Rules) {
    let order = RulesOrder(proposed: 0, committed: 0, now: rules, whenSafe: rules, hasWhenSafe: false)
    orders = Latest(order)
    reports = Latest(RulesReport(prepared: 0, taken: 0, waits: false, rules: rules))
    sender = Mutex(Sender(writer: orders.writer(), order: order))
  }

  /// The loop's end. There is one at a time: a second call traps unless the first end is gone, whose work the new one
  /// continues.
  public func input() -> RulesInput<Rules> { RulesInput(self) }

  /// Phase 1: asks the loop to say at its next tick that it is there. It replaces an older proposal, which is withdrawn.
  ///
  /// - Returns: the number of the proposal, from 1.
  public func propose() -> UInt64 {
    sender.withLock { sender in
      sender.last += 1
      sender.open = sender.last
      sender.order.proposed = sender.last
      sender.send()
      return sender.last
    }
  }

  /// Whether a tick of the loop has seen this proposal. False if it was withdrawn or replaced.
  public func isPrepared(_ number: UInt64) -> Bool {
    sender.withLock { sender in
      guard number != 0, number == sender.open || number == sender.order.committed else { return false }
      return report.prepared >= number
    }
  }

  /// Takes a proposal back: nothing changes. Does nothing if it was withdrawn, replaced or committed before.
  public func withdraw(_ number: UInt64) {
    sender.withLock { sender in
      if sender.open == number { sender.open = 0 }
    }
  }

  /// Phase 2: changes the rules. It replaces all of an older commit, also rules of it that still wait for the safe state.
  ///
  /// The loop need not have said that it is there.
  ///
  /// - Parameters:
  ///   - number: the newest proposal, neither withdrawn nor committed before; traps otherwise.
  ///   - now: taken when the loop's next tick begins.
  ///   - whenSafe: replaces `now` when the first tick begins before which the loop has finished in its safe state; that may be
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

  /// Changes the rules of this loop alone, all of them at its next tick, wider ones, too.
  public func set(_ rules: Rules) { commit(propose(), now: rules, whenSafe: nil) }

  /// How far the commit of this number has come. One that a newer commit has replaced is as far as the newest that the loop has
  /// taken.
  public func progress(_ number: UInt64) -> RulesProgress {
    let report = report
    guard number != 0, report.taken >= number else { return .waiting }
    return report.waits ? .takenInPart : .taken
  }

  /// What the loop uses now; before its first tick, what it begins with.
  public var inEffect: Rules { report.rules }

  private var report: RulesReport<Rules> {
    var reader = reports.reader()
    return reader.read()
  }
}
