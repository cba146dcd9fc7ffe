import Synchronization

/// A mailbox that holds the latest value: one thread writes, any number of threads read, and no thread waits.
///
///     let tilt = Latest(Tilt())
///     Loop("imu", …) { IMU(tilt: tilt.writer()) }
///     Loop("balance", …) { Balance(tilt: tilt.reader()) }
///
/// A sequence-numbered pair of slots (the kernel calls it a seqcount latch): the writer fills the slot that readers are
/// not looking at, word by word, then raises the sequence number, whose lowest bit says which slot is whole. A writer
/// that is preempted half-way blocks no reader, and a reader has to look again only when a whole further write ended and
/// another began while it copied. docs/decisions/latest-value.md explains why this is not a plain seqlock or a triple buffer.
/// Elements are plain values (`BitwiseCopyable`); one write or read copies `MemoryLayout<Element>.size` bytes.
public final class Latest<Element: BitwiseCopyable>: @unchecked Sendable {
  // Sendable: every access to the storage is atomic; the right to write is handed out once.
  @usableFromInline let storage: LatestStorage
  fileprivate let writers = Atomic<Int>(0)
  fileprivate let initial: Element
  /// The description of the mailbox for a recording's tape.
  fileprivate let end: UnsafeMutablePointer<TapeEnd>

  /// Creates a mailbox that holds `element` until the first write. The initialiser allocates; the size is fixed from then on.
  public init(_ element: Element) {
    initial = element
    storage = LatestStorage(byteCount: MemoryLayout<Element>.size)
    end = TapeEnd.make(Element.self)
    withUnsafeBytes(of: element) { bytes in
      storage.copyIn(bytes.baseAddress!, bytes.count, to: storage.slot(0))
      storage.copyIn(bytes.baseAddress!, bytes.count, to: storage.slot(1))
    }
  }

  deinit { end.deallocate() }

  /// Returns the writing end. There is one at a time: a second call traps unless the first end is gone.
  public func writer() -> LatestWriter<Element> {
    require(writers.add(1, ordering: .acquiring).oldValue == 0, "a latest value has one writer")
    return LatestWriter(self)
  }

  /// Returns a reading end. Any number of reading ends may exist.
  public func reader() -> LatestReader<Element> { LatestReader(self) }

  /// The number of times a value has been published, for readers that need nothing else. The value is valid as long as this object exists.
  public var version: LatestVersion { LatestVersion(sequence: storage.sequence) }
}

/// A sequence number and two slots of whole words. They share a cache line if they fit, since a small value then costs its writer
/// one line to take back from its readers; otherwise each has lines of its own.
@usableFromInline final class LatestStorage: @unchecked Sendable {
  @usableFromInline let base: UnsafeMutableRawPointer
  @usableFromInline let sequence: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let wordCount: Int
  @usableFromInline let stride: Int
  @usableFromInline let slots: UnsafeMutableRawPointer

  init(byteCount: Int) {
    wordCount = max(1, (byteCount + 7) / 8)
    let fitsOneLine = 8 + 2 * 8 * wordCount <= 64
    stride = fitsOneLine ? 8 * wordCount : (wordCount * 8 + 63) / 64 * 64
    let offset = fitsOneLine ? 8 : 128
    // 128 at least, so that no other allocation shares the line or its prefetched neighbour.
    base = .allocate(byteCount: max(128, offset + 2 * stride), alignment: 128)
    slots = base + offset
    sequence = base.bindMemory(to: Atomic<UInt64>.self, capacity: 1)
    sequence.initialize(to: Atomic(0))
    for number in 0...1 {
      for word in 0..<wordCount { (slot(number) + word).initialize(to: Atomic(0)) }
    }
  }

  deinit { base.deallocate() }

  @usableFromInline func slot(_ number: Int) -> UnsafeMutablePointer<Atomic<UInt64>> {
    (slots + number * stride).assumingMemoryBound(to: Atomic<UInt64>.self)
  }

