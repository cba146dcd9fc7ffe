import Glibc

/// Room for nanosecond samples, made and touched before the measurement, written by one thread.
struct Samples {
  let values: UnsafeMutablePointer<Int64>
  let taken: UnsafeMutablePointer<Int>
  let capacity: Int

  /// Lives as long as the program.
  init(capacity: Int) {
    self.capacity = capacity
    values = .allocate(capacity: capacity)
    values.initialize(repeating: 0, count: capacity)
    taken = .allocate(capacity: 1)
    taken.initialize(to: 0)
  }

  @_noLocks @_noAllocation @inline(__always)
  func append(_ value: Int64) {
    guard taken.pointee < capacity else { return }
    values[taken.pointee] = value
    taken.pointee &+= 1
  }

  /// Raw 64-bit integers in the machine's order, as the C peers write them.
  func write(to path: String) {
    guard let file = fopen(path, "wb"), fwrite(values, 8, taken.pointee, file) == taken.pointee, fclose(file) == 0
    else {
      perror(path)
      exit(1)
    }
  }
}
