import NIOCore

/// Events that wait for a client that reads too slowly. Bounded: a client that falls further behind is dropped.
struct WebSocketBacklog {
  enum Verdict: Equatable {
    /// Nothing waits: write it.
    case write
    /// It waits.
    case wait
    /// It waits in place of an older telemetry of its system.
    case replaced
    /// More waits than may.
    case tooSlow(behind: Int)
  }

  private struct Item {
    let bytes: ByteBuffer
    /// The system whose telemetry it is; `nil` for an event that must not be left out.
    let telemetry: String?
  }

  private let limits: WebSocketLimits
  private var items = CircularBuffer<Item>()
  private var byteCount = 0

  init(_ limits: WebSocketLimits) { self.limits = limits }

  var isEmpty: Bool { items.isEmpty }

  /// - Parameter telemetry: the system whose telemetry it is; `nil` for an edge, a state or an answer.
  mutating func offer(_ bytes: ByteBuffer, telemetry: String? = nil, isWritable: Bool) -> Verdict {
    if isWritable, items.isEmpty { return .write }
    var replaced = false
    // The newest goes to the end: put in the old one's place it would overtake what happened in between.
    if let telemetry, let old = items.firstIndex(where: { $0.telemetry == telemetry }) {
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

  /// The oldest, once the client reads again.
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