  func copyIn(_ bytes: UnsafeRawPointer, _ count: Int, to slot: UnsafeMutablePointer<Atomic<UInt64>>) {
    copyWordsIn(bytes, count, slot)
  }
}

// For the runtime's own accounts, which are of whole words and published from its scheduler.

/// Publishes `count` words as number `next`, one more than the last. Takes pointers, since a storage object would be retained.
@_noLocks @_noAllocation @inline(__always)
func publishWords(
  _ bytes: UnsafeRawPointer, _ count: Int, as next: UInt64, slots: UnsafeMutableRawPointer, stride: Int,
  sequence: UnsafeMutablePointer<Atomic<UInt64>>
) {
  let slot = (slots + Int(truncatingIfNeeded: next & 1) &* stride).assumingMemoryBound(to: Atomic<UInt64>.self)
  // A reader that saw this slot as whole must see that it is not, before any word changes.
  atomicMemoryFence(ordering: .releasing)
  let words = bytes.assumingMemoryBound(to: UInt64.self)
  var word = 0
  while word < count {
    slot[word].store(words[word], ordering: .relaxed)
    word &+= 1
  }
  sequence.pointee.store(next, ordering: .releasing)
}

extension LatestStorage {
  /// Copies the value last published, consistently, and returns its number.
  func read(into bytes: UnsafeMutableRawPointer, bytes count: Int) -> UInt64 {
    while true {
      let seen = sequence.pointee.load(ordering: .acquiring)
      copyWordsOut(slot(Int(truncatingIfNeeded: seen & 1)), bytes, count)
      atomicMemoryFence(ordering: .acquiring)
      if sequence.pointee.load(ordering: .relaxed) == seen { return seen }
    }
  }
}

@inlinable @inline(__always)
func copyWordsIn(_ bytes: UnsafeRawPointer, _ count: Int, _ slot: UnsafeMutablePointer<Atomic<UInt64>>) {
  let whole = count &>> 3
  var word = 0
  while word < whole {
    slot[word].store(bytes.loadUnaligned(fromByteOffset: word &* 8, as: UInt64.self), ordering: .relaxed)
    word &+= 1
  }
  if count & 7 != 0 {
    var rest: UInt64 = 0
    var byte = whole &* 8
    while byte < count {
      rest |= UInt64(bytes.load(fromByteOffset: byte, as: UInt8.self)) &<< UInt64((byte & 7) &* 8)
      byte &+= 1
    }
    slot[whole].store(rest, ordering: .relaxed)
  }
}

@inlinable @inline(__always)
func copyWordsOut(_ slot: UnsafeMutablePointer<Atomic<UInt64>>, _ bytes: UnsafeMutableRawPointer, _ count: Int) {
  let whole = count &>> 3
  var word = 0
  while word < whole {
    bytes.storeBytes(of: slot[word].load(ordering: .relaxed), toByteOffset: word &* 8, as: UInt64.self)
    word &+= 1
  }
  if count & 7 != 0 {
    let rest = slot[whole].load(ordering: .relaxed)
    var byte = whole &* 8
    while byte < count {
      bytes.storeBytes(
        of: UInt8(truncatingIfNeeded: rest &>> UInt64((byte & 7) &* 8)), toByteOffset: byte, as: UInt8.self)
      byte &+= 1
    }
  }
}

/// The version of a `Latest` without its value: a plain value of the same type whatever the element is. See `Latest.version`.
public struct LatestVersion: @unchecked Sendable, BitwiseCopyable {
  // Sendable: every access is atomic.
  let sequence: UnsafeMutablePointer<Atomic<UInt64>>

  /// Returns the number of times a value has been published, from 0. The function may be called from any thread; wait-free.
  @_noLocks @_noAllocation
  public func read() -> UInt64 { sequence.pointee.load(ordering: .acquiring) }
}

