import Tactus

/// Plays seeds one after another, for the command and the tests.
struct SwarmRun {
  /// A seed that failed, with its history and its failure.
  struct Finding: Hashable {
    let history: SwarmHistory
    let failure: SwarmWorld.Failure
  }

  /// Makes new parts for a seed.
  typealias MakeParts = @Sendable (_ seed: UInt64) throws -> [any SwarmPart]

  let end: TickInstant
  let make: MakeParts
  /// The mechanisms of the daemon, some of which a test switches off.
  private let mechanisms: SwarmMechanisms
  /// The number of checks by part and invariant.
  private(set) var tally = SwarmTally()

  init(end: TickInstant, mechanisms: SwarmMechanisms = SwarmMechanisms(), _ make: @escaping MakeParts) {
    (self.end, self.mechanisms, self.make) = (end, mechanisms, make)
  }

  /// Returns the history of a seed.
  func history(of seed: UInt64) throws -> SwarmHistory { SwarmPlan.history(seed: seed, end: end, try make(seed)) }

  /// Plays a seed. Returns its failure with the history, or `nil` if every invariant held.
  mutating func play(seed: UInt64) throws -> Finding? {
    let parts = try make(seed)
    let history = SwarmPlan.history(seed: seed, end: end, parts)
    return try play(history, parts).map { Finding(history: history, failure: $0) }
  }

  /// Plays a history. Returns its failure, or `nil` if every invariant held.
  mutating func play(_ history: SwarmHistory) throws -> SwarmWorld.Failure? {
    try play(history, try make(history.seed))
  }

  private mutating func play(_ history: SwarmHistory, _ parts: [any SwarmPart]) throws -> SwarmWorld.Failure? {
    var world = SwarmWorld(parts, mechanisms)
    let failure = try world.play(history)
    tally.add(world)
    return failure
  }

  /// Returns the shortest history found that fails in the same invariant.
  func shortest(_ finding: Finding) throws -> Finding {
    var history = finding.history
    history.end = min(history.end, finding.failure.failure.at)
    history.actions = history.actions.filter { $0.at <= history.end }
    var latest = finding.failure
    history.actions = try SwarmShrinker.shortest(history.actions) { actions in
      var world = SwarmWorld(try make(history.seed), mechanisms)
      let shorter = SwarmHistory(seed: history.seed, end: finding.history.end, actions: actions)
      guard let failure = try world.play(shorter), failure.part == latest.part,
        failure.failure.invariant == latest.failure.invariant
      else { return false }
      latest = failure
      return true
    }
    // A failure detected at the beginning of a later step needs a history that ends after it.
    for end in [latest.failure.at, latest.failure.at + .seconds(1)] {
      history.end = min(end, finding.history.end)
      var world = SwarmWorld(try make(history.seed), mechanisms)
      if try world.play(history) == latest { break }
    }
    return Finding(history: history, failure: latest)
  }
}
