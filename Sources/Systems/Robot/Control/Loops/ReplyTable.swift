import Buses
import Tactus

/// The sources that wait for a reply: the newest echo of each, answered at most once in 20 ms.
///
/// The table has room for eight sources. A slot is given to another source only when its last reply is 20 ms old, so that forged senders
/// draw at most 400 replies a second.
struct ReplyTable: BitwiseCopyable {
  private struct Slot: BitwiseCopyable {
    var source: Endpoint
    var echo: UInt64
    var verdict: Verdict
    var isWaiting: Bool
    /// The instant at which the last reply of this slot was sent, or `nil` if none has been sent.
    var repliedAt: TickInstant?

    @_noLocks @_noAllocation
    func isFree(at now: TickInstant) -> Bool {
      guard !isWaiting else { return false }
      guard let repliedAt else { return true }
      return (now - repliedAt).count >= 20_000_000
    }

    @_noLocks @_noAllocation
    mutating func ask(_ newEcho: UInt64, _ newVerdict: Verdict) {
      echo = newEcho
      verdict = newVerdict
      isWaiting = true
    }
  }
  static var capacity: Int {
    @_noLocks @_noAllocation get { 8 }
  }
  private var slots: [8 of Slot]

  @_noLocks @_noAllocation
  init() {
    slots = .init(
      repeating: Slot(
        source: Endpoint(high: 0, low: 0, port: 0), echo: 0, verdict: .accepted, isWaiting: false, repliedAt: nil))
  }

  /// Records that `source` requests a reply with `echo`. Returns whether the table had room for the source.
  @_noLocks @_noAllocation
  mutating func ask(_ source: Endpoint, _ echo: UInt64, _ verdict: Verdict, at now: TickInstant) -> Bool {
    var free = -1
    for index in 0..<Self.capacity {
      if slots[index].source.isSame(as: source) {
        guard slots[index].isWaiting || slots[index].isFree(at: now) else { return false }
        slots[index].ask(echo, verdict)
        return true
      }
      if free < 0, slots[index].isFree(at: now) { free = index }
    }
    guard free >= 0 else { return false }
    slots[free].source = source
    slots[free].ask(echo, verdict)
    return true
  }

  /// Returns the next source that waits, marked as answered at `now`, or `nil` if no source waits.
  @_noLocks @_noAllocation
  mutating func take(at now: TickInstant) -> (source: Endpoint, echo: UInt64, verdict: Verdict)? {
    for index in 0..<Self.capacity where slots[index].isWaiting {
      slots[index].isWaiting = false
      slots[index].repliedAt = now
      return (slots[index].source, slots[index].echo, slots[index].verdict)
    }
    return nil
  }
}
