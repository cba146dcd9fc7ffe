import Synchronization
import Tactus

/// Messages that wait for a thread of their consumer: bounded; what does not fit is dropped and counted.
public final class MQTTInbox: Sendable {
  private struct State {
    var waiting: [MQTTMessage] = []
    /// The next to be taken; what is before it has been.
    var first = 0
    var dropped: Int64 = 0
  }
  /// How many messages may wait at a time, at least 1.
  public let capacity: Int
  /// Rung when a message has come; clear it, then take until nothing is left.
  public let bell: Doorbell
  private let state = Mutex(State())

  /// An empty inbox. A capacity below 1 traps.
  ///
  /// - Throws: `.system` when the process or the machine has no descriptor left for the bell.
  public init(capacity: Int = 1_024) throws(RuntimeError) {
    precondition(capacity > 0, "an inbox holds a message")
    self.capacity = capacity
    bell = try Doorbell()
  }

  /// What the client calls. False: full.
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

  /// The oldest, if any.
  public func take() -> MQTTMessage? {
    state.withLock { state in
      guard state.first < state.waiting.count else { return nil }
      let message = state.waiting[state.first]
      state.first += 1
      // Moved together when half of it is behind: each message is moved once at most.
      if state.first * 2 >= state.waiting.count {
        state.waiting.removeFirst(state.first)
        state.first = 0
      }
      return message
    }
  }

  /// Messages that found the inbox full, since it was made. Any thread.
  public var dropped: Int64 { state.withLock { $0.dropped } }
}
