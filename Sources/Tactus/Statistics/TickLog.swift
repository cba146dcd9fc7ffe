import Synchronization

/// A log for ticks: one loop writes messages, and one thread other than a lane's reads them and formats their text.
///
///     let log = TickLog(capacity: 256)
///     Loop("axis", …) { Axis(log: log.writer()) }
///
///     log.write(.warning, "tilt {} rad, limit {}", tilt, limit, at: tick.started)   // in the tick
///
///     var lines = log.reader()                                                      // anywhere else
///     while let line = lines.pop() { print(line) }    // 12.345000000 s warning: tilt 0.52 rad, limit 0.5
///
/// The log is bounded: a message is lost and counted if the log is full. The reader sees how many messages are missing, and where.
/// Writing never waits, takes no lock, allocates nothing, reads no clock and copies 88 bytes; it is the same in simulated time.
public final class TickLog: @unchecked Sendable {
  // Sendable: the ring hands out each end once, and the count is atomic.
  private let ring: Ring<TickLogEntry>
  fileprivate let count: UnsafeMutablePointer<Atomic<Int>>

  /// Creates an empty log.
  ///
  /// - Parameter capacity: the number of messages that may wait to be read, at least 1; rounded up to a power of two.
  public init(capacity: Int) {
    ring = Ring(capacity: capacity)
    count = .allocate(capacity: 1)
    count.initialize(to: Atomic(0))
  }

  deinit {
    count.deinitialize(count: 1)
    count.deallocate()
  }

  /// Returns the loop's end. There is one at a time: a second call traps unless the first end is gone; the new end then continues its work.
  public func writer() -> TickLogWriter { TickLogWriter(self, ring.writer()) }

  /// Returns the reading end. There is one at a time, as for `writer()`.
  public func reader() -> TickLogReader { TickLogReader(self, ring.reader()) }

  /// The number of messages lost so far because the log was full. The value may be read from any thread.
  public var lost: Int { count.pointee.load(ordering: .relaxed) }
}

/// The writing end of a `TickLog`. The type is not copyable: it belongs to one loop.
public struct TickLogWriter: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.
  private let log: TickLog
  /// The writing end of the ring, and its memory. `write` does the same as `RingWriter.push`, without a type parameter: the
  /// compiler proves a generic function only where it is used, and a debug build would run another copy of it.
  private let end: RingWriter<TickLogEntry>
  private let entries: UnsafeMutablePointer<TickLogEntry>
  private let written: UnsafeMutablePointer<Atomic<Int>>
  private let read: UnsafeMutablePointer<Atomic<Int>>
  private let lost: UnsafeMutablePointer<Atomic<Int>>
  private let mask: Int
  private var index: Int
  private var readSeen: Int
  /// The number of messages lost since the last message that was taken.
  private var lostSince = 0

  fileprivate init(_ log: TickLog, _ end: consuming RingWriter<TickLogEntry>) {
    self.log = log
    entries = end.elements
    written = end.written
    read = end.read
    mask = end.mask
    index = end.index
    readSeen = end.readSeen
    self.end = end
    lost = log.count
  }

  /// Writes one message, or counts it as lost if the log is full. The call never waits.
  ///
  /// - Parameters:
  ///   - level: the importance of the message.
  ///   - message: a literal text with `{}` in the place of each number.
  ///   - first: the number for the first `{}`. Write `Double(count)` for an integer.
  ///   - second: the number for the second `{}`.
  ///   - third: the number for the third `{}`.
  ///   - fourth: the number for the fourth `{}`.
  ///   - instant: the instant of the tick, `tick.started`.
  @_noLocks @_noAllocation
  public mutating func write(
    _ level: TickLogEntry.Level, _ message: StaticString, _ first: Double? = nil, _ second: Double? = nil,
    _ third: Double? = nil, _ fourth: Double? = nil, at instant: TickInstant
  ) {
    var values = (0.0, 0.0, 0.0, 0.0)
    var count = 0
    if let first {
      values.0 = first
      count = 1
    }
    if let second {
      values.1 = second
      count = 2
    }
    if let third {
      values.2 = third
      count = 3
    }
    if let fourth {
      values.3 = fourth
      count = 4
    }
    if index &- readSeen > mask {
      readSeen = read.pointee.load(ordering: .acquiring)
      guard index &- readSeen <= mask else {
        lostSince &+= 1
        lost.pointee.add(1, ordering: .relaxed)
        return
      }
    }
    entries[index & mask] = TickLogEntry(
      at: instant, level: level, message: message, values: values, count: count, lost: lostSince)
    index &+= 1
    written.pointee.store(index, ordering: .releasing)
    lostSince = 0
  }
}

/// The reading end of a `TickLog`. The type is not copyable: it belongs to one thread at a time.
public struct TickLogReader: ~Copyable, Sendable {
  private let log: TickLog
  private var ring: RingReader<TickLogEntry>

  fileprivate init(_ log: TickLog, _ ring: consuming RingReader<TickLogEntry>) {
    self.log = log
    self.ring = ring
  }

  /// Takes the oldest message. Returns `nil` if the log is empty. The call never waits.
  public mutating func pop() -> TickLogEntry? { ring.pop() }
}
