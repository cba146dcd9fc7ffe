import NIOCore

/// The events that wait for a client that reads too slowly. The backlog is bounded: a client that falls further behind is disconnected.
struct WebSocketBacklog {
  enum Verdict: Equatable {
    /// No event is waiting, so the new one is to be written at once.
    case write
    /// The event was queued.
    case wait
    /// The event was queued in place of older telemetry of the same system.
    case replaced
    /// More events are waiting than allowed.
    case tooSlow(behind: Int)
  }

  private struct Item {
    let bytes: ByteBuffer
    /// The system whose telemetry the item is, or `nil` for an event that must not be left out.
    let telemetry: String?
  }

  private let limits: WebSocketLimits
  private var items = CircularBuffer<Item>()
  /// The number of bytes that wait.
  private(set) var byteCount = 0

  init(_ limits: WebSocketLimits) { self.limits = limits }

  var isEmpty: Bool { items.isEmpty }

  /// Returns whether a frame is to be written at once; if not, the frame is queued.
  ///
  /// - Parameters:
  ///   - telemetry: the system whose telemetry the frame is, or `nil` for an edge, a state or an answer.
  ///   - keeping: how many frames of this telemetry may wait, this one included; the oldest is dropped.
  mutating func offer(
    _ bytes: ByteBuffer, telemetry: String? = nil, keeping: Int = 1, isWritable: Bool
  ) -> Verdict {
    if isWritable, items.isEmpty { return .write }
    var replaced = false
    // The newest event goes to the end; in the place of the old one it would overtake the events in between.
    if let telemetry, items.count(where: { $0.telemetry == telemetry }) >= keeping,
      let old = items.firstIndex(where: { $0.telemetry == telemetry })
    {
      byteCount -= items.remove(at: old).bytes.readableBytes
      replaced = true
    }
    items.append(Item(bytes: bytes, telemetry: telemetry))
    byteCount += bytes.readableBytes
    guard items.count <= limits.queuedEvents, byteCount <= limits.queuedBytes else {
      return .tooSlow(behind: items.count)
    }
    return replaced ? .replaced : .wait
  }

  /// Removes and returns the oldest frame, or `nil` if none is waiting. The function is to be called when the client reads again.
  mutating func next() -> ByteBuffer? {
    guard let item = items.popFirst() else { return nil }
    byteCount -= item.bytes.readableBytes
    return item.bytes
  }

  mutating func clear() {
    items.removeAll()
    byteCount = 0
  }
}
