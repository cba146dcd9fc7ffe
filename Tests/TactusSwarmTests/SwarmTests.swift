import Tactus
import Testing

@testable import TactusSwarm

@Suite struct SwarmTests {
  private static let minute = TickInstant.zero + .seconds(60)
  private static let fake = SwarmRun(end: minute) { _ in [FakeSwarmPart()] }

  /// The first seed of the fake part that fails.
  private func finding(_ fake: SwarmRun = fake) throws -> SwarmRun.Finding {
    var run = fake
    for seed in UInt64(1)...1_000 {
      if let finding = try run.play(seed: seed) { return finding }
    }
    throw SwarmHistoryError.incomplete
  }

  @Test("a seed: the same history every time, another one for another seed, whole in its text")
  func history() throws {
    let history = try Self.fake.history(of: 7)
    #expect(try Self.fake.history(of: 7) == history)
    #expect(try Self.fake.history(of: 8).actions != history.actions)
    #expect(try SwarmHistory(text: "# a comment\n\(history)\n") == history)
    #expect(zip(history.actions, history.actions.dropFirst()).allSatisfy { $0.at <= $1.at })
  }

  @Test("a file that is no history: the line is named; nothing is guessed")
  func noHistory() {
    let start = "seed 1\nend 2.000000000\n"
    for line in ["1.5 robot drive", "1.000000000 robot", "1.000000000 robot drive x", "nonsense", "-1.000000000 a b"] {
      #expect(throws: SwarmHistoryError.line(3, line)) { try SwarmHistory(text: start + line) }
    }
    let backwards = "2.000000000 fake gas\n1.000000000 fake spark"
    #expect(throws: SwarmHistoryError.line(4, "1.000000000 fake spark")) { try SwarmHistory(text: start + backwards) }
    #expect(throws: SwarmHistoryError.incomplete) { try SwarmHistory(text: "seed 1") }
  }

  @Test("shrinking: of a thousand elements the two that matter are left; of one that cannot fail without all, all")
  func shrinking() {
    let list = Array(0..<1_000)
    #expect(SwarmShrinker.shortest(list) { $0.contains(137) && $0.contains(700) } == [137, 700])
    #expect(SwarmShrinker.shortest(list) { _ in true } == [])
    #expect(SwarmShrinker.shortest(Array(0..<20)) { $0.count == 20 } == Array(0..<20))
    var calls = 0
    _ = SwarmShrinker.shortest(list, budget: 10) { _ in
      calls += 1
      return false
    }
    #expect(calls == 10)
  }

  @Test(
    "a seed that fails: its shortest history is the two actions that matter, and fails again from its text",
    arguments: [false, true])
  func replay(isSeenLate: Bool) throws {
    var run = SwarmRun(end: Self.minute) { _ in [FakeSwarmPart(isSeenLate: isSeenLate)] }
    let found = try finding(run)
    let shortest = try run.shortest(found)
    #expect(shortest.history.actions.map(\.verb) == ["gas", "spark"])
    #expect(shortest.failure.failure.invariant == "gas does not burn")
    #expect(try run.play(SwarmHistory(text: "\(shortest.history)")) == shortest.failure)
    #expect(try run.play(seed: found.history.seed) == found)
  }

  @Test("any number of threads: the same looks, the same seeds that fail")
  func threads() throws {
    let alone = try SwarmThreads(count: 1).play(1...60, Self.fake)
    let together = try SwarmThreads(count: 3).play(1...60, Self.fake)
    #expect(!alone.1.isEmpty && alone.1 == together.1)
    #expect(alone.0.rows == together.0.rows && alone.0.time == together.0.time)
    #expect(alone.0.exercised == together.0.exercised && alone.0.exercised["fake"]?["gas"] ?? 0 > 0)
  }

  @Test("what is done to a dead daemon is not exercised")
  func exercised() throws {
    var run = Self.fake
    let actions = [
      daemon(900, "kill", 500), SwarmAction(.zero + .milliseconds(1_000), "fake", "gas"),
      SwarmAction(.zero + .milliseconds(2_000), "fake", "air"),
    ]
    _ = try run.play(SwarmHistory(seed: 1, end: .zero + .seconds(3), actions: actions))
    #expect(run.tally.exercised == ["daemon": ["kill": 1], "fake": ["gas": 0, "air": 1]])
    #expect(run.tally.unexercised == ["fake: nothing to look at for: gas does not burn", "fake: gas"])
    #expect(run.tally.exercisedLines == ["daemon: done: kill 1", "fake: done: air 1, gas 0"])
  }

  @Test("a run of 600 seeds is reported after each block but the last, with what was simulated until then")
  func reports() throws {
    var told: [UInt64] = []
    let nobody = SwarmRun(end: Self.minute) { _ in [] }
    let tally = try SwarmThreads(count: 2).play(1...600, nobody) { last, simulated in
      told.append(last)
      #expect(simulated == .seconds(60) * Int64(last))
    }.0
    #expect(told == [256, 512] && tally.time == .seconds(36_000))
  }

