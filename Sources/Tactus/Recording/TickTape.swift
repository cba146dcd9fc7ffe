import CTactus

/// The kind of an entry on a tape. Mailboxes and ports write the public kinds.
public struct TapeKind: Hashable, Sendable, BitwiseCopyable {
  @usableFromInline let number: UInt16

  @_noLocks @_noAllocation @inlinable @inline(__always)
  init(_ number: UInt16) { self.number = number }

  // Computed: a stored one would be made lazily, under a lock.

  static var frame: Self { @_noLocks @_noAllocation @inline(__always) get { Self(0) } }
  static var released: Self { @_noLocks @_noAllocation @inline(__always) get { Self(1) } }
  static var externalStop: Self { @_noLocks @_noAllocation @inline(__always) get { Self(2) } }
  static var tick: Self { @_noLocks @_noAllocation @inline(__always) get { Self(3) } }
  static var ended: Self { @_noLocks @_noAllocation @inline(__always) get { Self(4) } }
  static var finished: Self { @_noLocks @_noAllocation @inline(__always) get { Self(5) } }
  static var inputReady: Self { @_noLocks @_noAllocation @inline(__always) get { Self(6) } }
  static var rateChange: Self { @_noLocks @_noAllocation @inline(__always) get { Self(7) } }
  static var counted: Self { @_noLocks @_noAllocation @inline(__always) get { Self(40) } }
  static var stopped: Self { @_noLocks @_noAllocation @inline(__always) get { Self(8) } }
  static var safeState: Self { @_noLocks @_noAllocation @inline(__always) get { Self(9) } }

  /// An entry that holds the next element of a ring.
  @inlinable public static var taken: Self { @_noLocks @_noAllocation @inline(__always) get { Self(10) } }
  /// An entry that records whether a ring is empty.
  @inlinable public static var isEmpty: Self { @_noLocks @_noAllocation @inline(__always) get { Self(11) } }
  /// An entry that holds an element put into a ring.
  @inlinable public static var pushed: Self { @_noLocks @_noAllocation @inline(__always) get { Self(12) } }
  /// An entry that holds the latest value as it was read.
  @inlinable public static var read: Self { @_noLocks @_noAllocation @inline(__always) get { Self(13) } }
  /// An entry that holds the number of a latest value.
  @inlinable public static var version: Self { @_noLocks @_noAllocation @inline(__always) get { Self(14) } }
  /// An entry that holds a new latest value as it was written.
  @inlinable public static var written: Self { @_noLocks @_noAllocation @inline(__always) get { Self(15) } }
  /// An entry that holds a requested I2C transfer.
  @inlinable public static var i2cSent: Self { @_noLocks @_noAllocation @inline(__always) get { Self(16) } }
  /// An entry that holds the result of an I2C transfer.
  @inlinable public static var i2cGot: Self { @_noLocks @_noAllocation @inline(__always) get { Self(17) } }
  /// An entry that holds a requested SPI transfer.
  @inlinable public static var spiSent: Self { @_noLocks @_noAllocation @inline(__always) get { Self(18) } }
  /// An entry that holds the result of an SPI transfer.
  @inlinable public static var spiGot: Self { @_noLocks @_noAllocation @inline(__always) get { Self(19) } }
  /// An entry that holds the levels written to GPIO lines.
  @inlinable public static var gpioSent: Self { @_noLocks @_noAllocation @inline(__always) get { Self(20) } }
  /// An entry that holds the levels read from GPIO lines.
  @inlinable public static var gpioGot: Self { @_noLocks @_noAllocation @inline(__always) get { Self(21) } }
  /// An entry that holds the edges received from GPIO lines.
  @inlinable public static var gpioEdges: Self { @_noLocks @_noAllocation @inline(__always) get { Self(22) } }
  /// An entry that holds the duty set on a PWM output.
  @inlinable public static var pwmSent: Self { @_noLocks @_noAllocation @inline(__always) get { Self(23) } }
  /// An entry that records whether a PWM output accepted its duty.
  @inlinable public static var pwmGot: Self { @_noLocks @_noAllocation @inline(__always) get { Self(24) } }
  /// An entry that holds the bytes written to a serial line.
  @inlinable public static var serialSent: Self { @_noLocks @_noAllocation @inline(__always) get { Self(25) } }
  /// An entry that holds the bytes read from a serial line.
  @inlinable public static var serialGot: Self { @_noLocks @_noAllocation @inline(__always) get { Self(26) } }
  /// An entry that holds received datagrams.
  @inlinable public static var datagramsGot: Self { @_noLocks @_noAllocation @inline(__always) get { Self(27) } }
  /// An entry that holds a sent datagram.
  @inlinable public static var datagramSent: Self { @_noLocks @_noAllocation @inline(__always) get { Self(28) } }
  /// An entry that records whether a link was established or lost.
  @inlinable public static var linkEvent: Self { @_noLocks @_noAllocation @inline(__always) get { Self(29) } }
  /// An entry that holds an order to a link.
  @inlinable public static var linkOrder: Self { @_noLocks @_noAllocation @inline(__always) get { Self(30) } }
  /// An entry that holds a sample of a device.
  @inlinable public static var sample: Self { @_noLocks @_noAllocation @inline(__always) get { Self(31) } }