/// The writing end of a `Latest`. The type is not copyable: it belongs to one thread at a time.
public struct LatestWriter<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.
  @usableFromInline let latest: Latest<Element>
  @usableFromInline let sequence: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let stride: Int
  @usableFromInline let end: UnsafeMutablePointer<TapeEnd>
  @usableFromInline var next: UInt64 = 0
  @usableFromInline var tapedBase = TapedBase()

  init(_ latest: Latest<Element>) {
    end = latest.end
    self.latest = latest
    sequence = latest.storage.sequence
    slots = latest.storage.slots
    stride = latest.storage.stride
    next = sequence.pointee.load(ordering: .relaxed)
  }

  deinit { latest.writers.subtract(1, ordering: .releasing) }

  /// Publishes `element`. The operation is wait-free.
  @inlinable @inline(__always)
  public mutating func write(_ element: Element) {
    if let tape = TickTape.current {
      var copy = element
      tape.publishes(&copy, MemoryLayout<Element>.size, end, &tapedBase)
      if tape.isReplaying { return }
    }
    let slot = nextSlot()
    withUnsafeBytes(of: element) { copyWordsIn($0.baseAddress!, MemoryLayout<Element>.size, slot) }
    sequence.pointee.store(next, ordering: .releasing)
  }

  @inlinable @inline(__always)
  mutating func nextSlot() -> UnsafeMutablePointer<Atomic<UInt64>> {
    next &+= 1
    let slot = (slots + Int(truncatingIfNeeded: next & 1) &* stride).assumingMemoryBound(to: Atomic<UInt64>.self)
    // A reader that saw this slot as whole two writes ago must see that it is not, before any word changes.
    atomicMemoryFence(ordering: .releasing)
    return slot
  }
}

/// A reading end of a `Latest`, of which any number may exist. The type is not copyable, so that reading changes no reference count.
public struct LatestReader<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // Sendable: every access is atomic.
  @usableFromInline let latest: Latest<Element>
  @usableFromInline let sequence: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let stride: Int
  @usableFromInline var copy: Element
  /// The number of the value that `copy` holds, and the part of the tape that has the whole of it.
  @usableFromInline var taped: UInt64 = 0
  @usableFromInline var tapedPart = UInt64.max

  init(_ latest: Latest<Element>) {
    self.latest = latest
    sequence = latest.storage.sequence
    slots = latest.storage.slots
    stride = latest.storage.stride
    copy = latest.initial
  }

  /// Returns the value last published, consistently. The operation is lock-free: the read is repeated only if the writer has
  /// published in the meantime.
  @inlinable @inline(__always)
  public mutating func read() -> Element {
    guard let tape = TickTape.current else {
      _ = take()
      return copy
    }
    // A value that has not changed since is on the tape already.
    var seen: UInt64 = 0
    if !tape.isReplaying { seen = take() }
    let isNew = seen != taped || tape.part != tapedPart
    taped = seen
    tapedPart = tape.part
    _ = tape.gets(.read, &copy, MemoryLayout<Element>.size, isThere: isNew)
    return copy
  }

  /// Copies the value last published into `copy`. Returns its number.
  @inlinable @inline(__always)
  mutating func take() -> UInt64 {
    let sequence = self.sequence
    let slots = self.slots
    let stride = self.stride
    var seen: UInt64 = 0
    withUnsafeMutableBytes(of: &copy) { bytes in
      repeat {
        seen = sequence.pointee.load(ordering: .acquiring)
        let slot = (slots + Int(truncatingIfNeeded: seen & 1) &* stride).assumingMemoryBound(to: Atomic<UInt64>.self)
        copyWordsOut(slot, bytes.baseAddress!, MemoryLayout<Element>.size)
        atomicMemoryFence(ordering: .acquiring)
      } while sequence.pointee.load(ordering: .relaxed) != seen
    }
    return seen
  }

  /// The number of times a value has been published, by which a new value can be distinguished from an old one.
  @inlinable @inline(__always)
  public var version: UInt64 {
    guard let tape = TickTape.current else { return sequence.pointee.load(ordering: .acquiring) }
    var version = sequence.pointee.load(ordering: .acquiring)
    tape.gets(.version, &version, 8)
    return version
  }
}
