import Synchronization

/// A bounded lock-free queue between two threads, of which one writes and one reads. Writing to a full ring fails; no element is ever overwritten.
///
///     let ring = Ring<Command>(capacity: 64)
///     Loop("a", …) { A(commands: ring.reader()) }     // the reading end lives in a loop
///     var writer = ring.writer()                        // the writing end anywhere else
///
/// Both ends are wait-free, allocate nothing and take no lock. Elements are plain values (`BitwiseCopyable`).
/// Memory order: the writer stores the element before it releases its index; the reader acquires that index before it reads the
/// element. Each end keeps a copy of the other end's index on its own cache line, and reads the shared index only when the copy is
/// used up.
public final class Ring<Element: BitwiseCopyable>: @unchecked Sendable {
  // Sendable: the storage is touched only through one writer and one reader, which the counters below hand out once.
  @usableFromInline let storage: RingStorage
  @usableFromInline let elements: UnsafeMutablePointer<Element>
  /// The number of elements that the ring holds: a power of two, at least the requested capacity.
  public let capacity: Int
  fileprivate let writers = Atomic<Int>(0)
  fileprivate let readers = Atomic<Int>(0)

  /// Creates an empty ring.
  ///
  /// - Parameter capacity: the number of elements that may wait, at least 1; rounded up to a power of two.
  public init(capacity: Int) {
    require(capacity >= 1, "a ring's capacity is at least 1")
    var size = 1
    while size < capacity { size <<= 1 }
    self.capacity = size
    storage = RingStorage(Element.self)
    elements = .allocate(capacity: size)
  }

  deinit { elements.deallocate() }

  /// Returns the writing end. There is one at a time: a second call traps unless the first end is gone; the new end then continues its work.
  public func writer() -> RingWriter<Element> {
    require(writers.add(1, ordering: .acquiring).oldValue == 0, "a ring has one writer")
    return RingWriter(self)
  }

  /// Returns the reading end. There is one at a time, as for `writer()`.
  public func reader() -> RingReader<Element> {
    require(readers.add(1, ordering: .acquiring).oldValue == 0, "a ring has one reader")
    return RingReader(self)
  }
}

/// The two indices, 128 bytes apart so that the ends share neither a cache line nor a prefetched pair of lines.
@usableFromInline final class RingStorage: @unchecked Sendable {
  @usableFromInline let base: UnsafeMutableRawPointer
  @usableFromInline let written: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let read: UnsafeMutablePointer<Atomic<Int>>
  /// The elements, for a recording.
  let end: UnsafeMutablePointer<TapeEnd>

  init(_ element: Any.Type) {
    end = TapeEnd.make(element)
    base = .allocate(byteCount: 384, alignment: 128)
    written = (base + 128).bindMemory(to: Atomic<Int>.self, capacity: 1)
    read = (base + 256).bindMemory(to: Atomic<Int>.self, capacity: 1)
    written.initialize(to: Atomic(0))
    read.initialize(to: Atomic(0))
  }

  deinit {
    base.deallocate()
    end.deallocate()
  }
}

/// The writing end of a `Ring`. The type is not copyable: it belongs to one thread at a time.
public struct RingWriter<Element: BitwiseCopyable>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the end moves the right to use it.
  @usableFromInline let ring: Ring<Element>
  @usableFromInline let elements: UnsafeMutablePointer<Element>
  @usableFromInline let written: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let read: UnsafeMutablePointer<Atomic<Int>>
  @usableFromInline let mask: Int
  @usableFromInline let end: UnsafeMutablePointer<TapeEnd>
  @usableFromInline var index = 0
  @usableFromInline var readSeen = 0

  init(_ ring: Ring<Element>) {
    self.ring = ring
    elements = ring.elements
    written = ring.storage.written
    read = ring.storage.read
    mask = ring.capacity - 1
    end = ring.storage.end
    index = written.pointee.load(ordering: .relaxed)
    readSeen = read.pointee.load(ordering: .acquiring)
  }

  deinit { ring.writers.subtract(1, ordering: .releasing) }

  /// Appends `element`. Returns `false`, without appending, if the ring is full.
  @inlinable @inline(__always)
  public mutating func push(_ element: Element) -> Bool {
    guard let tape = TickTape.current else { return append(element) }
    var isTaken = true
    if !tape.isReplaying { isTaken = append(element) }
    var copy = element
    return tape.sends(.pushed, &copy, MemoryLayout<Element>.size, flag: isTaken, end)
  }

  @inlinable @inline(__always)
  mutating func append(_ element: Element) -> Bool {
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

/// The reading end of a `Ring`. The type is not copyable: it belongs to one thread at a time.
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

  /// Takes the oldest element. Returns `nil` if the ring is empty.
  @inlinable @inline(__always)
  public mutating func pop() -> Element? {
    guard let tape = TickTape.current else { return take() }
    var (element, isThere): (Element?, Bool) = (nil, false)
    if !tape.isReplaying, let taken = take() { (element, isThere) = (taken, true) }
    guard tape.gets(.taken, &element, MemoryLayout<Element?>.size, isThere: isThere) else { return nil }
    return element
  }

  @inlinable @inline(__always)
  mutating func take() -> Element? {
    if index == writtenSeen {
      writtenSeen = written.pointee.load(ordering: .acquiring)
      if index == writtenSeen { return nil }
    }
    let element = elements[index & mask]
    index &+= 1
    read.pointee.store(index, ordering: .releasing)
    return element
  }

  /// Whether no element waits. The writer's index is read afresh, so elements that were pushed before the call are seen.
  @inlinable @inline(__always)
  var isEmpty: Bool {
    guard let tape = TickTape.current else { return index == written.pointee.load(ordering: .acquiring) }
    var isEmpty = index == written.pointee.load(ordering: .acquiring)
    tape.gets(.isEmpty, &isEmpty, 1)
    return isEmpty
  }
}
