import Tactus
import TactusDaemon
import Testing

@testable import TactusSwarm

/// A gauge, which drives nothing and takes no orders.
private enum Gauge: DeviceSystem {
  typealias Wiring = NoSettings
  typealias Rules = NoSettings
  typealias Order = NoOrder
  typealias Refusal = NoRefusal
  typealias Notice = NoNotice
  static let name = "gauge"
  static let summary = "A gauge."
  static let initialState = State()
  struct State: BitwiseCopyable, Sendable { var readings = 0 }

  static var fields: [Field<State>] { Field("readings", \.readings, kind: .counter, "Readings so far.") }
  static func loops(_ bench: Bench<Wiring>, _ mailbox: Inbox) throws -> [Loop] {
    [mailbox.loop("gauge", every: .hertz(10), safeStateAfter: 5) { GaugeLoop(ends: $0) }]
  }
}

private struct GaugeLoop: ~Copyable, ControlLoop, NoOutput {
  var ends: Gauge.Ends
  var state = Gauge.State()

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    state.readings &+= 1
    ends.finish(state, isSafe: true)
  }
}

/// What every declared system has of the swarm by its declaration alone.
@Suite struct DeclaredSwarmTests {
  private static let end = TickInstant.zero + .seconds(30)

  private func found(
    most: UInt64 = 300, _ variant: DeclaredSwarm<Lamp>.Variant = .init(),
    without take: (inout SwarmMechanisms) -> Void = { _ in }
  ) throws -> String? {
    var mechanisms = SwarmMechanisms()
    take(&mechanisms)
    var run = SwarmRun(end: Self.end, mechanisms: mechanisms) { [try DeclaredSwarm<Lamp>(seed: $0, variant)] }
    for seed in 1...most {
      if let finding = try run.play(seed: seed) { return finding.failure.failure.invariant }
    }
    return nil
  }

