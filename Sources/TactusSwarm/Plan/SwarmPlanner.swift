@_spi(FromOutside) import Conversions
import Tactus

/// Plans random actions of one part: those of its clients, its environment and its faults. The result depends only on
/// the seed and the order of the calls.
public struct SwarmPlanner {
  /// The instant at which the history ends. Later actions are left out.
  public let end: TickInstant
  /// The actions planned so far, in the order of the calls.
  private(set) var actions: [SwarmAction] = []
  private let part: String
  private let incidents: [TickInstant]
  private var random: SplitMix64

  /// Makes a planner without actions.
  ///
  /// - Parameters:
  ///   - part: the name of the part whose actions are planned.
  ///   - incidents: the instants at which the daemon or its guard is disturbed; outputs that are on at these instants test the safeguards.
  init(_ part: String, until end: TickInstant, around incidents: [TickInstant] = [], _ random: SplitMix64) {
    (self.part, self.end, self.incidents, self.random) = (part, end, incidents, random)
  }

  /// Adds an action.
  public mutating func add(_ at: TickInstant, _ verb: String, _ numbers: Int64...) { add(at, verb, numbers) }

  /// Adds an action with any number of parameters.
  public mutating func add(_ at: TickInstant, _ verb: String, _ numbers: [Int64]) {
    var action = SwarmAction(at, part, verb)
    action.numbers = numbers
    actions.append(action)
  }

  /// Adds a fault, `verb 1`, at a random instant, and its end, `verb 0`, after a time in the given range.
  public mutating func addFault(_ verb: String, milliseconds: ClosedRange<Int64>) {
    let at = instant()
    add(at, verb, 1)
    add(at + .milliseconds(within(milliseconds)), verb, 0)
  }

  // MARK: Chance

  /// Returns a number of the range, with equal probability.
  public mutating func within(_ range: ClosedRange<Int64>) -> Int64 { random.within(range) }
  /// Returns a number from 0 to less than `count`, with equal probability.
  public mutating func below(_ count: UInt64) -> Int { Int(clamping: random.below(count)) }
  /// Returns `true` in `perMille` of a thousand calls.
  public mutating func chance(_ perMille: Int) -> Bool { random.chance(perMille: perMille) }
  /// Returns an instant up to and including the end, in whole milliseconds.
  public mutating func instant() -> TickInstant { random.instant(until: end) }
  /// Returns an instant as `instant()` does; every other one is some seconds before the daemon or its guard is disturbed.
  public mutating func busyInstant() -> TickInstant { random.instant(until: end, before: incidents) }

  /// Calls `body` a random number of times within the range.
  public mutating func times(_ range: ClosedRange<Int64>, _ body: (inout SwarmPlanner) -> Void) {
    for _ in 0..<within(range) { body(&self) }
  }

  /// Calls `body` in `perMille` of a thousand calls.
  public mutating func maybe(_ perMille: Int, _ body: (inout SwarmPlanner) -> Void) {
    if chance(perMille) { body(&self) }
  }

  /// Calls `body` a random number of times within the range, with a probability of `perMille` in 1,000; otherwise does not call it.
  public mutating func maybe(_ perMille: Int, _ range: ClosedRange<Int64>, _ body: (inout SwarmPlanner) -> Void) {
    if chance(perMille) { times(range, body) }
  }
}
