import Logging
import Sprinkler
import Synchronization
import Tactus

/// The newest reading of each topic that the rules of the soil name. Safe to use from any thread.
final class SoilTopics: Sendable {
  private struct Heard {
    var percent: Double
    var at: TickInstant
  }
  private struct Book {
    var heard: [SoilTopic: Heard] = [:]
    /// The topics whose last message was no reading, which is logged once.
    var failed: Set<SoilTopic> = []
  }

  private let topics: [SoilTopic]
  private let logger: Logger
  private let book = Mutex(Book())

  init(_ topics: [SoilTopic], _ logger: Logger) { (self.topics, self.logger) = (topics, logger) }

  /// Receives a message. One that is retained or not understood changes nothing, so the last reading counts as long as it is valid.
  func receive(_ payload: [UInt8], on name: String, isRetained: Bool, at now: TickInstant) {
    guard !isRetained else { return }
    for topic in topics where topic.name == name {
      do throws(SoilMessage.Failure) {
        let percent = try SoilMessage.read(payload, topic)
        book.withLock { book in
          book.heard[topic] = Heard(percent: percent, at: now)
          book.failed.remove(topic)
        }
      } catch {
        guard book.withLock({ $0.failed.insert(topic).inserted }) else { continue }
        logger.warning(
          "a message about the soil is no reading",
          metadata: ["topic": "\(name)", "member": "\(topic.member ?? "-")", "reason": "\(error.reason)"])
      }
    }
  }

  /// Returns the last reading of a topic, or `nil` if none has come since the start.
  func reading(_ topic: SoilTopic, at now: TickInstant) -> MoistureReading? {
    book.withLock { book in
      book.heard[topic].map {
        MoistureReading(probe: .topic(topic), percent: $0.percent, ageSeconds: max(.zero, now - $0.at).inSeconds)
      }
    }
  }
}
