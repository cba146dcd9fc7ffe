import Synchronization

/// The bytes in flight on a simulated line: a queue of fixed capacity with one producer and one consumer, without a lock.
///
/// The queue is a trivial handle; its owner calls `deallocate`.
struct ByteQueue: BitwiseCopyable {
  private let bytes: UnsafeMutablePointer<UInt8>
  private let capacity: Int
  /// The numbers of bytes ever put and ever taken: `indices[0]` is the producer's, `indices[1]` the consumer's.
  private let indices: UnsafeMutablePointer<Atomic<Int>>

  init(capacity: Int) {
    precondition(capacity > 0)
    self.capacity = capacity
    bytes = .allocate(capacity: capacity)
    bytes.initialize(repeating: 0, count: capacity)
    indices = .allocate(capacity: 2)
    indices.initialize(to: Atomic(0))
    (indices + 1).initialize(to: Atomic(0))
  }

  func deallocate() {
    bytes.deallocate()
    indices.deallocate()
  }

  /// Puts as many bytes as there is room for. Returns their number.
  @_noLocks @_noAllocation
  func put(_ source: UnsafeRawBufferPointer) -> Int {
    let put = indices[0].load(ordering: .relaxed)
    let free = capacity - (put - indices[1].load(ordering: .acquiring))
    let count = source.count < free ? source.count : free
    for index in 0..<count { bytes[(put + index) % capacity] = source[index] }
    indices[0].store(put + count, ordering: .releasing)
    return count
  }

  /// Moves at most `target.count` bytes to `target`. Returns their number.
  @_noLocks @_noAllocation
  func read(into target: UnsafeMutableRawBufferPointer) -> Int {
    let taken = indices[1].load(ordering: .relaxed)
    let waiting = indices[0].load(ordering: .acquiring) - taken
    let count = target.count < waiting ? target.count : waiting
    for index in 0..<count { target[index] = bytes[(taken + index) % capacity] }
    indices[1].store(taken + count, ordering: .releasing)
    return count
  }
}
