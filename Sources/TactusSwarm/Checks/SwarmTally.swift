import Tactus

/// The numbers of checks, and of the commands, states and faults exercised, in many seeds together.
struct SwarmTally {
  /// The number of checks of one invariant of one part.
  struct Row: Hashable {
    let part: String
    let invariant: String
    var looks: Int
  }

  private(set) var rows: [Row] = []
  /// The numbers of occurrences of the parts' commands, states and faults and of the histories' verbs, by part; 0 for
  /// one that has not occurred.
  private(set) var exercised: [String: [String: Int]] = [:]
  /// The simulated time of all seeds together.
  private(set) var time = Nanoseconds.zero

  mutating func add(_ world: SwarmWorld) {
    time = time + (world.now - .zero)
    add(
      world.parts.flatMap { part in
        let inapplicable = part.inapplicable
        return zip(part.checks.names, part.checks.counts).filter { !inapplicable.contains($0.0) }
          .map { Row(part: part.name, invariant: $0.0, looks: $0.1) }
      })
    add(world.done)
    add(Dictionary(uniqueKeysWithValues: world.parts.map { ($0.name, $0.exercised) }))
  }

  private mutating func add(_ new: [String: [String: Int]]) {
    exercised.merge(new) { $0.merging($1, uniquingKeysWith: +) }
  }

  mutating func add(_ other: SwarmTally) {
    time = time + other.time
    add(other.rows)
    add(other.exercised)
  }

  /// The cases that no run has exercised, in words: invariants that had nothing to check, and commands, states and
  /// faults that never occurred. An invariant proves nothing about a case that never occurred.
  var unexercised: [String] {
    rows.filter { $0.looks == 0 }.map { "\($0.part): nothing to look at for: \($0.invariant)" }
      + sorted.flatMap { part, counts in counts.filter { $0.count == 0 }.map { "\(part): \($0.name)" } }
  }

  /// The occurrences, with a line for each part.
  var exercisedLines: [String] {
    sorted.map { part, counts in
      "\(part): done: " + counts.map { "\($0.name) \($0.count)" }.joined(separator: ", ")
    }
  }

  /// The parts that have something to exercise, each with the names and numbers of that, in the order of the names.
  private var sorted: [(part: String, counts: [(name: String, count: Int)])] {
    exercised.filter { !$0.value.isEmpty }.sorted { $0.key < $1.key }
      .map { part, counts in (part, counts.sorted { $0.key < $1.key }.map { (name: $0.key, count: $0.value) }) }
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

/// The numbers of occurrences of a system's commands, states and faults, as its part counts them.
public struct SwarmExercise {
  /// The numbers of occurrences by name; 0 for a name that has not occurred.
  public private(set) var counts: [String: Int]
  private var state: String?

  /// Makes the counts, all 0.
  ///
  /// - Parameters:
  ///   - states: the words of the system's state, each counted as `state WORD`.
  ///   - names: the names of the other things.
  public init(states: [String], _ names: [String] = []) {
    counts = Dictionary((states.map { "state \($0)" } + names).map { ($0, 0) }) { $1 }
  }

  /// Counts an occurrence of the command, state or fault of this name.
  public mutating func did(_ name: String) { counts[name, default: 0] += 1 }

  /// Notes the present state, which is `nil` if nothing has a state now. A state is counted when it differs from the previous one.
  public mutating func see(state word: String?) {
    if let word, word != state { did("state \(word)") }
    state = word
  }
}
