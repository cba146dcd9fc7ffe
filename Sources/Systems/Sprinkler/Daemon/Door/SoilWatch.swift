import Sprinkler
import Synchronization
import Tactus
import TactusDaemon
import Water

/// Collects the readings of the soil every ten seconds, for the rules that name its probes.
final class SoilWatch: Sendable {
  private static let period = Nanoseconds.seconds(10)

  private let find: @Sendable () -> SoilMoisture?
  let topics: SoilTopics
  /// The pins of the comparators, in the order of the loop's lines.
  private let pins: [Int]
  private let next = Mutex(TickInstant.zero)

  /// Creates a watch over the soil of plants, of topics and of comparators.
  ///
  /// - Parameters:
  ///   - soil: the offer of a system that measures soil, which may be made later than the watch.
  ///   - topics: the readings from the broker's topics.
  ///   - pins: the pins of the comparators, in the order of the loop's lines.
  convenience init(_ soil: Needed<SoilMoisture>, _ topics: SoilTopics, pins: [Int]) {
    self.init(topics, pins: pins) { soil.offer }
  }

  init(_ topics: SoilTopics, pins: [Int], _ find: @escaping @Sendable () -> SoilMoisture?) {
    (self.topics, self.pins, self.find) = (topics, pins, find)
  }

  /// Returns the newest readings of the probes, or `nil` if ten seconds have not passed since the last call.
  ///
  /// - Parameter newest: the loop's newest snapshot, which has the readings of the comparators.
  func readings(of rules: [MoistureRule], _ newest: SprinklerSnapshot, at now: TickInstant) -> [MoistureReading]? {
    let isDue = next.withLock { next in
      guard now >= next else { return false }
      next = now + Self.period
      return true
    }
    guard isDue else { return nil }
    let plants = find()
    return Set(rules.map(\.probe)).compactMap { probe in
      switch probe {
      case .plant(let number):
        plants?.reading(number).map {
          MoistureReading(probe: probe, percent: $0.percent, ageSeconds: $0.ageSeconds)
        }
      case .topic(let topic): topics.reading(topic, at: now)
      case .pin(let pin):
        pins.firstIndex(of: pin).flatMap { newest.soil.isWet($0) }.map { isWet in
          MoistureReading(
            probe: probe, percent: isWet ? 100 : 0, ageSeconds: max(.zero, now - newest.at).inSeconds)
        }
      }
    }
  }
}
