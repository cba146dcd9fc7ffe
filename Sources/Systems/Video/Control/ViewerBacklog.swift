@_spi(FromOutside) import Conversions
import Tactus

/// The fragments that wait for one viewer of a stream: a bounded number, and never one that cannot be decoded.
///
/// A viewer begins with a key frame. A viewer that falls behind loses everything up to the next key frame, so that it continues with
/// current pictures and never delays the stream.
public struct ViewerBacklog: Sendable {
  /// The longest time that a fragment may wait. A fragment that has waited longer is outdated, and so are those that wait behind it.
  public static let longestWait = Nanoseconds.seconds(1)
  /// The approximate number of bytes up to which fragments are taken together.
  static let pieceBytes = 4 << 10

  /// The highest number of bytes that wait for a viewer, not counting the initialisation segment.
  public let limitBytes: Int
  public private(set) var dropped: Int64 = 0
  /// The initialisation segment, or `nil` once the viewer has taken it.
  private var initialisation: [UInt8]?
  private var fragments: [(bytes: [UInt8], at: TickInstant)] = []
  private var bytes = 0
  private var needsKey = true
  /// Whether the viewer has taken data since `wait` was last called.
  private var hasTaken = false
  /// Whether fragments were dropped since `wait` was last called.
  private var hasDropped = false

  public init(limitBytes: Int) { self.limitBytes = limitBytes }

  /// Sets the initialisation segment, before the first fragment and when the camera's format has changed. Earlier fragments are dropped,
  /// because they cannot be decoded with it.
  public mutating func begin(_ initialisation: [UInt8]) {
    forget()
    self.initialisation = initialisation
  }

  public mutating func add(_ fragment: [UInt8], isKey: Bool, at now: TickInstant) {
    let isLate = fragments.first.map { now - $0.at > Self.longestWait } ?? false
    if isLate || bytes + fragment.count > limitBytes { forget() }
    guard isKey || !needsKey, fragment.count <= limitBytes else {
      dropped += 1
      return
    }
    needsKey = false
    fragments.append((fragment, now))
    bytes += fragment.count
  }

  /// Returns waiting data in order, at least one fragment and few more than `pieceBytes`, or `nil` if no fragment
  /// waits. Data that was taken counts as sent and is never dropped.
  public mutating func take() -> [UInt8]? {
    guard !fragments.isEmpty else { return nil }
    var taken = initialisation ?? []
    initialisation = nil
    var count = 0
    while count < fragments.count, count == 0 || taken.count < Self.pieceBytes {
      taken += fragments[count].bytes
      bytes -= fragments[count].bytes.count
      count += 1
    }
    fragments.removeFirst(count)
    hasTaken = true
    return taken
  }

  /// Returns the time for which the oldest fragment has waited, or `longestWait` if fragments were dropped since the
  /// last call. Returns `nil` if the viewer has taken nothing since then: a lower rate does not help a viewer that
  /// stands still, such as a paused player.
  public mutating func wait(at now: TickInstant) -> Nanoseconds? {
    guard hasTaken else { return nil }
    defer { (hasTaken, hasDropped) = (false, false) }
    if hasDropped { return Self.longestWait }
    return fragments.first.map { max(.zero, now - $0.at) } ?? .zero
  }

  private mutating func forget() {
    dropped += Int64(fragments.count)
    hasDropped = hasDropped || !fragments.isEmpty
    fragments = []
    bytes = 0
    needsKey = true
  }
}
