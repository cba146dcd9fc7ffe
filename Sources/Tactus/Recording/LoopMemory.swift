import CTactus

/// The memory of a loop's state. A recording that begins in the middle of a run begins with a copy of it.
///
/// The memory of the loop's own value is always included. A loop that keeps state behind a pointer adds it:
///
///     func addMemory(to memory: inout LoopMemory) { memory.add(axes, count: axisCount) }
///
/// A replay does not restore words that have the form of an address (objects, pointers, functions): the replayed loop has its own.
public struct LoopMemory: @unchecked Sendable {
  // Sendable: only the lane's thread reads what the pointers lead to.
  private(set) var parts: [UnsafeMutableRawBufferPointer] = []

  init() {}

  /// Creates a description of the memory of a loop's own value.
  @usableFromInline init<Body: ~Copyable>(of body: UnsafeMutablePointer<Body>) {
    parts = [UnsafeMutableRawBufferPointer(start: body, count: MemoryLayout<Body>.size)]
  }

  /// Adds `count` values beginning at `pointer`, which must be valid as long as the loop.
  public mutating func add<Value: ~Copyable>(_ pointer: UnsafeMutablePointer<Value>, count: Int = 1) {
    require(count >= 0, "a loop's memory has 0 values or more")
    parts.append(UnsafeMutableRawBufferPointer(start: pointer, count: count * MemoryLayout<Value>.stride))
  }
}

/// The words of a piece of memory that had the form of an address when a loop was made, with their values.
///
/// A tick changes no address, since it may not retain an object. A word that has its first value at a frame is therefore an address; any other word,
/// such as a flag next to unused bytes, only looked like an address.
struct Addresses: Hashable {
  struct Word: Hashable {
    /// The index of the word, counted from 0.
    var place: Int
    var value: UInt64
  }

  var words: [Word]

  init(words: [Word]) { self.words = words }

  /// Finds the words of memory that have the form of an address at present.
  init(in memory: UnsafeRawBufferPointer, of space: borrowing AddressSpace) {
    words = []
    for place in 0..<memory.count / 8 {
      let value = memory.loadUnaligned(fromByteOffset: place * 8, as: UInt64.self)
      if space.contains(value) { words.append(Word(place: place, value: value)) }
    }
  }

  /// Copies a frame's bytes to the memory of a loop that has just been made, which keeps its own addresses.
  func restore(_ bytes: UnsafeRawBufferPointer, to memory: UnsafeMutableRawBufferPointer) {
    var kept: [Word] = []
    for word in words where word.place >= 0 && word.place < bytes.count / 8 {
      guard bytes.loadUnaligned(fromByteOffset: word.place * 8, as: UInt64.self) == word.value else { continue }
      let own = memory.loadUnaligned(fromByteOffset: word.place * 8, as: UInt64.self)
      kept.append(Word(place: word.place, value: own))
    }
    memory.copyMemory(from: bytes)
    for word in kept { memory.storeBytes(of: word.value, toByteOffset: word.place * 8, as: UInt64.self) }
  }
}

/// The address space of this process, in which addresses are looked up.
struct AddressSpace: ~Copyable {
  private var ends: [Int32] = [-1, -1]

  /// Opens the pipe by which the kernel tests addresses.
  ///
  /// - Throws: `.system` when the process or the machine has no descriptor left.
  init() throws(RuntimeError) {
    let failure = tactus_probe_open(&ends)
    if failure < 0 { throw .system(call: "pipe2", errno: -failure) }
  }

  deinit { for end in ends { tactus_close(end) } }

  /// Returns whether an address points to mapped memory.
  func contains(_ address: UInt64) -> Bool {
    // The first pages are never mapped, and no address has the upper 16 bits.
    address >= 65_536 && address < 1 << 48 && tactus_probe(ends, address) != 0
  }
}
