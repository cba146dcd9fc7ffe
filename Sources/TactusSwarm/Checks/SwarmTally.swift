import Tactus

/// The numbers of checks in many seeds together.
struct SwarmTally {
  /// The number of checks of one invariant of one part.
  struct Row: Hashable {
    let part: String
    let invariant: String
    var looks: Int
  }

  private(set) var rows: [Row] = []
  /// The simulated time of all seeds together.
  private(set) var time = Nanoseconds.zero

  mutating func add(_ world: SwarmWorld) {
    time = time + (world.now - .zero)
    add(
      world.parts.flatMap { part in
        zip(part.checks.names, part.checks.counts).map { Row(part: part.name, invariant: $0, looks: $1) }
      })
  }

  mutating func add(_ other: SwarmTally) {
    time = time + other.time
    add(other.rows)
  }

  private mutating func add(_ new: [Row]) {
    func isSame(_ one: Row, _ other: Row) -> Bool { one.part == other.part && one.invariant == other.invariant }
    for (place, row) in new.enumerated() {
      // All seeds of a run have the same parts in the same order.
      let isInPlace = rows.indices.contains(place) && isSame(rows[place], row)
      if let index = isInPlace ? place : rows.firstIndex(where: { isSame($0, row) }) {
        rows[index].looks += row.looks
      } else {
        rows.append(row)
      }
    }
  }
}
