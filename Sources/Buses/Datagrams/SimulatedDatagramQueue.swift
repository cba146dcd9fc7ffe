import Tactus

/// The datagrams in flight to one endpoint, ordered by arrival and then by order of sending: a binary heap of fixed size.
///
/// The queue is a trivial handle; its owner calls `deallocate`.
struct DatagramQueue: BitwiseCopyable {
  private struct Entry: BitwiseCopyable {
    var arrival: Int64
    var number: UInt64
    var slot: Int

    @_noLocks @_noAllocation
    func isBefore(_ other: Entry) -> Bool {
      arrival != other.arrival ? arrival < other.arrival : number < other.number
    }
  }

  private let capacity: Int
  private let size: Int
  private let bytes: UnsafeMutableRawPointer
  private let headers: UnsafeMutablePointer<DatagramBatch.Header>
  /// The heap in `heap[0..<count]`. The slots of `heap[count..<capacity]` are free.
  private let heap: UnsafeMutablePointer<Entry>
  private var count = 0
  private var nextNumber: UInt64 = 0

  init(capacity: Int, size: Int) {
    self.capacity = capacity
    self.size = size
    bytes = .allocate(byteCount: capacity * size, alignment: 64)
    headers = .allocate(capacity: capacity)
    headers.initialize(
      repeating: DatagramBatch.Header(source: Endpoint(high: 0, low: 0, port: 0), length: 0), count: capacity)
    heap = .allocate(capacity: capacity)
    for slot in 0..<capacity { (heap + slot).initialize(to: Entry(arrival: 0, number: 0, slot: slot)) }
  }

  func deallocate() {
    bytes.deallocate()
    headers.deallocate()
    heap.deallocate()
  }

  var firstArrival: Int64? {
    @_noLocks @_noAllocation get { count > 0 ? heap[0].arrival : nil }
  }

  /// Adds a datagram. Returns `false` if the queue is full.
  ///
  /// - Parameter stamp: the arrival that the datagram's header reports.
  @_noLocks @_noAllocation
  mutating func push(
    _ source: UnsafeRawPointer, _ length: Int, from endpoint: Endpoint, arrival: Int64, stamp: TickInstant?
  ) -> Bool {
    guard count < capacity else { return false }
    let entry = Entry(arrival: arrival, number: nextNumber, slot: heap[count].slot)
    nextNumber &+= 1
    (bytes + entry.slot * size).copyMemory(from: source, byteCount: length < size ? length : size)
    headers[entry.slot].source = endpoint
    headers[entry.slot].length = length
    headers[entry.slot].arrivedAt = stamp

    var hole = count
    count += 1
    while hole > 0, entry.isBefore(heap[(hole - 1) / 2]) {
      heap[hole] = heap[(hole - 1) / 2]
      hole = (hole - 1) / 2
    }
    heap[hole] = entry
    return true
  }

  /// Removes the first datagram and copies at most `room` bytes of it. The queue must not be empty.
  @_noLocks @_noAllocation
  mutating func pop(into target: UnsafeMutableRawPointer, size room: Int) -> DatagramBatch.Header {
    precondition(count > 0)
    let first = heap[0]
    let header = headers[first.slot]
    var length = header.length < size ? header.length : size
    if length > room { length = room }
    target.copyMemory(from: bytes + first.slot * size, byteCount: length)

    count -= 1
    let last = heap[count]
    var hole = 0
    while true {
      var child = 2 * hole + 1
      guard child < count else { break }
      if child + 1 < count, heap[child + 1].isBefore(heap[child]) { child += 1 }
      guard heap[child].isBefore(last) else { break }
      heap[hole] = heap[child]
      hole = child
    }
    heap[hole] = last
    heap[count] = first  // its slot is free again
    return header
  }
}
