import Buses
import Tactus
import TestSupport
import Testing

@testable import Leg

/// Two legs, people on a bad link and clients inside the daemon, on a bus that fails now and then.
@Suite(.ownThread) struct LegAcknowledgementTests {
  private struct History {
    let run: LegSimulation
    var random: SplitMix64
    var asked: [UInt64] = []
    var answers: [Answer<LegRefusal>] = []

    init(seed: UInt64) throws {
      random = SplitMix64(seed: seed)
      var configuration = LegSimulation.Configuration(legs: 2)
      configuration.seed = seed
      configuration.conditions.delay = .milliseconds(3)
      configuration.conditions.lossPerMille = Int(random.below(250))
      configuration.conditions.jitter = .milliseconds(Int64(random.below(40)))
      run = try LegSimulation(configuration)
    }

    mutating func run(for duration: Nanoseconds) {
      run.run(for: duration)
      answers += run.takeAnswers()
    }

    mutating func act() {
      let leg = Int(random.below(2))
      let person = run.operators[leg]
      switch random.below(16) {
      case 0...2: person.request(.arm)
      case 3: person.request(.disarm)
      case 4: person.request(.sendOnce(.microseconds(UInt16(500 + random.below(2_000)))))
      case 5...6: person.request(.periodic(random.below(3) > 0))
      case 7...8: ask(.command(.arm))
      case 9: ask(.command(.disarm))
      case 10: ask(.command(.setServo(.microseconds(UInt16(500 + random.below(2_000))))))
      case 11: ask(random.below(2) == 0 ? .emergencyStop : .reset)
      case 12: ask(.reset)
      case 13: ask(.query)
      case 14: run.bus.inject(random.below(2) == 0 ? .stuck : .randomNoAcknowledge(perMille: 300))
      default: run.bus.clearFaults()
      }
    }

    private mutating func ask(_ order: LegOrder) {
      let target: LegRequest.Target = random.below(3) == 0 ? .all : .leg(Int(random.below(2)))
      asked.append(run.request(order, to: target))
    }
  }

  @Test(
    "60 random histories: each request is answered once, and what was accepted is what the leg and the person show")
  func nothingIsLost() throws {
    var accepted = 0
    for seed in UInt64(1)...60 {
      var history = try History(seed: seed)
      history.run(for: .milliseconds(300))
      for _ in 0..<(5 + Int(history.random.below(40))) {
        history.act()
        // Several within a tick, and some after a person has long been silent.
        let pause = history.random.below(5) == 0 ? history.random.below(2_000) : history.random.below(60)
        history.run(for: .milliseconds(Int64(pause)))
      }
      // Everything is good again: what is under way ends.
      history.run.network.conditions.lossPerMille = 0
      history.run.bus.clearFaults()
      history.run(for: .seconds(3))
      let run = history.run
      try #require(history.answers.map(\.number) == history.asked, "seed \(seed)")
      accepted += history.answers.count { $0.verdict == .accepted }
      for leg in 0..<2 {
        let status = run.snapshot[leg]
        let heard = try #require(run.operators[leg].snapshot.heard, "seed \(seed)")
        try #require(heard.telemetry.state == status.telemetry.state, "seed \(seed), leg \(leg)")
        try #require((run.servos[leg].pulse == nil) == (status.pulse == nil), "seed \(seed), leg \(leg)")
      }
      // Now that nothing is lost an order is obeyed, or it is said why not.
      for leg in 0..<2 { run.operators[leg].request(.disarm) }
      history.run(for: .milliseconds(300))
      for leg in 0..<2 {
        try #require(
          run.snapshot[leg].telemetry.state != .armed, "seed \(seed), leg \(leg): the disarm came to nothing")
      }
      for leg in 0..<2 { run.operators[leg].request(.arm) }
      history.run(for: .milliseconds(300))
      for leg in 0..<2 {
        let state = run.snapshot[leg].telemetry.state
        try #require(state == .armed || run.snapshot[leg].lastIgnored != nil, "seed \(seed), leg \(leg)")
      }
    }
    #expect(accepted > 200)
  }
}
