import Tactus
import TestSupport
import Testing
import Wire

@testable import Pump

@Suite(.ownThread) struct PumpPropertyTests {
  private func reading(_ random: inout SplitMix64) -> PumpReading {
    switch random.below(8) {
    case 0: .unknown
    case 1: .absent
    case 2: .celsius(-77.4)
    default: .value(PumpTemperature(tenths: Int32(random.below(450))))
    }
  }

  private func reply(_ random: inout SplitMix64) -> PumpReply {
    switch random.below(12) {
    case 0: .ok
    case 1: .pump(isOn: true)
    case 2: .pump(isOn: false)
    case 3: .speed(PumpSpeed(duty: UInt8(random.below(256))))
    case 4: .manual(isOn: random.below(2) == 0)
    case 5: .error([.safetyShutoff, .overheat, .sensorFault, .startFailed][Int(random.below(4))])
    case 6: .error([.notRunning, .invalidSpeed, .unknownCommand, .other(ShortText("X"))][Int(random.below(4))])
    case 7: .temperatures(PumpTemperatures(water: reading(&random), skin: reading(&random)))
    default:
      .status(
        PumpStatus(
          state: PumpReportedState.allCases.randomElement(using: &random), percent: UInt8(random.below(101)),
          runtimeMinutes: random.below(2) == 0 ? UInt16(random.below(4)) : nil))
    }
  }

  private func operatorEvent(_ random: inout SplitMix64) -> PumpOperatorEvent {
    switch random.below(40) {
    case 0...3: .order(.turnOn(random.below(2) == 0 ? PumpSpeed(duty: 9) : nil))
    case 4: .order(.turnOff)
    case 5...6: .order(.setSpeed(PumpSpeed(duty: UInt8(random.below(256)))))
    case 7: .order(.watched)
    case 8: .order(.readTemperatures)
    case 9: random.below(6) == 0 ? .order(.emergencyStop) : .tick
    case 10...11: .order(.reset)
    case 12...13: .linked
    case 14: .unlinked
    case 15: .invalidLine
    case 16: random.below(30) == 0 ? .missed(releases: 3) : .tick
    case 17: random.below(60) == 0 ? .order(.quit) : .tick
    case 18: random.below(120) == 0 ? .shutdown : .tick
    case 19...24: .tick
    default: .reply(reply(&random))
    }
  }

  @Test(
    "operator, 2,000 random histories: no ON without a right to it, OFF whenever it must be off, no deadline in the past"
  )
  func operatorHistories() throws {
    for seed in UInt64(1)...2_000 {
      var random = SplitMix64(seed: seed)
      let settings = try PumpOperatorSettings(
        runLimit: .seconds(60 + Int64(random.below(120))), rest: .seconds(Int64(random.below(100))),
        linkLoss: random.below(2) == 0 ? .keepsRunning : .stopsOnReturn)
      var machine = PumpOperatorMachine(settings)
      var now = TickInstant.zero
      var wantsOn = false
      for number in 0..<150 {
        if random.below(2) == 0, let due = machine.nextDeadline, due > now {
          now = due
        } else {
          now = now + .milliseconds(Int64(random.below(3_000)))
        }
        let event = operatorEvent(&random)
        let before = machine
        let action = machine.step(event, at: now)
        if case .order(.turnOn) = event, action.verdict == .accepted { wantsOn = true }
        if let problem = problem(before, event, machine, action, wantsOn, at: now) {
          Issue.record("\(problem): seed \(seed), event \(number), \(event), \(before.state) → \(machine.state)")
          return
        }
        if machine.state != .starting { wantsOn = false }
      }
    }
  }

