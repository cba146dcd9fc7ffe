/// A binary heap of loops by key (release instant or rank), the smallest first. Of equal keys the smaller loop index comes first.
///
/// Each operation takes O(log n). Memory is allocated only when the heap is made.
struct ReleaseHeap: ~Copyable {
  private let keys: UnsafeMutablePointer<Int64>
  private let loops: UnsafeMutablePointer<Int32>
  /// The place of each loop in the heap, or −1 for a loop that is not in the heap.
  private let places: UnsafeMutablePointer<Int32>
  private(set) var count = 0

  init(capacity: Int) {
    keys = .allocate(capacity: max(capacity, 1))
    keys.initialize(repeating: 0, count: max(capacity, 1))
    loops = .allocate(capacity: max(capacity, 1))
    loops.initialize(repeating: 0, count: max(capacity, 1))
    places = .allocate(capacity: max(capacity, 1))
    places.initialize(repeating: -1, count: max(capacity, 1))
  }

  deinit {
    keys.deallocate()
    loops.deallocate()
    places.deallocate()
  }

  /// The smallest key, or `.max` if the heap is empty.
  var topKey: Int64 {
    @_noLocks @_noAllocation @inline(__always) get { count > 0 ? keys[0] : .max }
  }

  /// The second smallest key, or `.max` if the heap has fewer than two loops.
  var secondKey: Int64 {
    @_noLocks @_noAllocation @inline(__always) get {
      if count < 2 { return .max }
      return count > 2 ? min(keys[1], keys[2]) : keys[1]
    }
  }

  var topLoop: Int {
    @_noLocks @_noAllocation @inline(__always) get { Int(loops[0]) }
  }

  @_noLocks @_noAllocation @inline(__always)
  func contains(_ loop: Int) -> Bool { places[loop] >= 0 }

  @_noLocks @_noAllocation
  mutating func insert(_ loop: Int, key: Int64) {
    keys[count] = key
    loops[count] = Int32(truncatingIfNeeded: loop)
    places[loop] = Int32(truncatingIfNeeded: count)
    count &+= 1
    siftUp(count &- 1)
  }

  /// Removes the loop with the smallest key and returns it. The heap must not be empty.
  @_noLocks @_noAllocation
  mutating func removeTop() -> Int {
    let loop = Int(loops[0])
    places[loop] = -1
    count &-= 1
    if count > 0 {
      keys[0] = keys[count]
      loops[0] = loops[count]
      places[Int(loops[0])] = 0
      siftDown(0)
    }
    return loop
  }

  /// Changes the key of a loop, or inserts the loop if it is not in the heap.
  @_noLocks @_noAllocation @inline(__always)
  mutating func update(_ loop: Int, key: Int64) {
    let place = Int(places[loop])
    guard place >= 0 else { return insert(loop, key: key) }
    let old = keys[place]
    keys[place] = key
    if key < old { siftUp(place) } else if key > old, count > 1 { siftDown(place) }
  }

  @_noLocks @_noAllocation
  private func precedes(_ key: Int64, _ loop: Int32, _ place: Int) -> Bool {
    key < keys[place] || (key == keys[place] && loop < loops[place])
  }

  @_noLocks @_noAllocation
  private func siftUp(_ start: Int) {
    let key = keys[start]
    let loop = loops[start]
    var place = start
    while place > 0 {
      let parent = (place &- 1) / 2
      guard precedes(key, loop, parent) else { break }
      move(parent, to: place)
      place = parent
    }
    put(key, loop, at: place)
  }

  @_noLocks @_noAllocation
  private func siftDown(_ start: Int) {
    let key = keys[start]
    let loop = loops[start]
    var place = start
    while true {
      var child = 2 &* place &+ 1
      guard child < count else { break }
      if child &+ 1 < count, precedes(keys[child &+ 1], loops[child &+ 1], child) { child &+= 1 }
      guard precedes(keys[child], loops[child], place: key, loop) else { break }
      move(child, to: place)
      place = child
    }
    put(key, loop, at: place)
  }

  @_noLocks @_noAllocation @inline(__always)
  private func precedes(_ key: Int64, _ loop: Int32, place otherKey: Int64, _ otherLoop: Int32) -> Bool {
    key < otherKey || (key == otherKey && loop < otherLoop)
  }

  @_noLocks @_noAllocation @inline(__always)
  private func move(_ from: Int, to place: Int) {
    put(keys[from], loops[from], at: place)
  }

  @_noLocks @_noAllocation @inline(__always)
  private func put(_ key: Int64, _ loop: Int32, at place: Int) {
    keys[place] = key
    loops[place] = loop
    places[Int(loop)] = Int32(truncatingIfNeeded: place)
  }
}
