import Tactus

/// The rules that may be in force in a loop while reloads change them, for an oracle that must not ask the loop. A
/// tighter limit holds from the next tick on; a wider limit holds once every output has been off.
public struct SwarmInForce<Rules: Equatable> {
  /// The rules of which any may be in force; a single element if no change is pending.
  public private(set) var possible: [Rules]
  /// The time at which the loop last took over rules, or may have.
  public private(set) var since = TickInstant.zero
  /// The rules that may have been in force when the pending change was proposed; the tighter parts are derived from these.
  private var sources: [Rules]
  /// The rules committed since the last tick, or `nil` if there are none.
  private var next: Rules?
  /// The complete new rules, part of which may wait until the outputs are off, or `nil` if no change is pending.
  private var wanted: Rules?
  private var isOff = true
  private var tickedAt: TickInstant
  private let tick: Nanoseconds

  /// Makes the value for rules that are in force from the start.
  ///
  /// - Parameter tick: the period of the loop.
  public init(_ rules: Rules, tick: Nanoseconds, at now: TickInstant) {
    (possible, sources, tickedAt, self.tick) = ([rules], [rules], now, tick)
    since = now
  }

  /// Notes that a reload proposes a change to the loop.
  public mutating func proposed() { sources = possible }

  /// Notes that a reload has passed these rules to the loop.
  public mutating func changed(to rules: Rules, at now: TickInstant) { (next, since) = (rules, now) }

  /// Notes that the loop has begun a tick. A loop that has missed releases enters its safe state and may leave it in
  /// the same tick, which is not visible from outside.
  ///
  /// - Parameters:
  ///   - wasSafe: whether the loop has confirmed for its last tick that every output is off, and nothing can have
  ///     changed that since; no part of a change waits then.
  ///   - tighter: returns the part of the new rules that takes effect at once while the old rules are in force.
  public mutating func ticked(at now: TickInstant, wasSafe: Bool, tighter: (_ new: Rules, _ old: Rules) -> Rules) {
    let hasMissed = now - tickedAt > tick
    tickedAt = now
    let before = possible
    if let rules = next {
      possible = []
      for source in sources + before { allow(tighter(rules, source)) }
      (wanted, next, sources) = (rules, nil, possible)
    }
    if let rules = wanted {
      if wasSafe, !hasMissed {
        (possible, wanted) = ([rules], nil)
      } else if isOff || hasMissed {
        allow(rules)
      }
    }
    if possible != before { since = now }
  }

  /// Notes that the loop has reported the rules in force.
  public mutating func said(_ rules: Rules) {
    guard possible.contains(rules) else { return }
    possible = [rules]
    if rules == wanted { wanted = nil }
  }

  /// Notes whether every output is off at present.
  public mutating func observe(isOff: Bool) { self.isOff = isOff }

  private mutating func allow(_ rules: Rules) {
    if !possible.contains(rules) { possible.append(rules) }
  }
}
