/// A dictionary that never grows beyond its capacity: the entry longest unused makes room.
///
/// Looking up is constant; making room in a full table takes time in proportion to its capacity.
package struct RecentTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private struct Entry {
    var value: Value
    var used: UInt64
  }

  private let capacity: Int
  private var entries: [Key: Entry] = [:]
  private var uses: UInt64 = 0

  package init(capacity: Int) { self.capacity = capacity }

  package var count: Int { entries.count }

  /// Returns whether there is an entry; it does not count as a use.
  package func has(_ key: Key) -> Bool { entries[key] != nil }

  /// Changes the value of a key, at first `standard`, in place.
  package mutating func use<Result>(
    _ key: Key, default standard: @autoclosure () -> Value, _ body: (inout Value) -> Result
  ) -> Result {
    uses += 1
    if entries[key] == nil {
      if entries.count >= capacity, let oldest = entries.min(by: { $0.value.used < $1.value.used }) {
        entries[oldest.key] = nil
      }
      entries[key] = Entry(value: standard(), used: uses)
    }
    entries[key]!.used = uses
    return body(&entries[key]!.value)
  }
}