  private func problem(
    _ before: PumpOperatorMachine, _ event: PumpOperatorEvent, _ machine: PumpOperatorMachine,
    _ action: PumpOperatorAction, _ wantsOn: Bool, at now: TickInstant
  ) -> String? {
    if action.command == .on {
      if !wantsOn { return "an ON that nobody asked for" }
      if machine.governor.left(at: now).count == 0 { return "an ON without budget" }
      if machine.state != .starting { return "an ON in another state" }
    }
    if case .some(.pending) = machine.state.off, machine.contact.isUp, action.command != .off {
      guard let inFlight = machine.channel.inFlight, inFlight.command == .off else {
        return "no OFF although it must be off"
      }
      if now - inFlight.sentAt >= machine.settings.answerTimeout { return "an OFF is not repeated" }
    }
    if action.command != nil, action.command != .off, machine.state.off == .pending {
      return "something before the OFF"
    }
    if case .down = machine.contact, action.command != nil { return "a command without a connection" }
    switch (before.state, machine.state) {
    case (.shutDown, .shutDown): break
    case (.shutDown, _): return "out of shutdown"
    case (.emergencyStopped, .emergencyStopped), (.emergencyStopped, .shutDown): break
    case (.emergencyStopped, _): if event != .order(.reset) { return "out of the emergency stop" }
    default: break
    }
    switch machine.state {
    case .on, .starting:
      if let end = machine.governor.expiresAt, end <= now { return "on past the run limit" }
    default: break
    }
    if let due = machine.nextDeadline, due <= now, event != .shutdown { return "a deadline in the past, \(due)" }
    return nil
  }

  private func deviceEvent(_ random: inout SplitMix64) -> PumpDeviceEvent {
    switch random.below(24) {
    case 0...4: .command(.on)
    case 5: .command(.off)
    case 6...7: .command(.speed(PumpSpeed(duty: UInt8(random.below(256)))))
    case 8: .command(.status)
    case 9...10: .button(isPressed: random.below(2) == 0)
    case 11: .pot(counts: Int(random.below(1_024)))
    case 12...14: .temperatures(water: .celsius(12), skin: reading(&random))
    case 15: random.below(10) == 0 ? .emergencyStop : .tick
    case 16: .reset
    case 17...18: .offConfirmed
    case 19: random.below(6) == 0 ? .outputFailed : .tick
    case 20: random.below(40) == 0 ? .shutdown : .invalidCommand(.tooLong(count: 64))
    default: .tick
    }
  }

  @Test("device, 2,000 random histories: it runs only while on, never past its limit, and every stop is an off")
  func deviceHistories() throws {
    for seed in UInt64(1)...2_000 {
      var random = SplitMix64(seed: seed)
      let settings = try PumpDeviceSettings(
        runLimit: .seconds(1 + Int64(random.below(60))), rest: .seconds(Int64(random.below(30))),
        pot: [.none, .whenMoved, .always][Int(random.below(3))],
        silenceLimit: random.below(2) == 0 ? .seconds(10) : nil)
      var machine = PumpDeviceMachine(settings)
      var now = TickInstant.zero
      var isDriven = false
      var pumped = Nanoseconds.zero
      var last = now
      var stoppedAt = now
      for number in 0..<200 {
        if random.below(2) == 0, let due = machine.nextDeadline, due > now {
          now = due
        } else {
          now = now + .milliseconds(Int64(random.below(2_000)))
        }
        if isDriven { pumped = pumped + (now - last) } else if now - stoppedAt >= settings.rest { pumped = .zero }
        last = now
        let event = deviceEvent(&random)
        // Driven on for as long as nobody looks: what counts is that the first look stops it.
        let isSpent = pumped >= settings.runLimit
        let wasDriven = isDriven
        let action = machine.step(event, at: now)
        switch action.output {
        case .none: break
        case .off: isDriven = false
        case .run: isDriven = true
        }
        var problem: String?
        if isDriven != machine.state.isOn { problem = "driven \(isDriven)" }
        if isSpent, isDriven { problem = "driven past the limit" }
        if let due = machine.nextDeadline, due <= now, machine.state.isOn, event == .tick,
          machine.button.settlesAt == nil
        {
          problem = "a deadline in the past"
        }
        if let problem {
          Issue.record("\(problem): seed \(seed), event \(number), \(event), now \(machine.state)")
          return
        }
        if wasDriven, !isDriven { stoppedAt = now }
        if !isDriven, settings.rest == .zero { pumped = .zero }
      }
    }
  }
}
