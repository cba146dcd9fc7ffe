@_spi(FromOutside) import Conversions
import Tactus

/// A link between two ends in simulated time, with the faults of its history: it loses, delays, duplicates and reorders
/// messages, and may be dead in one direction or both.
///
/// The same seed and the same calls give the same deliveries.
public struct SwarmLink {
  /// The direction of a message.
  public enum Way: Int, Sendable {
    /// The message goes from the operator to the device.
    case there
    /// The message goes from the device to the operator.
    case back
  }

  /// A message that is on its way or has arrived.
  public struct Message: Sendable {
    /// The direction of the message.
    public let way: Way
    /// The payload of the message.
    public let bytes: [UInt8]
    /// The instant of arrival.
    public let arrives: TickInstant
  }

  /// Returns the payload that a test sends in place of the given one.
  public typealias Tamper = (_ bytes: [UInt8], _ way: Way) -> [UInt8]

  private var random: SplitMix64
  private let tamper: Tamper?
  private var underWay: [Message] = []
  private var lossPerMille = 0
  private var delay = Nanoseconds.zero
  private var jitter = Nanoseconds.zero
  private var doublePerMille = 0
  private var isDead = [false, false]

  /// Makes a link without faults.
  ///
  /// - Parameter tamper: changes payloads, for tests that show that the swarm detects a faulty end; `nil` for no change.
  public init(seed: UInt64, _ tamper: Tamper? = nil) { (random, self.tamper) = (SplitMix64(seed: seed), tamper) }

  /// Returns the payload that is sent in place of the given one.
  public func tampered(_ bytes: [UInt8], _ way: Way) -> [UInt8] { tamper?(bytes, way) ?? bytes }

  /// A copy of the link without the messages that are on their way.
  public var emptied: SwarmLink {
    var link = self
    link.underWay = []
    return link
  }

  /// Sends a message at `now`.
  public mutating func send(_ bytes: [UInt8], _ way: Way, at now: TickInstant) {
    let isLost = random.chance(perMille: lossPerMille)
    let copies = random.chance(perMille: doublePerMille) ? 2 : 1
    guard !isLost, !isDead[way.rawValue] else { return }
    for _ in 0..<copies {
      // Each copy has its own delay, so a later message may overtake it.
      let arrives = now + delay + .nanoseconds(random.within(0...jitter.count))
      underWay.append(Message(way: way, bytes: bytes, arrives: arrives))
    }
  }

  /// Returns the instant at which the next message arrives in this direction, or `.distantFuture` if none is on its way.
  public func nextArrival(_ way: Way) -> TickInstant {
    underWay.lazy.filter { $0.way == way }.map(\.arrives).min() ?? .distantFuture
  }

  /// Removes and returns the messages that have arrived in this direction by `now`, the earliest first.
  public mutating func arrived(_ way: Way, by now: TickInstant) -> [Message] {
    let arrived = underWay.enumerated().filter { $0.element.way == way && $0.element.arrives <= now }
    guard !arrived.isEmpty else { return [] }
    underWay.removeAll { $0.way == way && $0.arrives <= now }
    // Messages that arrive at one instant keep the order in which they were sent.
    return arrived.sorted { ($0.element.arrives, $0.offset) < ($1.element.arrives, $1.offset) }.map(\.element)
  }

  // MARK: Histories

  /// Applies an action if it concerns a link: `link LOSS DELAY JITTER DOUBLE` in parts of a thousand and milliseconds, or `link-dead THERE BACK`.
  ///
  /// - Returns: whether the action concerns a link.
  public mutating func apply(_ action: SwarmAction) -> Bool {
    switch action.verb {
    case "link":
      func share(_ index: Int) -> Int { Int(min(max(0, action[index]), 1_000)) }
      func span(_ index: Int) -> Nanoseconds { .milliseconds(min(max(0, action[index]), 60_000)) }
      (lossPerMille, delay, jitter, doublePerMille) = (share(0), span(1), span(2), share(3))
      return true
    case "link-dead":
      isDead = [action[0] > 0, action[1] > 0]
      return true
    default: return false
    }
  }

  /// Plans random actions on the link from `start` on: the link keeps its initial quality, is worse for some seconds, is half-open, or is cut.
  public static func plan(from start: TickInstant, _ plan: inout SwarmPlanner) {
    func quality(_ at: TickInstant, _ plan: inout SwarmPlanner) {
      plan.add(at, "link", plan.within(0...400), plan.within(0...150), plan.within(0...300), plan.within(0...200))
    }
    plan.maybe(500) { quality(start, &$0) }
    plan.times(0...3) { plan in
      let at = plan.instant()
      let over = at + .milliseconds(plan.within(100...5_000))
      if plan.chance(300) {
        quality(at, &plan)
        plan.add(over, "link", 0, plan.within(0...20), 0, 0)
      } else {
        let isHalfOpen = plan.chance(500)
        let there = isHalfOpen ? plan.within(0...1) : 1
        plan.add(at, "link-dead", there, isHalfOpen ? 1 - there : 1)
        plan.add(over, "link-dead", 0, 0)
      }
    }
  }
}