  private static let names = [
    "the state of a lane", "a release", "whether another process stopped the outputs", "a tick", "the end of a tick",
    "the account of a tick", "an input", "a change of a rate", "the end of a lane", "a safe state",
    "the next element of a ring", "whether a ring is empty", "an element for a ring", "the latest value",
    "the number of a latest value", "a new latest value", "an I2C transfer", "what an I2C transfer brought",
    "an SPI transfer", "what an SPI transfer brought", "levels for GPIO lines", "levels of GPIO lines",
    "edges of GPIO lines", "a PWM duty", "whether a PWM took its duty", "bytes for a serial line",
    "bytes of a serial line", "received datagrams", "a datagram", "whether a link came or went",
    "an order to a link", "a device's sample",
  ]
}

extension TapeKind: CustomStringConvertible {
  /// The content of an entry of this kind, in words.
  public var description: String {
    if self == .counted { return "whether misses count" }
    return Int(number) < Self.names.count ? Self.names[Int(number)] : "an entry of kind \(number)"
  }
}

/// The name of a mailbox in a recording: the type of its elements.
@usableFromInline struct TapeEnd {
  @usableFromInline let element: Any.Type

  /// Allocates the description of a mailbox, which its storage owns.
  static func make(_ element: Any.Type) -> UnsafeMutablePointer<TapeEnd> {
    let end = UnsafeMutablePointer<TapeEnd>.allocate(capacity: 1)
    end.initialize(to: TapeEnd(element: element))
    return end
  }
}

/// The place on the tape of the newest complete value of a mailbox: the part, and the offset in it.
@usableFromInline struct TapedBase: BitwiseCopyable {
  @usableFromInline var part = UInt64.max
  @usableFromInline var place: Int64 = 0

  init() {}

  init(part: UInt64, place: Int64) { (self.part, self.place) = (part, place) }
}

/// The record of a lane's reads and writes in its ticks: written while the lane runs, and the source of what the ticks read in a replay.
///
/// Every mailbox of this package and every port of `Buses` records what a tick reads and writes by it. A port of another package does the same, so that
/// the loops that use it can be replayed:
///
///     guard let tape = TickTape.current else { return transfer(&request) }
///     tape.sends(.spiSent, &request, count)                    // compared, when it is replayed
///     if !tape.isReplaying { result = transfer(&request) }     // between TickTape.pause() and resume(_:)
///     tape.gets(.spiGot, &result, count)                       // from the tape, when it is replayed
///
/// Only the thread of the lane uses the tape, and only while a tick or a safe state runs. Timing: an entry costs 8 bytes and a copy of what it holds.
public struct TickTape: BitwiseCopyable {
  @usableFromInline let tape: UnsafeMutablePointer<tactus_tape>

  @_noLocks @_noAllocation @inlinable @inline(__always)
  init(_ tape: UnsafeMutablePointer<tactus_tape>) { self.tape = tape }

  /// The tape of the tick that this thread runs, or `nil` outside ticks, in a loop that is `unrecorded()`, and in a runtime without a recorder.
  @inlinable public static var current: TickTape? {
    @_noLocks @_noAllocation @inline(__always) get {
      guard let tape = tactus_tape_current() else { return nil }
      return TickTape(tape)
    }
  }

  /// Whether the tick is replayed, so that the tick must neither read from nor write to hardware or other threads.
  @inlinable public var isReplaying: Bool {
    @_noLocks @_noAllocation @inline(__always) get { tactus_tape_replays(tape) != 0 }
  }

  /// The part of the recording. An entry refers only to entries of its own part.
  @inlinable var part: UInt64 { @_noLocks @_noAllocation @inline(__always) get { tape.pointee.part } }

  /// Suspends the recording until `resume(_:)`, for work behind a port, such as that of a simulated device. Returns the argument of `resume(_:)`.
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public static func pause() -> TickTape? {
    guard let tape = tactus_tape_use(nil) else { return nil }
    return TickTape(tape)
  }

  /// Resumes the recording after `pause()`.
  @_noLocks @_noAllocation @inlinable @inline(__always)
  public static func resume(_ tape: TickTape?) {
    if let tape { _ = tactus_tape_use(tape.tape) }
  }

