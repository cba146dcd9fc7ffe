import Synchronization

/// The latest value of something: one thread writes, any number read, and none of them waits.
///
///     let tilt = Latest(Tilt())
///     Loop("imu", …) { IMU(tilt: tilt.writer()) }
///     Loop("balance", …) { Balance(tilt: tilt.reader()) }
///
/// A sequence-numbered pair of slots (the kernel calls it a seqcount latch): the writer fills the slot that readers are
/// not looking at, word by word, then raises the sequence number, whose lowest bit says which slot is whole. A writer
/// that is preempted half-way blocks no reader, and a reader has to look again only when a whole further write ended and
/// another began while it copied. Why not a plain seqlock or a triple buffer: see docs/decisions/latest-value.md.
/// Elements are plain values (`BitwiseCopyable`); one write or read copies `MemoryLayout<Element>.size` bytes.
public final class Latest<Element: BitwiseCopyable>: @unchecked Sendable {
  // Sendable: every access to the storage is atomic; the right to write is handed out once.
  @usableFromInline let storage: LatestStorage
  fileprivate let writers = Atomic<Int>(0)
  fileprivate let initial: Element

  /// A mailbox that holds `element` until something is written. Allocates; the size is fixed from then on.
  public init(_ element: Element) {
    initial = element
    storage = LatestStorage(byteCount: MemoryLayout<Element>.size)
    withUnsafeBytes(of: element) { bytes in
      storage.copyIn(bytes.baseAddress!, bytes.count, to: storage.slot(0))
      storage.copyIn(bytes.baseAddress!, bytes.count, to: storage.slot(1))
    }
  }

  /// The writing end. There is one at a time: a second call traps unless the first end is gone.
  public func writer() -> LatestWriter<Element> {
    require(writers.add(1, ordering: .acquiring).oldValue == 0, "a latest value has one writer")
    return LatestWriter(self)
  }

  /// A reading end: as many as are wanted.
  public func reader() -> LatestReader<Element> { LatestReader(self) }

  /// How often a value has been published, for readers that need nothing else. Valid as long as this object.
  public var version: LatestVersion { LatestVersion(sequence: storage.sequence) }
}

/// Sequence number and two slots of whole words: together in one cache line where they fit, since a small value then costs
/// its writer one line to take back from its readers; else on lines of their own.
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

/// Publishes `count` words as number `next`, one more than the last. Of pointers, since a storage would be retained.
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
  /// Copies what was last published, whole, and returns its number.
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

/// Whether something publishes, without what: a plain value, the same type whatever the element. See `Latest.version`.
public struct LatestVersion: @unchecked Sendable, BitwiseCopyable {
  // Sendable: every access is atomic.
  let sequence: UnsafeMutablePointer<Atomic<UInt64>>

  /// How often a value has been published, from 0. Any thread; wait-free.
  @_noLocks @_noAllocation
  public func read() -> UInt64 { sequence.pointee.load(ordering: .acquiring) }
}

/// The writing end of a `Latest`. Not copyable: it belongs to one thread at a time.
public struct LatestWriter<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.
  @usableFromInline let latest: Latest<Element>
  @usableFromInline let sequence: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let stride: Int
  @usableFromInline var next: UInt64 = 0

  init(_ latest: Latest<Element>) {
    self.latest = latest
    sequence = latest.storage.sequence
    slots = latest.storage.slots
    stride = latest.storage.stride
    next = sequence.pointee.load(ordering: .relaxed)
  }

  deinit { latest.writers.subtract(1, ordering: .releasing) }

  /// Publishes `element`. Wait-free.
  @inlinable @inline(__always)
  public mutating func write(_ element: Element) {
    let slot = nextSlot()
    withUnsafeBytes(of: element) { copyWordsIn($0.baseAddress!, MemoryLayout<Element>.size, slot) }
    sequence.pointee.store(next, ordering: .releasing)
  }

  /// Publishes the element at `pointer`. Wait-free; a large one is copied once, where a call with its value copies it more often.
  @inlinable @inline(__always)
  public mutating func write(from pointer: UnsafePointer<Element>) {
    let slot = nextSlot()
    copyWordsIn(UnsafeRawPointer(pointer), MemoryLayout<Element>.size, slot)
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

/// A reading end of a `Latest`. Not copyable, so that reading costs no reference count; make as many as are wanted.
public struct LatestReader<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // Sendable: every access is atomic.
  @usableFromInline let latest: Latest<Element>
  @usableFromInline let sequence: UnsafeMutablePointer<Atomic<UInt64>>
  @usableFromInline let slots: UnsafeMutableRawPointer
  @usableFromInline let stride: Int
  @usableFromInline var copy: Element

  init(_ latest: Latest<Element>) {
    self.latest = latest
    sequence = latest.storage.sequence
    slots = latest.storage.slots
    stride = latest.storage.stride
    copy = latest.initial
  }

  /// The value last published, whole. Lock-free: looks again only when the writer has published in the meantime.
  @inlinable @inline(__always)
  public mutating func read() -> Element {
    let sequence = self.sequence
    let slots = self.slots
    let stride = self.stride
    withUnsafeMutableBytes(of: &copy) { bytes in
      var seen: UInt64
      repeat {
        seen = sequence.pointee.load(ordering: .acquiring)
        let slot = (slots + Int(truncatingIfNeeded: seen & 1) &* stride).assumingMemoryBound(to: Atomic<UInt64>.self)
        copyWordsOut(slot, bytes.baseAddress!, MemoryLayout<Element>.size)
        atomicMemoryFence(ordering: .acquiring)
      } while sequence.pointee.load(ordering: .relaxed) != seen
    }
    return copy
  }

  /// How often a value has been published: tells a new value from an old one.
  @inlinable @inline(__always)
  public var version: UInt64 { sequence.pointee.load(ordering: .acquiring) }
}
