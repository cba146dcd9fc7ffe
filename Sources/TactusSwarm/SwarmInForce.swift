import Tactus

/// The rules that may be in force in a loop while reloads change them, for an oracle that must not ask the loop. What is tighter holds from the next
/// tick on; what is wider holds once every output has been off.
public struct SwarmInForce<Rules: Equatable> {
  /// Each of these may be in force; a single one if nothing is on its way.
  public private(set) var possible: [Rules]
  /// When the loop has last taken rules, or may have.
  public private(set) var since = TickInstant.zero
  /// In force when the change on its way was proposed: what is tighter is made of these.
  private var sources: [Rules]
  /// Committed since the last tick.
  private var next: Rules?
  /// The whole change, part of which may wait until the outputs are off.
  private var wanted: Rules?
  private var isOff = true
  private var tickedAt: TickInstant
  private let tick: Nanoseconds

  /// Rules that are in force from the start on.
  ///
  /// - Parameter tick: the loop's period.
  public init(_ rules: Rules, tick: Nanoseconds, at now: TickInstant) {
    (possible, sources, tickedAt, self.tick) = ([rules], [rules], now, tick)
    since = now
  }

  /// A reload asks the loop whether it is there.
  public mutating func proposed() { sources = possible }

  /// A reload has told the loop these.
  public mutating func changed(to rules: Rules, at now: TickInstant) { (next, since) = (rules, now) }

  /// The loop has begun a tick. A loop that has missed releases enters its safe state and may leave it in the same tick, which nobody sees from outside.
  ///
  /// - Parameters:
  ///   - wasSafe: whether the loop has said of its last tick that every output is off, and nothing can have changed that since: then nothing waits.
  ///   - tighter: the part of the new rules that holds at once where the old ones are in force.
  public mutating func ticked(at now: TickInstant, wasSafe: Bool, tighter: (_ new: Rules, _ old: Rules) -> Rules) {
    let hasMissed = now - tickedAt > tick * 2
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

  /// The loop has said which of them are in force.
  public mutating func said(_ rules: Rules) {
    guard possible.contains(rules) else { return }
    possible = [rules]
    if rules == wanted { wanted = nil }
  }

  /// Notes whether every output is off now.
  public mutating func look(isOff: Bool) { self.isOff = isOff }

  private mutating func allow(_ rules: Rules) {
    if !possible.contains(rules) { possible.append(rules) }
  }
}
