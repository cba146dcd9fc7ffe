import Synchronization
import Tactus

/// A bounded queue of messages for a consumer's thread. Messages that do not fit are dropped and counted.
public final class MQTTInbox: Sendable {
  private struct State {
    var waiting: [MQTTMessage] = []
    /// The index of the next message to be taken.
    var first = 0
    var dropped: Int64 = 0
  }
  /// The greatest number of waiting messages, at least 1.
  public let capacity: Int
  /// The bell that is rung when a message has arrived. Clear it, then take messages until none is left.
  public let bell: Doorbell
  private let state = Mutex(State())

  /// Creates an empty inbox. A capacity below 1 traps.
  ///
  /// - Throws: `.system` when the process or the machine has no descriptor left for the bell.
  public init(capacity: Int = 1_024) throws(RuntimeError) {
    precondition(capacity > 0, "an inbox holds a message")
    self.capacity = capacity
    bell = try Doorbell()
  }

  /// Adds a message. The client calls this function. Returns `false` if the inbox is full.
  @discardableResult
  public func deliver(_ message: MQTTMessage) -> Bool {
    let isTaken = state.withLock { state in
      guard state.waiting.count - state.first < capacity else {
        state.dropped += 1
        return false
      }
      state.waiting.append(message)
      return true
    }
    if isTaken { bell.button.ring() }
    return isTaken
  }

  /// Takes the oldest message. Returns `nil` if no message waits.
  public func take() -> MQTTMessage? {
    state.withLock { state in
      guard state.first < state.waiting.count else { return nil }
      let message = state.waiting[state.first]
      state.first += 1
      // The array is compacted when half of it has been taken, so each message is moved at most once.
      if state.first * 2 >= state.waiting.count {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
      return message
    }
  }

  /// The number of messages that were dropped because the inbox was full. The value may be read from any thread.
  public var dropped: Int64 { state.withLock { $0.dropped } }
}
