import Tactus
import TestSupport
import Testing

@testable import Pump

/// The operator side and a pump with a line between them that delays and loses, and keeps the order as a serial line does.
private struct AcknowledgementWorld {
  private struct Arrival {
    var at: TickInstant
    var command: PumpCommand?
    var reply: PumpReply?
  }

  var machine: PumpOperatorMachine
  var device: PumpDeviceMachine
  var random: SplitMix64
  var now = TickInstant.zero
  /// Of a thousand lines.
  var lost: UInt64
  private var toDevice: [Arrival] = []
  private var toOperator: [Arrival] = []
  /// An ON was accepted and nothing has been told or asked since that ends it.
  private(set) var mustRun = false
  private(set) var history: [String] = []
  private(set) var problem: String?

  init(seed: UInt64) throws {
    random = SplitMix64(seed: seed)
    machine = PumpOperatorMachine(
      try PumpOperatorSettings(runLimit: nil, linkLoss: random.below(2) == 0 ? .keepsRunning : .stopsOnReturn))
    device = PumpDeviceMachine(
      try PumpDeviceSettings(dialect: random.below(2) == 0 ? .firmware : .legacy, runLimit: .seconds(86_400)))
    lost = random.below(3) == 0 ? 0 : random.below(250)
    step(.linked)
  }

  /// Up to three seconds, so that answers come after their time-out, too.
  private mutating func delay() -> Nanoseconds {
    .milliseconds(Int64(random.below(10) == 0 ? random.below(3_000) : random.below(150)))
  }

  private mutating func arrives(after last: TickInstant?) -> TickInstant { max(now + delay(), last ?? now) }

  private var nextInstant: TickInstant? {
    [toDevice.first?.at, toOperator.first?.at, machine.nextDeadline, device.nextDeadline].compactMap(\.self).min()
  }

  mutating func run(until end: TickInstant) {
    while problem == nil, let next = nextInstant, next <= end {
      now = max(now, next)
      if let arrival = toDevice.first, arrival.at <= now {
        toDevice.removeFirst()
        if let command = arrival.command { stepDevice(.command(command)) }
      } else if let arrival = toOperator.first, arrival.at <= now {
        toOperator.removeFirst()
        if let reply = arrival.reply { step(.reply(reply)) }
      } else if let due = device.nextDeadline, due <= now {
        stepDevice(.tick)
      } else {
        step(.tick)
      }
    }
    now = end
  }

  mutating func stepDevice(_ event: PumpDeviceEvent) {
    let action = device.step(event, at: now)
    if action.output == .off { _ = device.step(.offConfirmed, at: now) }
    for index in 0..<action.replies.count where random.below(1_000) >= lost {
      toOperator.append(Arrival(at: arrives(after: toOperator.last?.at), reply: action.replies[index]))
    }
  }

  @discardableResult
  mutating func step(_ order: PumpOrder) -> PumpVerdict { step(.order(order)) }

  @discardableResult
  mutating func step(_ event: PumpOperatorEvent) -> PumpVerdict {
    let before = machine
    let action = machine.step(event, at: now)
    history.append(
      "\(now) \(event): \(before.state) → \(machine.state), \(action.command.map { "\($0)" } ?? "-")"
        + (action.failure.map { " FAILED \($0)" } ?? ""))
    if let command = action.command, random.below(1_000) >= lost {
      toDevice.append(Arrival(at: arrives(after: toDevice.last?.at), command: command))
    }
    judge(before, event, action)
    return action.verdict
  }

  mutating func unplug() {
    toDevice = []
    toOperator = []
    step(.unlinked)
  }

  private mutating func judge(
    _ before: PumpOperatorMachine, _ event: PumpOperatorEvent, _ action: PumpOperatorAction
  ) {
    if before.state == .starting, machine.state != .starting, !isOn(machine.state), !event.isCommand,
      action.failure == nil
    {
      problem = "an ON that was accepted ended in \(machine.state), and nobody was told"
    }
    if let speed = before.channel.wantedSpeed, machine.channel.wantedSpeed == nil, !event.isCommand,
      action.failure == nil, !isOn(machine.state)
    {
      problem = "\(speed) was accepted and dropped in \(machine.state), and nobody was told"
    }
    if action.verdict == .accepted {
      switch event {
      case .order(.turnOn): mustRun = true
      case .order(.turnOff), .order(.emergencyStop), .order(.quit), .shutdown: mustRun = false
      default: break
      }
    }
    if action.failure?.command == .on { mustRun = false }
    // A pump that is on and stops is a change of the state, which is told.
    if isOn(before.state), !isOn(machine.state) { mustRun = false }
  }

  func isOn(_ state: PumpOperatorState) -> Bool {
    if case .on = state { true } else { false }
  }
}

