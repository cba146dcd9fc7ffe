import Synchronization

/// A lock-free queue between two threads: one writes, one reads. Bounded; a full ring refuses, it never overwrites.
///
///     let ring = Ring<Command>(capacity: 64)
///     Loop("a", …) { A(commands: ring.reader()) }     // the reading end lives in a loop
///     var writer = ring.writer()                        // the writing end anywhere else
///
/// Both ends are wait-free, allocate nothing and take no lock. Elements are plain values (`BitwiseCopyable`).
/// Memory order: the writer releases its index after the element, the reader acquires it before; each end keeps its own
/// copy of the other's index, on its own cache line, and looks at the shared one only when that copy runs out.
public final class Ring<Element: BitwiseCopyable>: @unchecked Sendable {
  // Sendable: the storage is touched only through one writer and one reader, which the counters below hand out once.
  @usableFromInline let storage: RingStorage
  @usableFromInline let elements: UnsafeMutablePointer<Element>
  /// How many elements it holds: a power of two, at least as many as were asked for.
  public let capacity: Int
  fileprivate let writers = Atomic<Int>(0)
  fileprivate let readers = Atomic<Int>(0)

  /// - Parameter capacity: at least 1; rounded up to a power of two.
  public init(capacity: Int) {
    require(capacity >= 1, "a ring's capacity is at least 1")
    var size = 1
    while size < capacity { size <<= 1 }
    self.capacity = size
    storage = RingStorage()
    elements = .allocate(capacity: size)
  }

  deinit { elements.deallocate() }

  /// The writing end. There is one at a time: a second call traps unless the first end is gone, whose work the new one
  /// continues.
  public func writer() -> RingWriter<Element> {
    require(writers.add(1, ordering: .acquiring).oldValue == 0, "a ring has one writer")
    return RingWriter(self)
  }

  /// The reading end. There is one at a time, as of `writer()`.
  public func reader() -> RingReader<Element> {
    require(readers.add(1, ordering: .acquiring).oldValue == 0, "a ring has one reader")
    return RingReader(self)
  }
}

/// The two indices, 128 bytes apart so that the ends do not share a cache line (nor a prefetched pair of them).
@usableFromInline final class RingStorage: @unchecked Sendable {
  @usableFromInline let base: UnsafeMutableRawPointer
  @usableFromInline let written: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let read: UnsafeMutablePointer<Atomic<Int>>

  init() {
    base = .allocate(byteCount: 384, alignment: 128)
    written = (base + 128).bindMemory(to: Atomic<Int>.self, capacity: 1)
    read = (base + 256).bindMemory(to: Atomic<Int>.self, capacity: 1)
    written.initialize(to: Atomic(0))
    read.initialize(to: Atomic(0))
  }

  deinit { base.deallocate() }
}

/// The writing end of a `Ring`. Not copyable: it belongs to one thread at a time.
public struct RingWriter<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.
  @usableFromInline let ring: Ring<Element>
  @usableFromInline let elements: UnsafeMutablePointer<Element>
  @usableFromInline let written: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let read: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let mask: Int
  @usableFromInline var index = 0
  @usableFromInline var readSeen = 0

  init(_ ring: Ring<Element>) {
    self.ring = ring
    elements = ring.elements
    written = ring.storage.written
    read = ring.storage.read
    mask = ring.capacity - 1
    index = written.pointee.load(ordering: .relaxed)
    readSeen = read.pointee.load(ordering: .acquiring)
  }

  deinit { ring.writers.subtract(1, ordering: .releasing) }

  /// Appends `element`; false when the ring is full.
  @inlinable @inline(__always)
  public mutating func push(_ element: Element) -> Bool {
    if index &- readSeen > mask {
      readSeen = read.pointee.load(ordering: .acquiring)
      if index &- readSeen > mask { return false }
    }
    elements[index & mask] = element
    index &+= 1
    written.pointee.store(index, ordering: .releasing)
    return true
  }
}

/// The reading end of a `Ring`. Not copyable: it belongs to one thread at a time.
public struct RingReader<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.
  @usableFromInline let ring: Ring<Element>
  @usableFromInline let elements: UnsafeMutablePointer<Element>
  @usableFromInline let written: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let read: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let mask: Int
  @usableFromInline var index = 0
  @usableFromInline var writtenSeen = 0

  init(_ ring: Ring<Element>) {
    self.ring = ring
    elements = ring.elements
    written = ring.storage.written
    read = ring.storage.read
    mask = ring.capacity - 1
    index = read.pointee.load(ordering: .relaxed)
    writtenSeen = index
  }

  deinit { ring.readers.subtract(1, ordering: .releasing) }

  /// Takes the oldest element; nil when the ring is empty.
  @inlinable @inline(__always)
  public mutating func pop() -> Element? {
    if index == writtenSeen {
      writtenSeen = written.pointee.load(ordering: .acquiring)
      if index == writtenSeen { return nil }
    }
    let element = elements[index & mask]
    index &+= 1
    read.pointee.store(index, ordering: .releasing)
    return element
  }

  /// Whether nothing waits, seen afresh: what was pushed before the call is seen.
  @inlinable @inline(__always)
  var isEmpty: Bool { index == written.pointee.load(ordering: .acquiring) }
}
