/// A dictionary with a fixed capacity, in which a new entry replaces the entry that has been unused longest.
///
/// Looking up takes constant time; replacing an entry in a full table takes time proportional to its capacity.
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

  /// Returns whether there is an entry for the key. This does not count as a use.
  package func has(_ key: Key) -> Bool { entries[key] != nil }

  /// Returns the value of a key, or `nil` if there is no entry for it. This does not count as a use.
  package func value(of key: Key) -> Value? { entries[key]?.value }

  /// Changes the value of a key in place. A new key begins with `standard`.
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
