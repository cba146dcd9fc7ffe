import Tactus

/// Plays seeds, one after the other: what the command and the tests use.
struct SwarmRun {
  /// What came of a seed that failed.
  struct Finding: Hashable {
    let history: SwarmHistory
    let failure: SwarmWorld.Failure
  }

  /// Makes the parts of one seed anew.
  typealias MakeParts = @Sendable (_ seed: UInt64) throws -> [any SwarmPart]

  let end: TickInstant
  let make: MakeParts
  /// What a test takes away.
  private let mechanisms: SwarmMechanisms
  /// By part and invariant, in their order: how often it was looked at.
  private(set) var tally = SwarmTally()

  init(end: TickInstant, mechanisms: SwarmMechanisms = SwarmMechanisms(), _ make: @escaping MakeParts) {
    (self.end, self.mechanisms, self.make) = (end, mechanisms, make)
  }

  /// The history that belongs to a seed.
  func history(of seed: UInt64) throws -> SwarmHistory { SwarmPlan.history(seed: seed, end: end, try make(seed)) }

  /// Plays a seed, or `nil` if every invariant held.
  mutating func play(seed: UInt64) throws -> Finding? {
    let parts = try make(seed)
    let history = SwarmPlan.history(seed: seed, end: end, parts)
    return try play(history, parts).map { Finding(history: history, failure: $0) }
  }

  /// Plays a history, or `nil` if every invariant held.
  mutating func play(_ history: SwarmHistory) throws -> SwarmWorld.Failure? {
    try play(history, try make(history.seed))
  }

  private mutating func play(_ history: SwarmHistory, _ parts: [any SwarmPart]) throws -> SwarmWorld.Failure? {
    var world = SwarmWorld(parts, mechanisms)
    let failure = try world.play(history)
    tally.add(world)
    return failure
  }

  /// The shortest history that fails in the same invariant.
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
    // What is seen at the beginning of a later step needs an end behind it.
    for end in [latest.failure.at, latest.failure.at + .seconds(1)] {
      history.end = min(end, finding.history.end)
      var world = SwarmWorld(try make(history.seed), mechanisms)
      if try world.play(history) == latest { break }
    }
    return Finding(history: history, failure: latest)
  }
}