  @Test("forty seeds: everything holds, everything was looked at, and a history says the same again")
  func holds() throws {
    var run = SwarmRun(end: Self.end) { [try DeclaredSwarm<Lamp>(seed: $0)] }
    for seed in UInt64(1)...40 {
      let finding = try run.play(seed: seed)
      #expect(finding == nil)
    }
    #expect(run.tally.rows.count == SwarmOutput.count(own: DeclaredOracle<Lamp.Rules>.names.count))
    for row in run.tally.rows { #expect(row.looks > 0, "\(row.invariant)") }
    #expect(run.tally.unexercised == [])
    let done = try #require(run.tally.exercised["lamp"])
    for name in [
      "command off", "command shine", "e-stop", "reset", "state off", "state shining", "state emergencyStopped",
      "an output on", "the safe state asked for", "outputs-refuse", "stall",
    ] {
      #expect(done[name, default: 0] > 0, "\(name)")
    }
    let history = try run.history(of: 3)
    #expect(try SwarmHistory(text: "\(history)") == history)
  }

  @Test("nothing is ever ordered: everything holds, and each thing that never came about is named")
  func nothingOrdered() throws {
    var variant = DeclaredSwarm<Lamp>.Variant()
    variant.commands = false
    var run = SwarmRun(end: Self.end) { [variant] in [try DeclaredSwarm<Lamp>(seed: $0, variant)] }
    for seed in UInt64(1)...20 { #expect(try run.play(seed: seed) == nil) }
    let missing = run.tally.unexercised
    #expect(
      missing.filter { $0.hasPrefix("lamp: ") && !$0.contains("nothing to look at") } == [
        "lamp: an output on", "lamp: command off", "lamp: command shine", "lamp: state shining",
      ])
    #expect(missing.contains("lamp: nothing to look at for: \(DeclaredOracle<Lamp.Rules>.names[0])"))
    func verdict(_ seeds: UInt64, seconds: Int64 = 60, allowed: Bool = false) -> SwarmVerdict {
      SwarmVerdict(run.tally, leftOut: ["kiln"], seeds: seeds, seconds: seconds, allowsUnexercised: allowed)
    }
    #expect(verdict(100).isFailure && verdict(100).words.contains("\n  lamp: command shine"))
    #expect(verdict(100).words.contains("\n  kiln: takes no part"))
    #expect(!verdict(99).isFailure && verdict(99).words.contains("\n  lamp: command shine"))
    #expect(!verdict(100, seconds: 59).isFailure && !verdict(100, allowed: true).isFailure)
    let nothing = SwarmVerdict(SwarmTally(), leftOut: [], seeds: 100, seconds: 60, allowsUnexercised: false)
    #expect(!nothing.isFailure && nothing.words == "every invariant held, and everything was exercised")
  }

  @Test("a system without outputs and orders: what cannot apply to it is left out, and nothing is missing")
  func gauge() throws {
    var run = SwarmRun(end: Self.end) { [try DeclaredSwarm<Gauge>(seed: $0)] }
    for seed in UInt64(1)...40 { #expect(try run.play(seed: seed) == nil) }
    #expect(run.tally.unexercised.filter { $0.hasPrefix("gauge") } == [])
    let names = DeclaredOracle<Gauge.Rules>.names
    #expect(run.tally.rows.count == SwarmOutput.count(own: names.count) - 5)
    #expect(!run.tally.rows.contains { $0.invariant == names[0] || $0.invariant == names[2] })
  }

  @Test("each mechanism that the daemon has for a stranger's outputs is missed")
  func mechanisms() throws {
    let deadButOn = "a dead daemon's outputs are off as soon as the guard, or the stop hook, could turn them off"
    let unhooked = try found { $0.hasStopHook = false }
    #expect(unhooked == deadButOn)
    let unguarded = try found { $0.stopsWithoutGuard = false }
    #expect(unguarded == "without a guard every output is off")
    let forgotten = try found { $0.keepsStops = false }
    #expect(forgotten == "an emergency stop holds until a reset, over kills and restarts")
    let untold = try found { $0.tellsLoops = false }
    #expect(untold == DeclaredOracle<Lamp.Rules>.names[0])
  }

  @Test("requests that do not say when they arrived: one that a stop has overtaken is carried out, which is seen")
  func overtaken() throws {
    var variant = DeclaredSwarm<Lamp>.Variant()
    variant.stampsArrivals = false
    #expect(try found(variant) == DeclaredOracle<Lamp.Rules>.names[4])
  }

  @Test(
    "a reload: one that does not reach the loop, a wider limit that does not wait, a loop that does not obey: each is seen"
  )
  func reloads() throws {
    let invariant = DeclaredOracle<Lamp.Rules>.names[3]
    var variant = DeclaredSwarm<Lamp>.Variant()
    variant.reloads = false
    #expect(try found(variant) == invariant)
    variant = .init()
    variant.waits = false
    #expect(try found(variant) == invariant)
    // Of the outputs a lamp's own rules are known here: a tighter limit that the loop does not write is on them.
    variant = .init()
    variant.mostDuty = { Double($0.most) / 100 }
    #expect(try found(most: 40, variant) == nil)
    variant.mostDuty = { Double($0.most) / 100 - 0.05 }
    #expect(try found(most: 40, variant) == invariant)
  }

  @Test("a system none of whose keys a reload may change: it takes part in every reload, and has no change")
  func nothingToReload() throws {
    let files = DeclaredRules<NoSettings>.files("none", seed: 1)
    #expect(files.count == 3 && files.allSatisfy { $0 == files[0] })
  }

  @Test(
    "rules of a reload: a limit that becomes wider waits, the rest holds at once; half a change that contradicts itself waits whole"
  )
  func tighter() {
    func rules(_ least: Int, _ most: Int) -> DeclaredRules<Lamp.Rules> {
      var rules = Lamp.Rules()
      (rules.least, rules.most) = (least, most)
      return DeclaredRules(rules)
    }
    #expect(rules(5, 40).tighter(than: rules(1, 60)) == rules(5, 40))
    #expect(rules(5, 80).tighter(than: rules(1, 60)) == rules(5, 60))
    #expect(rules(70, 80).tighter(than: rules(1, 60)) == rules(1, 60))
  }

  @Test("a request that nobody answers, one that is answered twice, a value out of range that is taken: each is seen")
  func oracle() {
    func failure(_ break: (inout DeclaredOracle<Lamp.Rules>) -> Void) -> String? {
      var oracle = DeclaredOracle<Lamp.Rules>(period: .milliseconds(50))
      `break`(&oracle)
      return oracle.output.checks.failure?.invariant
    }
    func told(_ number: UInt64) -> DeclaredAnswers.Told {
      DeclaredAnswers.Told(number: number, kind: .command, makesSafe: false, outcome: .accepted)
    }
    let later = TickInstant.zero + .seconds(2)
    let unanswered = failure {
      $0.asked(1, at: .zero)
      $0.checkWaiting(at: later)
    }
    #expect(unanswered == DeclaredOracle<Lamp.Rules>.names[2])
    let twice = failure {
      $0.asked(1, at: .zero)
      $0.answered(told(1), at: .zero)
      $0.answered(told(1), at: .zero)
    }
    #expect(twice == "every request is answered once, in order")
    let outOfRange = failure { $0.read(isInRange: false, isTaken: true, "shine", at: .zero) }
    #expect(outOfRange == DeclaredOracle<Lamp.Rules>.names[1])
    let answered = failure {
      $0.asked(1, at: .zero)
      $0.answered(told(1), at: .zero)
      $0.checkWaiting(at: later)
    }
    #expect(answered == nil)
  }
}
