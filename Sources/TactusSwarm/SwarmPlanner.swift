import Tactus

/// Random actions of one part: what its clients, its world and its faults do. What comes out follows from the seed and the order of the calls.
public struct SwarmPlanner {
  /// When the history ends. Actions after it are left out.
  public let end: TickInstant
  /// So far, in the order of the calls.
  private(set) var actions: [SwarmAction] = []
  private let part: String
  private let incidents: [TickInstant]
  private var random: SplitMix64

  /// - Parameters:
  ///   - part: whose actions they are.
  ///   - incidents: when something happens to the daemon or its guard: what is on then is what they are there for.
  init(_ part: String, until end: TickInstant, around incidents: [TickInstant] = [], _ random: SplitMix64) {
    (self.part, self.end, self.incidents, self.random) = (part, end, incidents, random)
  }

  /// Adds an action.
  public mutating func add(_ at: TickInstant, _ verb: String, _ numbers: Int64...) { add(at, verb, numbers) }

  /// Adds an action of any count of numbers.
  public mutating func add(_ at: TickInstant, _ verb: String, _ numbers: [Int64]) {
    var action = SwarmAction(at, part, verb)
    action.numbers = numbers
    actions.append(action)
  }

  /// Adds a fault, `verb 1`, at any instant, and its end, `verb 0`, so many milliseconds later.
  public mutating func addFault(_ verb: String, milliseconds: ClosedRange<Int64>) {
    let at = instant()
    add(at, verb, 1)
    add(at + .milliseconds(within(milliseconds)), verb, 0)
  }

  // MARK: Chance

  /// A number of the range, each as likely.
  public mutating func within(_ range: ClosedRange<Int64>) -> Int64 { random.within(range) }
  /// A number from 0 on that is less than `count`, each as likely.
  public mutating func below(_ count: UInt64) -> Int { Int(clamping: random.below(count)) }
  /// Returns `true` in so many of a thousand calls.
  public mutating func chance(_ perMille: Int) -> Bool { random.chance(perMille: perMille) }
  /// An instant up to and including the end, of whole milliseconds.
  public mutating func instant() -> TickInstant { random.instant(until: end) }
  /// As `instant()`, every other one some seconds before something happens to the daemon or its guard.
  public mutating func busyInstant() -> TickInstant { random.instant(until: end, before: incidents) }

  /// Calls `body` as often as a number of the range says.
  public mutating func times(_ range: ClosedRange<Int64>, _ body: (inout SwarmPlanner) -> Void) {
    for _ in 0..<within(range) { body(&self) }
  }

  /// Calls `body` in so many of a thousand calls.
  public mutating func maybe(_ perMille: Int, _ body: (inout SwarmPlanner) -> Void) {
    if chance(perMille) { body(&self) }
  }

  /// In so many of a thousand calls, calls `body` as often as a number of the range says.
  public mutating func maybe(_ perMille: Int, _ range: ClosedRange<Int64>, _ body: (inout SwarmPlanner) -> Void) {
    if chance(perMille) { times(range, body) }
  }
}
