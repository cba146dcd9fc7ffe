import Synchronization

/// How often, and when, another process has brought every output of a program into its safe state, past its loops.
///
/// One writes: a process that guards the outputs, through memory that both map, or a test. `Runtime(externalStops:)` asks each loop for its
/// safe state, with the cause `.externalStop`, before its next tick, so that no loop goes on as if its outputs were what it last made them.
/// The writer notes a stop before it writes to the first output: a tick that begins after such a write knows of it. A tick that
/// began before may write once more; its loop learns of it at its next release, one period later at most.
///
/// The count never falls. The instants of the newest `capacity` stops are kept.
public final class ExternalStops: @unchecked Sendable {
  // Sendable: every access to the words is atomic, and the pointer lives as long as this object.

  /// So many bytes of memory hold it: one page.
  public static let byteCount = 4096
  /// The stops whose instants are kept.
  public static var capacity: UInt64 { keptStops }

  /// The count, then the instants of stop number n at 1 + n % capacity.
  let words: UnsafeMutablePointer<Atomic<UInt64>>
  private let release: @Sendable (UnsafeMutableRawPointer) -> Void

  /// Memory of this process alone.
  public convenience init() {
    let memory = UnsafeMutableRawPointer.allocate(byteCount: Self.byteCount, alignment: 128)
    memory.initializeMemory(as: UInt8.self, repeating: 0, count: Self.byteCount)
    self.init(memory: memory) { $0.deallocate() }
  }

  /// Memory that another process may have mapped, too.
  ///
  /// - Parameters:
  ///   - memory: `byteCount` bytes, aligned to 8, all zero before the first stop.
  ///   - release: called at the end of this object.
  public init(memory: UnsafeMutableRawPointer, release: @escaping @Sendable (UnsafeMutableRawPointer) -> Void) {
    words = memory.bindMemory(to: Atomic<UInt64>.self, capacity: Self.byteCount / 8)
    self.release = release
  }

  deinit { release(words) }

  /// How many stops there were. Any thread; wait-free.
  public var count: UInt64 { words[0].load(ordering: .acquiring) }

  /// Notes a stop, to be called before the first output is written. For one writer at a time.
  public func note(at instant: TickInstant) {
    let number = words[0].load(ordering: .relaxed) + 1
    words[1 + Int(number % Self.capacity)].store(UInt64(bitPattern: instant.nanoseconds), ordering: .relaxed)
    words[0].store(number, ordering: .releasing)
  }

  /// When stop number `number` was, from 1 on, or `nil` if there was none yet, or it is too long ago.
  public func instant(of number: UInt64) -> TickInstant? { instantOfStop(number, words) }
}

private var keptStops: UInt64 {
  @_noLocks @_noAllocation get { 511 }
}

/// Of pointers, since an object would be retained.
@_noLocks @_noAllocation
func instantOfStop(_ number: UInt64, _ words: UnsafeMutablePointer<Atomic<UInt64>>) -> TickInstant? {
  guard number >= 1, number <= words[0].load(ordering: .acquiring) else { return nil }
  let bits = words[1 &+ Int(truncatingIfNeeded: number % keptStops)].load(ordering: .relaxed)
  atomicMemoryFence(ordering: .acquiring)
  // One that began meanwhile may have taken the place.
  guard words[0].load(ordering: .relaxed) &- number < keptStops &- 1 else { return nil }
  return TickInstant(nanoseconds: Int64(bitPattern: bits))
}

/// The external stops that one loop has taken account of.
struct ExternalStopCursor: BitwiseCopyable, @unchecked Sendable {
  // Sendable: what is behind the pointer is atomic.
  /// `nil` if no other process stops the outputs.
  private var words: UnsafeMutablePointer<Atomic<UInt64>>?
  private var seen: UInt64 = 0

  /// Stops before this one are not reported to the loop.
  init(_ stops: ExternalStops?) {
    words = stops?.words
    seen = stops?.count ?? 0
  }

  /// The first stop since the last call, or `nil` if there was none. If its instant is no longer kept, `lastTick`, after which it was.
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
