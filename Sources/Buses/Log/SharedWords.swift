import Synchronization

/// A value of fixed size that one thread writes and any thread reads consistently, without waiting for each other.
///
/// A seqlock over atomic words: `words[0]` is 2n once value number n is complete, and odd while it is being replaced. All words are
/// atomics, so a reader that comes at the wrong moment sees a torn value, detects that, and never races. The value is a trivial
/// handle: the caller of `allocate` also calls `deallocate`. Wrap it in a type that names the value.
public struct SharedWords: @unchecked Sendable, BitwiseCopyable {  // safe: every access is atomic
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  /// The size of the value in bytes.
  private let count: Int

  /// Allocates a block of `entries` values of `byteCount` bytes. Pass the type's size, not its stride, because memory behind a
  /// variable may belong to another one.
  public static func allocate(byteCount: Int, entries: Int = 1) -> SharedWords {
    precondition(byteCount > 0 && entries > 0)
    let capacity = wordCount(byteCount) * entries
    let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: capacity)
    for index in 0..<capacity { (words + index).initialize(to: Atomic(0)) }
    return SharedWords(words: words, count: byteCount)
  }

  /// Returns the number of words of an entry, including the word for its number.
  @_noLocks @_noAllocation
  private static func wordCount(_ byteCount: Int) -> Int { (byteCount + 7) / 8 + 1 }

  /// The number of words that the value fills completely.
  private var wholeWords: Int {
    @_noLocks @_noAllocation get { count / 8 }
  }

  /// Whether some bytes of the value are in a further word. Memory behind the value must not be read or written with them.
  private var hasRest: Bool {
    @_noLocks @_noAllocation get { count % 8 != 0 }
  }

  /// Frees the whole block. The function must be called on the result of `allocate`.
  public func deallocate() { words.deallocate() }

  /// Returns entry `index` of the block that starts here.
  @_noLocks @_noAllocation
  public func entry(_ index: Int) -> SharedWords {
    SharedWords(words: words + index * Self.wordCount(count), count: count)
  }

  @_noLocks @_noAllocation
  private init(words: UnsafeMutablePointer<Atomic<UInt64>>, count: Int) {
    self.words = words
    self.count = count
  }

  /// Replaces the value by number `number`, from 1. The function must be called by one thread only.
  @_noLocks @_noAllocation
  public func store(number: UInt64, from value: UnsafeRawPointer) {
    words[0].store(number &* 2 &- 1, ordering: .relaxed)
    atomicMemoryFence(ordering: .releasing)
    for index in 0..<wholeWords {
      words[1 + index].store(value.loadUnaligned(fromByteOffset: index * 8, as: UInt64.self), ordering: .relaxed)
    }
    if hasRest {
      var rest: UInt64 = 0
      for index in wholeWords * 8..<count {
        rest |= UInt64(value.load(fromByteOffset: index, as: UInt8.self)) &<< UInt64(index % 8 * 8)
      }
      words[1 + wholeWords].store(rest, ordering: .relaxed)
    }
    words[0].store(number &* 2, ordering: .releasing)
  }

  /// Copies the value and returns its number, or `nil` if there is no value yet or it was replaced meanwhile.
  @_noLocks @_noAllocation
  public func load(into value: UnsafeMutableRawPointer) -> UInt64? {
    let before = words[0].load(ordering: .acquiring)
    guard before != 0, before & 1 == 0 else { return nil }
    for index in 0..<wholeWords {
      value.storeBytes(of: words[1 + index].load(ordering: .relaxed), toByteOffset: index * 8, as: UInt64.self)
    }
    if hasRest {
      let rest = words[1 + wholeWords].load(ordering: .relaxed)
      for index in wholeWords * 8..<count {
        value.storeBytes(
          of: UInt8(truncatingIfNeeded: rest &>> UInt64(index % 8 * 8)), toByteOffset: index, as: UInt8.self)
      }
    }
    atomicMemoryFence(ordering: .acquiring)
    return words[0].load(ordering: .relaxed) == before ? before / 2 : nil
  }
}
