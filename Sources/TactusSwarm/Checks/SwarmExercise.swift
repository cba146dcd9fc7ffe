/// How often each thing that a part knows of its system came about: its commands, states and faults.
public struct SwarmExercise {
  /// How often, by name; 0 for what has not come about.
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

  /// Notes that a thing came about.
  public mutating func did(_ name: String) { counts[name, default: 0] += 1 }

  /// Notes the present state, or `nil` if there is none. It counts when it is another than the last.
  public mutating func see(state word: String?) {
    if let word, word != state { did("state \(word)") }
    state = word
  }
}
