import Synchronization

/// The record of stops in which another process has brought every output of a program into its safe state, bypassing the program's loops.
///
/// There is one writer: a process that guards the outputs, through memory that both processes map, or a test.
/// `Runtime(externalStops:)` asks each loop for its safe state, with the cause `.externalStop`, before the loop's next tick, so
/// that no loop continues as if its outputs still had the values that it last wrote. The writer notes a stop before it writes to
/// the first output, so a tick that begins after such a write knows of the stop. A tick that began earlier may write once more; its
/// loop learns of the stop at its next release, at most one period later.
///
/// The count never falls. The instants of the newest `capacity` stops are kept.
public final class ExternalStops: @unchecked Sendable {
  // Sendable: every access to the words is atomic, and the pointer lives as long as this object.

  /// The size of the memory that holds the record: one page.
  public static let byteCount = 4096
  /// The number of stops whose instants are kept.
  public static var capacity: UInt64 { keptStops }

  /// The count in word 0, then the instants: that of stop number n in word 1 + n % capacity.
  let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let release: @Sendable (UnsafeMutableRawPointer) -> Void

  /// Creates a record in memory of this process alone.
  public convenience init() {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: Self.byteCount, alignment: 128)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount)
    self.init(memory: memory) { $0.deallocate() }
  }

  /// Creates a record in memory that another process may have mapped as well.
  ///
  /// - Parameters:
  ///   - memory: `byteCount` bytes, aligned to 8, all zero before the first stop.
  ///   - release: called with the memory when this object is released.
  public init(memory: UnsafeMutableRawPointer, release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void) {
    words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: Self.byteCount / 8)
    self.release = release
  }

  deinit { release(words) }

  /// The number of stops so far. The value may be read from any thread; wait-free.
  public var count: UInt64 { words[0].load(ordering: .acquiring) }

  /// Notes a stop. The function must be called before the first output is written, by one writer at a time.
  public func note(at instant: TickInstant) {
    let number = words[0].load(ordering: .relaxed) + 1
    words[1 + Int(number % Self.capacity)].store(UInt64(bitPattern: instant.nanoseconds), ordering: .relaxed)
    words[0].store(number, ordering: .releasing)
  }

  /// Returns the instant of stop number `number`, counted from 1, or `nil` if there was no such stop yet or its instant is no longer kept.
  public func instant(of number: UInt64) -> TickInstant? { instantOfStop(number, words) }
}

private var keptStops: UInt64 {
  @_noLocks @_noAllocation get { 511 }
}

/// Returns the instant of a stop. Takes a pointer, since an object would be retained.
@_noLocks @_noAllocation
func instantOfStop(_ number: UInt64, _ words: UnsafeMutablePointer<Atomic<UInt64>>) -> TickInstant? {
  guard number >= 1, number <= words[0].load(ordering: .acquiring) else { return nil }
  let bits = words[1 &+ Int(truncatingIfNeeded: number % keptStops)].load(ordering: .relaxed)
  atomicMemoryFence(ordering: .acquiring)
  // A stop that was noted meanwhile may have overwritten this one.
  guard words[0].load(ordering: .relaxed) &- number < keptStops &- 1 else { return nil }
  return TickInstant(nanoseconds: Int64(bitPattern: bits))
}

/// The position of one loop in the record of external stops.
struct ExternalStopCursor: BitwiseCopyable, @unchecked Sendable {
  // Sendable: what is behind the pointer is atomic.
  /// The words of the record, or `nil` if no other process stops the outputs.
  private var words: UnsafeMutablePointer<Atomic<UInt64>>?
  private var seen: UInt64 = 0

  /// Creates a cursor behind all stops so far, which are not reported to the loop.
  init(_ stops: ExternalStops?) {
    words = stops?.words
    seen = stops?.count ?? 0
  }

  /// Returns the instant of the first stop since the last call, or `nil` if there was none. If that instant is no longer kept, the
  /// result is `lastTick`, which was before the stop.
  @_noLocks @_noAllocation @inline(__always)
  mutating func next(lastTick: TickInstant) -> TickInstant? {
    guard let words, Mechanism.externalStops.acts else { return nil }
    let count = words[0].load(ordering: .acquiring)
    guard count != seen else { return nil }
    let first = instantOfStop(seen &+ 1, words) ?? lastTick
    seen = count
    return first
  }
}