  /// Records an output of the tick, or in a replay compares it with the recorded one.
  @_noLocks @_noAllocation
  public func sends(_ kind: TapeKind, _ bytes: UnsafeRawPointer, _ count: Int) {
    _ = sends(kind, bytes, count, flag: false, nil)
  }

  /// Records an input of the tick, or in a replay overwrites it with the recorded one.
  @_noLocks @_noAllocation
  public func gets(_ kind: TapeKind, _ bytes: UnsafeMutableRawPointer, _ count: Int) {
    _ = gets(kind, bytes, count, isThere: true)
  }

  /// Records an output, or in a replay compares it. Returns `flag`, or in a replay the recorded flag.
  @_noLocks @_noAllocation @usableFromInline
  func sends(
    _ kind: TapeKind, _ bytes: UnsafeRawPointer, _ count: Int, flag: Bool, _ end: UnsafeMutablePointer<TapeEnd>?
  ) -> Bool {
    if !isReplaying {
      tactus_tape_put(tape, kind.number, flag ? 1 : 0, bytes, UInt32(truncatingIfNeeded: count))
      return flag
    }
    guard tactus_tape_goes_on(tape) != 0 else { return true }
    guard let entry = tactus_tape_peek(tape), entry.pointee.kind == kind.number, Int(entry.pointee.count) == count,
      tactus_same(tactus_tape_bytes(entry), bytes, count) != 0 || isSame(kind, bytes, count, end)
    else {
      differ(kind, bytes, count, end)
      return true
    }
    let flag = entry.pointee.flag != 0
    tactus_tape_skip(tape)
    return flag
  }

  /// Records a published value, or only its changes if it resembles the one at `base`. In a replay compares it with the recorded one.
  @_noLocks @_noAllocation @usableFromInline
  func publishes(
    _ bytes: UnsafeRawPointer, _ count: Int, _ end: UnsafeMutablePointer<TapeEnd>,
    _ base: UnsafeMutablePointer<TapedBase>
  ) {
    if isReplaying {
      if tactus_tape_goes_on(tape) != 0 { comparePublished(bytes, count, end, base) }
      return
    }
    let size = UInt32(truncatingIfNeeded: count)
    if base.pointee.part == tape.pointee.part {
      let whole = tape.pointee.start + Int(truncatingIfNeeded: base.pointee.place)
      if tactus_tape_put_changes(tape, TapeKind.written.number, whole, bytes, size) != 0 { return }
    }
    base.pointee.part = tape.pointee.part
    base.pointee.place = Int64(truncatingIfNeeded: tape.pointee.next + 8 - tape.pointee.start)
    tactus_tape_put(tape, TapeKind.written.number, 0, bytes, size)
    // A value that did not fit cannot be the base of later differences.
    if tape.pointee.lost != 0 { base.pointee.part = .max }
  }

  @_semantics("no_performance_analysis") @inline(never)
  private func comparePublished(
    _ bytes: UnsafeRawPointer, _ count: Int, _ end: UnsafeMutablePointer<TapeEnd>,
    _ base: UnsafeMutablePointer<TapedBase>
  ) {
    LaneReplay.of(tape).published(bytes, count, end, &base.pointee)
  }

  /// Records an input that exists if `isThere`. Returns `isThere`, or in a replay the recorded answer. An input that does not exist has no bytes.
  @_noLocks @_noAllocation @usableFromInline
  func gets(_ kind: TapeKind, _ bytes: UnsafeMutableRawPointer, _ count: Int, isThere: Bool) -> Bool {
    if !isReplaying {
      tactus_tape_put(
        tape, kind.number, isThere ? 1 : 0, bytes, isThere ? UInt32(truncatingIfNeeded: count) : 0)
      return isThere
    }
    guard tactus_tape_goes_on(tape) != 0 else { return false }
    guard let entry = tactus_tape_peek(tape), entry.pointee.kind == kind.number,
      entry.pointee.flag == 0 || Int(entry.pointee.count) == count
    else {
      differ(kind, nil, count, nil)
      return false
    }
    let isThere = entry.pointee.flag != 0
    if isThere { bytes.copyMemory(from: tactus_tape_bytes(entry), byteCount: count) }
    tactus_tape_skip(tape)
    return isThere
  }

  @_semantics("no_performance_analysis") @inline(never)
  private func isSame(
    _ kind: TapeKind, _ bytes: UnsafeRawPointer, _ count: Int, _ end: UnsafeMutablePointer<TapeEnd>?
  ) -> Bool {
    LaneReplay.of(tape).isSame(kind, bytes, count, end)
  }

  @_semantics("no_performance_analysis") @inline(never)
  private func differ(
    _ kind: TapeKind, _ bytes: UnsafeRawPointer?, _ count: Int, _ end: UnsafeMutablePointer<TapeEnd>?
  ) {
    LaneReplay.of(tape).differ(kind, bytes, count, end)
  }
}
