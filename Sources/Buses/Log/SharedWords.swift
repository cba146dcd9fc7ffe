import Synchronization

/// A value of fixed size that one thread writes and any thread reads whole, without either waiting for the other.
///
/// A seqlock over atomic words: `words[0]` is 2n once value number n is there and odd while it is being replaced. All
/// words are atomics, so a reader that comes at the wrong moment sees a torn value, notices, and never races.
/// A trivial handle: the caller of `allocate` also calls `deallocate`. Wrap it in a type that names the value.
public struct SharedWords: @unchecked Sendable, BitwiseCopyable {  // safe: every access is atomic
  private let words: UnsafeMutablePointer<Atomic<UInt64>>
  /// Bytes of the value.
  private let count: Int

  /// For values of `byteCount` bytes, a type's size, not its stride: what lies behind a variable is another's. `entries` of them
  /// in one block.
  public static func allocate(byteCount: Int, entries: Int = 1) -> SharedWords {
    precondition(byteCount > 0 && entries > 0)
    let capacity = wordCount(byteCount) * entries
    let words = UnsafeMutablePointer<Atomic<UInt64>>.allocate(capacity: capacity)
    for index in 0..<capacity { (words + index).initialize(to: Atomic(0)) }
    return SharedWords(words: words, count: byteCount)
  }

  /// Words of an entry, its number among them.
  @_noLocks @_noAllocation
  private static func wordCount(_ byteCount: Int) -> Int { (byteCount + 7) / 8 + 1 }

  /// Words that the value fills.
  private var wholeWords: Int {
    @_noLocks @_noAllocation get { count / 8 }
  }

  /// Whether some bytes of the value are in a word more: nothing behind the value may be read or written with them.
  private var hasRest: Bool {
    @_noLocks @_noAllocation get { count % 8 != 0 }
  }

  /// Frees the whole block: call it on what `allocate` returned.
  public func deallocate() { words.deallocate() }

  /// Entry `index` of the block that starts here.
  @_noLocks @_noAllocation
  public func entry(_ index: Int) -> SharedWords {
    SharedWords(words: words + index * Self.wordCount(count), count: count)
  }

  @_noLocks @_noAllocation
  private init(words: UnsafeMutablePointer<Atomic<UInt64>>, count: Int) {
    self.words = words
    self.count = count
  }

  /// Replaces the value by number `number`, 1…. One thread only.
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

  /// Copies the value out and returns its number; nil when there is none yet or it was replaced meanwhile.
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
