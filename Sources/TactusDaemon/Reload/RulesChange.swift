import Synchronization
import Tactus

/// One key that a change gives another value. Values are written as in a file; `nil` for none.
public struct KeyChange: Sendable, Equatable {
  let key: String
  let from, to: String?

  /// A change from one value to another; `nil` for none.
  package init(_ key: String, from: ConfigValue?, to: ConfigValue?) {
    (self.key, self.from, self.to) = (key, from.map { "\($0)" }, to.map { "\($0)" })
  }

  /// The keys that have another value; both lists have the same keys in the same order.
  public static func between(
    _ old: [(key: String, value: ConfigValue?)], _ new: [(key: String, value: ConfigValue?)]
  ) -> [KeyChange] {
    zip(old, new).filter { $0.value != $1.value }.map { KeyChange($0.key, from: $0.value, to: $1.value) }
  }
}

/// The change of one loop's rules, in two phases: first the loop is asked whether it is there, then it gets the new rules.
public protocol RulesChange: Sendable {
  /// The name of the system whose rules change: `leg`.
  var system: String { get }
  /// The keys that get another value.
  var keys: [KeyChange] { get }
  /// Phase 1: asks the loop to confirm at its next tick that it is there. Does not wait.
  func propose()
  /// Whether the loop has confirmed the proposal; `commit` may follow once every change of a reload is prepared.
  var isPrepared: Bool { get }
  /// Takes the proposal back: no rule changes.
  func withdraw()
  /// Phase 2: gives the loop the new rules. At most once, after `propose` and instead of `withdraw`.
  func commit()
  /// After `commit`.
  var progress: RulesProgress { get }
}

/// The change of rules that no loop reads, but a desk beside it: it is always there, and takes all of them at its next turn.
public final class DeskChange: RulesChange {
  /// The name of the system whose desk takes the rules: `sprinkler`.
  public let system: String
  /// The keys that get another value.
  public let keys: [KeyChange]
  private let take: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  private let isTaken = Mutex(false)

  /// - Parameter take: called once, on the main thread, which must not wait: `done` may be called later, and on any thread.
  public init(
    of system: String, _ keys: [KeyChange], take: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  ) {
    (self.system, self.keys, self.take) = (system, keys, take)
  }

  /// Does nothing: there is no loop to ask.
  public func propose() {}
  /// Always true.
  public var isPrepared: Bool { true }
  /// Does nothing: nothing is taken before `commit`.
  public func withdraw() {}
  /// Calls `take`, once. The change is taken when `take` has called `done`.
  public func commit() { take { [self] in isTaken.withLock { $0 = true } } }
  public var progress: RulesProgress { isTaken.withLock { $0 } ? .taken : .waiting }
}

/// Rules that a file's keys give a loop, and that a reload may change while the loop runs.
public protocol ReloadableRules: BitwiseCopyable, Equatable, Sendable {
  /// The rules that allow no more than either of the two.
  func tighter(than other: Self) -> Self
}

extension WantedRules where Rules: ReloadableRules {
  /// The change to these rules, or `nil` if no key has another value. What is tighter holds at once, what is wider when the loop has been
  /// in its safe state.
  ///
  /// - Parameter taken: called when the loop is given the rules.
  public func change(
    of system: String, _ keys: [KeyChange], to new: Rules, taken: @escaping @Sendable () -> Void
  ) -> (any RulesChange)? {
    guard !keys.isEmpty else { return nil }
    let now = new.tighter(than: box.inEffect)
    return change(of: system, keys, now: now, whenSafe: now == new ? nil : new, taken: taken)
  }
}

/// The rules of one loop as they are wanted; what the loop uses may be less, while wider limits wait. Usable from any thread.
public final class WantedRules<Rules: BitwiseCopyable & Sendable>: Sendable {
  /// The rules as the loop takes them: its `input` is the loop's end.
  public let box: RulesBox<Rules>
  private let wanted: Mutex<Rules>

  /// Begins with the rules that are in effect in the box.
  public init(_ box: RulesBox<Rules>) {
    self.box = box
    wanted = Mutex(box.inEffect)
  }

  var rules: Rules { wanted.withLock { $0 } }

  /// - Parameters:
  ///   - now: taken at once.
  ///   - whenSafe: the rules from the safe state on, or `nil` if they are `now`.
  ///   - taken: called when the loop is given the rules.
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
