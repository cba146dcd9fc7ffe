import Buses
import Tactus
import TestSupport
import Testing
import Wire

@testable import Robot

/// A robot, two people on a bad link and clients inside the daemon, on a bus that fails now and then.
@Suite(.ownThread) struct RobotAcknowledgementTests {
  private struct History {
    let run: RobotSimulation
    var random: SplitMix64
    var asked: [(number: UInt64, order: RobotOrder)] = []
    /// With the robot's state at the end of the tick that answered.
    var answers: [(answer: Answer<IgnoreReason>, state: RobotState)] = []

    init(seed: UInt64) throws {
      random = SplitMix64(seed: seed)
      var configuration = RobotSimulation.Configuration()
      configuration.operators = 2
      configuration.seed = seed
      configuration.conditions.delay = .milliseconds(3)
      configuration.conditions.lossPerMille = Int(random.below(250))
      configuration.conditions.duplicationPerMille = Int(random.below(200))
      configuration.conditions.reorderingPerMille = Int(random.below(200))
      configuration.conditions.reorderHold = .milliseconds(120)
      configuration.conditions.jitter = .milliseconds(Int64(random.below(40)))
      run = try RobotSimulation(configuration)
    }

    mutating func run(for duration: Nanoseconds) {
      let end = run.now + duration
      while answers.count < asked.count, run.now < end {
        // Ticks are a millisecond apart at least.
        run.run(for: .milliseconds(1))
        answers += run.takeAnswers().map { ($0, run.robot.state) }
      }
      run.run(for: end - run.now)
    }

    mutating func act() {
      let person = run.operators[Int(random.below(2))]
      switch random.below(16) {
      case 0...3: person.set(.joystick(x: 0, y: Double(random.below(200)) / 100 - 1))
      case 4...5: person.set(.rest)
      case 6: person.request(.stop)
      case 7: person.request(.emergencyStop)
      case 8...9: person.request(.reset)
      case 10: ask(.command(.drive(WheelSpeeds(left: Percent(30), right: Percent(-30)))))
      case 11: ask(random.below(2) == 0 ? .command(.stop) : .leave)
      case 12: ask(.command(.emergencyStop))
      case 13: ask(.command(.reset))
      case 14: run.bus.inject(random.below(3) == 0 ? .stuck : .randomNoAcknowledge(perMille: 300))
      default: run.bus.clearFaults()
      }
    }

    private mutating func ask(_ order: RobotOrder) {
      asked.append((run.request(order, client: UInt32(random.below(2))), order))
    }
  }

  /// nil, or what is wrong with an answer by itself.
  private func judge(_ order: RobotOrder, _ answer: Answer<IgnoreReason>, _ state: RobotState) -> String? {
    guard answer.verdict == .accepted else { return nil }
    switch (order, state) {
    // Of several requests of one tick the last is the state's; only what latches can be judged by it.
    case (.command(.emergencyStop, _), .driving), (.command(.emergencyStop, _), .stopped):
      return "an e-stop that was accepted left \(state)"
    default: return nil
    }
  }

  @Test("60 random histories: each request is answered once; what a person asked for happens once nothing is lost")
  func nothingIsLost() throws {
    var accepted = 0
    for seed in UInt64(1)...60 {
      var history = try History(seed: seed)
      history.run(for: .milliseconds(300))
      for _ in 0..<(5 + Int(history.random.below(40))) {
        history.act()
        let pause = history.random.below(5) == 0 ? history.random.below(2_000) : 60 + history.random.below(200)
        history.run(for: .milliseconds(Int64(pause)))
      }
      let run = history.run
      try #require(history.answers.map(\.answer.number) == history.asked.map(\.number), "seed \(seed)")
      for (asked, (answer, state)) in zip(history.asked, history.answers) {
        if let problem = judge(asked.order, answer, state) { Issue.record("\(problem): seed \(seed)") }
      }
      accepted += history.answers.count { $0.answer.verdict == .accepted }

      // Everything is good again and nobody holds a stick.
      run.network.conditions.lossPerMille = 0
      run.network.conditions.duplicationPerMille = 0
      run.network.conditions.reorderingPerMille = 0
      run.bus.clearFaults()
      for person in run.operators { person.set(.rest) }
      history.run(for: .seconds(3))
      let isStoppedByPerson = run.operators.contains { $0.snapshot.state == .emergencyStopped }
      let latched = run.robot.state
      if isStoppedByPerson { try #require(isEmergencyStopped(latched), "seed \(seed): \(latched)") }
      for person in run.operators {
        let heard = try #require(person.snapshot.heard, "seed \(seed)")
        try #require(heard.reply.state == shown(latched), "seed \(seed): told \(heard.reply), \(latched)")
      }
      // A reset of everybody; then one of them goes, whose stick at rest would keep control, and the other drives.
      for _ in 0..<2 {
        for person in run.operators { person.request(.reset) }
        history.run(for: .milliseconds(200))
      }
      run.operators[1].request(.quit)
      history.run(for: .milliseconds(1_500))
      run.operators[0].set(.joystick(x: 0, y: 0.5))
      history.run(for: .milliseconds(1_000))
      let speeds = WheelSpeeds(left: Percent(50), right: Percent(50))
      try #require(run.robot.speeds == speeds, "seed \(seed): \(run.robot.state)")
      run.operators[0].request(.stop)
      history.run(for: .milliseconds(200))
      try #require(run.robot.speeds.isZero, "seed \(seed): a stop came to nothing")
      run.operators[0].request(.emergencyStop)
      history.run(for: .milliseconds(200))
      try #require(isEmergencyStopped(run.robot.state), "seed \(seed): an e-stop came to nothing")
    }
    #expect(accepted > 100)
  }

  private func isEmergencyStopped(_ state: RobotState) -> Bool {
    if case .emergencyStopped = state { true } else { false }
  }

  private func shown(_ state: RobotState) -> RobotReply.State {
    switch state {
    case .stopped: .stopped
    case .driving: .driving
    case .emergencyStopped: .emergencyStop
    case .fault, .shutDown: .fault
    }
  }
}
