@_spi(FromOutside) import Conversions
import Tactus

/// The messages that wait for their receivers, in order for each receiver. Time is passed in.
///
/// A message is removed when its receiver has taken it, when it is too old, when its receiver has refused it five
/// times, or when too many wait: then the oldest of the least severity is removed. Undelivered messages are counted,
/// and the next message states their number.
struct NoticeOutbox: Sendable {
  struct Waiting: Sendable, Codable, Equatable {
    var message: NoticeMessage
    /// The instant at which the message was added, in seconds.
    var since: Int64
    var attempts = 0
    var refusals = 0
    /// The instant before which the next attempt is not made, in seconds.
    var notBefore: Int64
  }

  /// The numbers of messages and attempts of one receiver since the start.
  struct Counts: Sendable, Equatable {
    var sent, failed, refused, dropped: Int64

    static let zero = Counts(sent: 0, failed: 0, refused: 0, dropped: 0)
  }

  /// The state of the outbox that is kept over a restart of the program.
  struct Kept: Sendable, Codable, Equatable {
    var waiting: [Waiting] = []
    /// The number of messages, by receiver, that were lost without the receiver having been notified of the loss.
    var missing: [String: Int] = [:]
  }

  static let mostOfReceiver = 100
  static let mostRefusals = 5
  static let (firstPause, longestPause): (Int64, Int64) = (5, 900)

  private(set) var kept: Kept
  private(set) var counts: [String: Counts] = [:]
  /// The receivers whose message is on its way now.
  private var busy: Set<String> = []
  private let keepSeconds: Int64

  init(_ kept: Kept = Kept(), keepSeconds: Int64) { (self.kept, self.keepSeconds) = (kept, keepSeconds) }

  /// Adds a message to those that wait for their receivers.
  mutating func add(_ message: NoticeMessage, at now: TickInstant) {
    let receiver = message.receiver
    kept.waiting.append(Waiting(message: message, since: now.seconds, notBefore: now.seconds))
    while kept.waiting.count(where: { $0.message.receiver == receiver }) > Self.mostOfReceiver {
      let least = kept.waiting.filter { $0.message.receiver == receiver }.map(\.message.condition.severity).min()
      // The first message of a busy receiver is being sent.
      let head = busy.contains(receiver) ? kept.waiting.first { $0.message.receiver == receiver }?.message.id : nil
      guard
        let index = kept.waiting.firstIndex(where: {
          $0.message.receiver == receiver && $0.message.condition.severity == least && $0.message.id != head
        })
      else { return }
      drop(at: index)
    }
  }

  /// Returns the messages to send now, at most one for each receiver that is not busy, and marks these receivers as
  /// busy until `finished`. Each message states how many before it are missing.
  mutating func beginSending(at now: TickInstant) -> [NoticeMessage] {
    for waiting in kept.waiting where now.seconds - waiting.since >= keepSeconds {
      guard !busy.contains(waiting.message.receiver), let index = kept.waiting.firstIndex(of: waiting) else { continue }
      drop(at: index)
    }
    var seen = busy
    var due: [NoticeMessage] = []
    for index in kept.waiting.indices {
      let receiver = kept.waiting[index].message.receiver
      guard seen.insert(receiver).inserted, kept.waiting[index].notBefore <= now.seconds else { continue }
      busy.insert(receiver)
      kept.waiting[index].attempts += 1
      kept.waiting[index].message.missing += kept.missing.removeValue(forKey: receiver) ?? 0
      due.append(kept.waiting[index].message)
    }
    return due
  }

  /// Stores the outcome of an attempt: the message is removed, or waits for its next attempt.
  mutating func finished(_ message: NoticeMessage, _ outcome: NoticeOutcome, at now: TickInstant) {
    let receiver = message.receiver
    busy.remove(receiver)
    guard let index = kept.waiting.firstIndex(where: { $0.message.id == message.id && $0.message.receiver == receiver })
    else { return }
    switch outcome {
    case .sent:
      counts[receiver, default: .zero].sent += 1
      kept.waiting.remove(at: index)
      return
    case .failed: counts[receiver, default: .zero].failed += 1
    case .refused:
      counts[receiver, default: .zero].refused += 1
      kept.waiting[index].refusals += 1
      if kept.waiting[index].refusals >= Self.mostRefusals { return drop(at: index) }
    }
    kept.waiting[index].notBefore = now.seconds + Self.pause(after: kept.waiting[index].attempts)
  }

  /// Removes the messages for receivers that are not in the given set.
  mutating func keepOnly(_ receivers: Set<String>) {
    kept.waiting.removeAll { !receivers.contains($0.message.receiver) }
    kept.missing = kept.missing.filter { receivers.contains($0.key) }
  }

  /// Returns the pause after a number of attempts, in seconds: 5, 10, 20, … up to 15 minutes.
  static func pause(after attempts: Int) -> Int64 {
    attempts > 8 ? longestPause : min(longestPause, firstPause << Int64(max(0, attempts - 1)))
  }

  private mutating func drop(at index: Int) {
    let message = kept.waiting.remove(at: index).message
    counts[message.receiver, default: .zero].dropped += 1
    kept.missing[message.receiver, default: 0] += 1 + message.missing
  }
}

extension NoticeOutbox.Kept {
  /// Returns the same state with every instant moved by a number of seconds, to convert it to another boot's clock.
  func moved(by seconds: Int64) -> Self {
    var moved = self
    for index in moved.waiting.indices {
      moved.waiting[index].since &+= seconds
      moved.waiting[index].notBefore &+= seconds
    }
    return moved
  }
}