@Suite(.ownThread) struct PumpAcknowledgementTests {
  private func act(_ world: inout AcknowledgementWorld) {
    switch world.random.below(20) {
    case 0...5: world.step(.turnOn(world.random.below(2) == 0 ? PumpSpeed(duty: 90) : nil))
    case 6...9: world.step(.turnOff)
    case 10...11: world.step(.setSpeed(PumpSpeed(duty: UInt8(world.random.below(256)))))
    case 12: world.step(.emergencyStop)
    case 13...15: world.step(.reset)
    case 16: world.step(.watched)
    case 17:
      world.stepDevice(.button(isPressed: true))
      world.now = world.now + .milliseconds(60)
      world.stepDevice(.button(isPressed: true))
      world.stepDevice(.button(isPressed: false))
      world.now = world.now + .milliseconds(60)
      world.stepDevice(.button(isPressed: false))
    case 18:
      world.unplug()
      world.run(until: world.now + .milliseconds(Int64(world.random.below(3_000))))
      world.step(.linked)
    default: world.step(.readTemperatures)
    }
  }

  @Test(
    "1,000 random histories over a line that delays and loses: an ON that was accepted starts the pump, or its failure is told"
  )
  func noSilentLoss() throws {
    for seed in UInt64(1)...1_000 {
      var world = try AcknowledgementWorld(seed: seed)
      for _ in 0..<(5 + Int(world.random.below(40))) {
        // Many within the time of an answer.
        let pause = world.random.below(4) == 0 ? world.random.below(6_000) : world.random.below(200)
        world.run(until: world.now + .milliseconds(Int64(pause)))
        act(&world)
      }
      // The line is good again: what is under way ends.
      world.lost = 0
      world.run(until: world.now + .seconds(30))
      var problem = world.problem
      let isPumping = world.device.state.isOn
      if problem == nil, world.mustRun, !isPumping { problem = "an ON was accepted, nothing was told, and it is off" }
      if problem == nil, world.isOn(world.machine.state) != isPumping {
        problem = "the pump is \(world.device.state), the operator side says \(world.machine.state)"
      }
      if problem == nil, world.machine.state.off == .pending { problem = "an OFF is never confirmed" }
      if let problem {
        Issue.record("\(problem): seed \(seed)\n\(world.history.suffix(40).joined(separator: "\n"))")
        return
      }
    }
  }

  @Test(
    "ON while an OFF waits for its answer and a STATUS comes first: refused; after PUMP:OFF it is taken, and starts")
  func statusBeforeOff() {
    for isEmergency in [false, true] {
      var bench = OperatorBench.off()
      bench.at(6, .tick)
      #expect(bench.taken() == ["6.0 STATUS"])
      if isEmergency {
        bench.at(6.01, .emergencyStop)
        bench.hear(6.02, .ok, .pump(isOn: false))
        bench.at(6.03, .reset)
      } else {
        bench.at(6.03, .turnOff)
      }
      bench.hear(6.05, .status(PumpStatus(state: .off)))
      #expect(bench.machine.state == .off(.pending), "it was said before the OFF arrived")
      #expect(bench.at(6.1, .turnOn(nil)) == .refused(.offNotConfirmed))
      bench.hear(6.2, .ok, .pump(isOn: false))
      _ = bench.taken()
      #expect(bench.at(6.3, .turnOn(nil)) == .accepted)
      // What the STATUS after the OFF is answered with does not end the start either.
      bench.hear(6.35, .pump(isOn: false))
      bench.hear(6.4, .status(PumpStatus(state: .off)))
      #expect(bench.machine.state == .starting)
      bench.hear(6.5, .ok, .pump(isOn: true))
      #expect(bench.machine.state == .on(since: .seconds(6.5)))
    }
  }

  @Test("a start that comes to nothing is told: by the button, by an error, by a lost connection")
  func toldStart() {
    let ends: [(PumpOperatorEvent, PumpCommandFailure.Reason)] = [
      (.reply(.manual(isOn: false)), .stopped), (.reply(.error(.overheat)), .stopped),
      (.missed(releases: 3), .stopped), (.unlinked, .contactLost), (.linked, .contactLost),
    ]
    for (event, reason) in ends {
      var bench = OperatorBench.off()
      bench.at(1, .turnOn(PumpSpeed(duty: 90)))
      let action = bench.machine.step(event, at: .seconds(1.1))
      #expect(action.failure == PumpCommandFailure(.on, reason), "\(event)")
      #expect(bench.machine.state != .starting)
    }
  }

  @Test("a speed that comes to nothing is told: the pump stops by itself, or the connection goes")
  func toldSpeed() {
    let ends: [(PumpOperatorEvent, PumpCommandFailure.Reason)] = [
      (.reply(.manual(isOn: false)), .stopped), (.reply(.error(.safetyShutoff)), .stopped), (.unlinked, .contactLost),
    ]
    for (event, reason) in ends {
      var bench = OperatorBench.on()
      bench.at(2, .setSpeed(PumpSpeed(duty: 90)))
      let action = bench.machine.step(event, at: .seconds(2.1))
      #expect(action.failure == PumpCommandFailure(.speed(PumpSpeed(duty: 90)), reason), "\(event)")
    }
  }

  @Test("late answer of a start that an OFF took back: nobody knows which of them came last, so it is turned off again")
  func lateStart() {
    var bench = OperatorBench.off()
    bench.at(1, .turnOn(nil))
    bench.at(1.5, .turnOff)
    bench.hear(1.6, .ok, .pump(isOn: false))
    _ = bench.taken()
    bench.hear(1.7, .ok, .pump(isOn: true))
    #expect(bench.machine.state == .off(.pending))
    #expect(bench.taken() == ["1.7 OFF"])
  }
}
