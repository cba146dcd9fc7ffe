import Synchronization
import Tactus

/// The change of one key. The values are written as in a file; `nil` stands for no value.
public struct KeyChange: Sendable, Equatable {
  let key: String
  let from, to: String?

  /// Makes a change from one value to another; `nil` stands for no value.
  package init(_ key: String, from: ConfigValue?, to: ConfigValue?) {
    (self.key, self.from, self.to) = (key, from.map { "\($0)" }, to.map { "\($0)" })
  }

  /// Returns the keys whose values differ; both lists have the same keys in the same order.
  public static func between(
    _ old: [(key: String, value: ConfigValue?)], _ new: [(key: String, value: ConfigValue?)]
  ) -> [KeyChange] {
    zip(old, new).filter { $0.value != $1.value }.map { KeyChange($0.key, from: $0.value, to: $1.value) }
  }
}

/// The change of one loop's rules in two phases: the loop first confirms that it ticks, then receives the new rules.
public protocol RulesChange: Sendable {
  /// The name of the system whose rules change: `leg`.
  var system: String { get }
  /// The keys whose values change.
  var keys: [KeyChange] { get }
  /// Starts phase 1: asks the loop to confirm at its next tick that it is running. Does not wait.
  func propose()
  /// Whether the loop has confirmed the proposal; `commit` may follow once every change of a reload is prepared.
  var isPrepared: Bool { get }
  /// Withdraws the proposal, so that no rule changes.
  func withdraw()
  /// Starts phase 2: passes the new rules to the loop. Called at most once, after `propose` and instead of `withdraw`.
  func commit()
  /// The progress of the change after `commit`.
  var progress: RulesProgress { get }
}

/// The change of rules that a desk reads and no loop does. The desk is always ready and applies all rules in its next turn.
final class DeskChange: RulesChange {
  /// The name of the system whose desk applies the rules.
  let system: String
  /// The keys whose values change.
  let keys: [KeyChange]
  private let take: @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  private let isTaken = Mutex(false)

  /// Makes a change of the rules of a desk.
  ///
  /// - Parameter take: applies the rules; called once, on the main thread, which must not wait. `done` may be called later and on any thread.
  init(
    of system: String, _ keys: [KeyChange], take: @escaping @Sendable (_ done: @escaping @Sendable () -> Void) -> Void
  ) {
    (self.system, self.keys, self.take) = (system, keys, take)
  }

  /// Does nothing, because there is no loop to ask.
  func propose() {}
  /// Always `true`, because there is no loop that could be missing.
  var isPrepared: Bool { true }
  /// Does nothing, because no rule is applied before `commit`.
  func withdraw() {}
  /// Calls `take` once. The change counts as applied when `take` has called `done`.
  func commit() { take { [self] in isTaken.withLock { $0 = true } } }
  var progress: RulesProgress { isTaken.withLock { $0 } ? .taken : .waiting }
}

/// The rules of a loop that come from keys of the file, and that a reload may change while the loop runs.
public protocol ReloadableRules: BitwiseCopyable, Equatable, Sendable {
  /// Returns the rules that allow no more than either of the two.
  func tighter(than other: Self) -> Self
}

extension WantedRules where Rules: ReloadableRules {
  /// Returns the change to these rules, or `nil` if no key has changed. A tighter rule takes effect at once, a wider
  /// one when the loop has been in its safe state.
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

/// The rules that are requested for one loop. The loop may use tighter ones while wider limits wait. It may be used from any thread.
public final class WantedRules<Rules: BitwiseCopyable & Sendable>: Sendable {
  /// The box through which the loop receives its rules; its `input` is the loop's end.
  public let box: RulesBox<Rules>
  private let wanted: Mutex<Rules>

  /// Makes the value with the rules that are in effect in the box.
  public init(_ box: RulesBox<Rules>) {
    self.box = box
    wanted = Mutex(box.inEffect)
  }

  var rules: Rules { wanted.withLock { $0 } }

  /// Returns the change to new rules.
  ///
  /// - Parameters:
  ///   - now: the rules that take effect at once.
  ///   - whenSafe: the rules that take effect in the safe state, or `nil` if they are the same as `now`.
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
