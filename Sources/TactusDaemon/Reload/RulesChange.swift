import Synchronization
import Tactus

/// One key that a change gives another value, as a file would say it; nil: nothing.
package struct KeyChange: Sendable, Equatable {
  let key: String
  let from, to: String?

  init(_ key: String, from: ConfigValue?, to: ConfigValue?) {
    (self.key, self.from, self.to) = (key, from.map { "\($0)" }, to.map { "\($0)" })
  }

  /// The keys that have another value; both lists have the same keys in the same order.
  package static func between(
    _ old: [(key: String, value: ConfigValue?)], _ new: [(key: String, value: ConfigValue?)]
  ) -> [KeyChange] {
    zip(old, new).filter { $0.value != $1.value }.map { KeyChange($0.key, from: $0.value, to: $1.value) }
  }
}

/// The change of one loop's rules, in two phases: first the loop is asked whether it is there, then it is told.
package protocol RulesChange: Sendable {
  var system: String { get }
  var keys: [KeyChange] { get }
  func propose()
  var isPrepared: Bool { get }
  func withdraw()
  func commit()
  /// After `commit`.
  var progress: RulesProgress { get }
}

/// The change of rules that no loop reads, but a desk beside it: it is always there, and takes all of them at its next turn.
package final class DeskChange: RulesChange {
  package let system: String
  package let keys: [KeyChange]
  private let take: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  private let isTaken = Mutex(false)

  /// - Parameter take: called once, on the main thread, which must not wait: `done` may be called later, and on any thread.
  package init(
    of system: String, _ keys: [KeyChange], take: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  ) {
    (self.system, self.keys, self.take) = (system, keys, take)
  }

  package func propose() {}
  package var isPrepared: Bool { true }
  package func withdraw() {}
  package func commit() { take { [self] in isTaken.withLock { $0 = true } } }
  package var progress: RulesProgress { isTaken.withLock { $0 } ? .taken : .waiting }
}

/// Rules that a file's keys give a loop, and that a reload may change while the loop runs.
package protocol ReloadableRules: BitwiseCopyable, Equatable, Sendable {
  /// The rules that allow no more than either of the two.
  func tighter(than other: Self) -> Self
}

extension WantedRules where Rules: ReloadableRules {
  /// The change to these rules; `nil` if no key has another value. What is tighter holds at once, what is wider when the loop has been
  /// in its safe state.
  ///
  /// - Parameter taken: called when the loop is told.
  package func change(
    of system: String, _ keys: [KeyChange], to new: Rules, taken: @escaping @Sendable () -> Void
  ) -> (any RulesChange)? {
    guard !keys.isEmpty else { return nil }
    let now = new.tighter(than: box.inEffect)
    return change(of: system, keys, now: now, whenSafe: now == new ? nil : new, taken: taken)
  }
}

/// The rules of one loop as they are wanted; what the loop uses may be less, while wider limits wait. Any thread.
package final class WantedRules<Rules: BitwiseCopyable & Sendable>: Sendable {
  package let box: RulesBox<Rules>
  private let wanted: Mutex<Rules>

  package init(_ box: RulesBox<Rules>) {
    self.box = box
    wanted = Mutex(box.inEffect)
  }

  var rules: Rules { wanted.withLock { $0 } }

  /// - Parameters:
  ///   - now: taken at once.
  ///   - whenSafe: taken in the safe state; nil: the same.
  ///   - taken: called when the loop is told.
  func change(
    of system: String, _ keys: [KeyChange], now: Rules, whenSafe: Rules?, taken: @escaping @Sendable () -> Void = {}
  ) -> any RulesChange {
    BoxChange(system: system, keys: keys, rules: self, now: now, whenSafe: whenSafe, taken: taken)
  }

  private final class BoxChange: RulesChange {
    let system: String
    let keys: [KeyChange]
    private let rules: WantedRules
    private let now: Rules
    private let whenSafe: Rules?
    private let taken: @Sendable () -> Void
    private let number = Mutex<UInt64>(0)

    init(
      system: String, keys: [KeyChange], rules: WantedRules, now: Rules, whenSafe: Rules?,
      taken: @escaping @Sendable () -> Void
    ) {
      (self.system, self.keys, self.rules, self.now, self.whenSafe) = (system, keys, rules, now, whenSafe)
      self.taken = taken
    }

    func propose() { number.withLock { $0 = rules.box.propose() } }
    var isPrepared: Bool { rules.box.isPrepared(number.withLock { $0 }) }
    func withdraw() { rules.box.withdraw(number.withLock { $0 }) }

    func commit() {
      rules.box.commit(number.withLock { $0 }, now: now, whenSafe: whenSafe)
      rules.wanted.withLock { $0 = whenSafe ?? now }
      taken()
    }

    var progress: RulesProgress { rules.box.progress(number.withLock { $0 }) }
  }
}