  @Test("killed: the guard makes everything safe 10 ms later, then the daemon starts anew")
  func killed() throws {
    let part = FakeSwarmPart()
    var world = SwarmWorld([part])
    let kill = SwarmAction(.zero + .milliseconds(950), "daemon", "kill", 500)
    _ = try world.play(SwarmHistory(seed: 1, end: .zero + .seconds(3), actions: [kill]))
    #expect(part.told == ["0 start", "950 kill", "960 safe", "1450 start"])
  }

  @Test(
    "frozen for longer than the guard waits: it makes everything safe a second after the last heartbeat; for less: nothing"
  )
  func frozen() throws {
    for (span, told) in [(2_000, ["0 start", "950 freeze", "1900 safe"]), (800, ["0 start", "950 freeze"])] {
      let part = FakeSwarmPart()
      var world = SwarmWorld([part])
      let freeze = SwarmAction(.zero + .milliseconds(950), "daemon", "freeze", Int64(span))
      _ = try world.play(SwarmHistory(seed: 1, end: .zero + .milliseconds(2_800), actions: [freeze]))
      #expect(part.told == told)
    }
  }

  /// What is done to the fake part when this is done to the daemon and its guard.
  private func told(_ actions: [SwarmAction], until end: Int64) throws -> [String] {
    let part = FakeSwarmPart()
    var world = SwarmWorld([part])
    _ = try world.play(SwarmHistory(seed: 1, end: .zero + .milliseconds(end), actions: actions))
    return part.told
  }

  private func daemon(_ at: Int64, _ verb: String, _ numbers: Int64...) -> SwarmAction {
    var action = SwarmAction(.zero + .milliseconds(at), "daemon", verb)
    action.numbers = numbers
    return action
  }

  @Test("guard killed, or hanging for long: its successor makes everything safe 10 ms after the daemon's death")
  func successor() throws {
    #expect(
      try told([daemon(950, "guard-kill"), daemon(1_000, "kill", 500)], until: 1_100)
        == ["0 start", "1000 kill", "1010 safe"])
    #expect(
      try told([daemon(950, "guard-hang"), daemon(1_900, "kill", 500)], until: 2_000)
        == ["0 start", "1900 kill", "1910 safe"])
  }

  @Test("both killed, or the daemon while its guard hangs: the stop hook makes everything safe, then the daemon starts")
  func hook() throws {
    #expect(
      try told([daemon(950, "kill-both", 20)], until: 1_500) == ["0 start", "950 kill", "1150 safe", "1151 start"])
    #expect(
      try told([daemon(950, "guard-hang"), daemon(1_400, "kill", 20)], until: 1_700)
        == ["0 start", "1400 kill", "1600 safe", "1601 start"])
  }

  @Test("an emergency stop holds over a kill; one that was reset does not come back")
  func stopOutlives() throws {
    let kill = daemon(1_000, "kill", 500)
    #expect(
      try told([daemon(500, "estop"), kill], until: 1_600)
        == ["0 start", "500 e-stop", "1000 kill", "1010 safe", "1500 start", "1500 e-stop"])
    #expect(
      try told([daemon(500, "estop"), daemon(700, "reset"), kill], until: 1_600)
        == ["0 start", "500 e-stop", "700 reset", "1000 kill", "1010 safe", "1500 start"])
  }

  @Test("no guard can be had: an emergency stop at each beat, and no reset, until one is there")
  func unguarded() throws {
    let actions = [
      daemon(950, "guard-fails", 200, 0), daemon(950, "guard-kill"), daemon(1_250, "reset"), daemon(2_500, "reset"),
    ]
    let stops = (10...20).map { "\($0 * 100) e-stop" }
    #expect(try told(actions, until: 3_000) == ["0 start", "981 e-stop"] + stops + ["2500 reset"])
  }

  @Test("a guard that hangs and goes on before anybody has noticed: nothing is written, and it is not replaced")
  func resumed() throws {
    let actions = [daemon(950, "guard-hang"), daemon(1_500, "guard-resume"), daemon(2_900, "kill", 500)]
    #expect(try told(actions, until: 3_000) == ["0 start", "2900 kill", "2910 safe"])
  }

  @Test("a door's stop and reset reach every part; a dead daemon has no door")
  func door() throws {
    let part = FakeSwarmPart()
    var world = SwarmWorld([part])
    let actions = [
      SwarmAction(.zero + .milliseconds(100), "daemon", "estop"),
      SwarmAction(.zero + .milliseconds(200), "daemon", "reset"),
      SwarmAction(.zero + .milliseconds(300), "daemon", "kill", 200),
      SwarmAction(.zero + .milliseconds(400), "daemon", "estop"),
    ]
    _ = try world.play(SwarmHistory(seed: 1, end: .zero + .milliseconds(500), actions: actions))
    #expect(part.told == ["0 start", "100 e-stop", "200 reset", "300 kill", "310 safe", "500 start"])
  }
}
