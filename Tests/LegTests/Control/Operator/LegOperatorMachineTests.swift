import Tactus
import TestSupport
import Testing

@testable import Leg

@Suite(.ownThread) struct LegOperatorMachineTests {
  /// A machine that has heard `state` at 0.
  private func connected(_ state: LegTelemetry.State = .disarmed) -> LegOperatorMachine {
    var machine = LegOperatorMachine()
    _ = machine.step(.tick, at: .zero)
    _ = machine.step(.telemetry(telemetry(state)), at: .zero)
    return machine
  }

  private func telemetry(_ state: LegTelemetry.State) -> LegTelemetry {
    LegTelemetry(state: state, error: .none, lastCommandAgeMilliseconds: 0, battery: Millivolts(0))
  }

  /// What is sent at the ticks from `first` to `last`, every 20 ms, with telemetry every 100 ms while `state` is there.
  private func run(
    _ machine: inout LegOperatorMachine, _ first: Int64, _ last: Int64, hearing state: LegTelemetry.State?
  ) -> [(Int64, LegCommand)] {
    var sent: [(Int64, LegCommand)] = []
    for now in stride(from: first, through: last, by: 20) {
      if let state, now % 100 == 0 { _ = machine.step(.telemetry(telemetry(state)), at: .milliseconds(now)) }
      if let command = machine.step(.tick, at: .milliseconds(now)).command { sent.append((now, command)) }
    }
    return sent
  }

  @Test(
    "connecting: a probe at once, then after 0.5, 1, 2, 4 and every 5 s; nothing is armed, nothing sent is refused silently"
  )
  func backOff() {
    var machine = LegOperatorMachine()
    var probes: [Int64] = []
    for now in stride(from: Int64(0), through: 20_000, by: 20) {
      let action = machine.step(.tick, at: .milliseconds(now))
      #expect(action.connects == (action.command != nil))
      if action.command == .ping { probes.append(now) }
    }
    #expect(probes == [0, 500, 1_500, 3_500, 7_500, 12_500, 17_500])
    for request in [.arm, .sendOnce(.middle), .ping, .periodic(true)] as [LegOperatorRequest] {
      let action = machine.step(.ask(request), at: .milliseconds(20_001))
      #expect(action.isRefused && action.command == nil)
    }
  }

  @Test("connected: a ping every 40 ms, no later by a tick that is late; switched off, none")
  func pings() {
    var machine = connected()
    let sent = run(&machine, 20, 700, hearing: .disarmed)
    #expect(sent.map(\.0) == Array(stride(from: Int64(40), through: 700, by: 40)) && sent.allSatisfy { $0.1 == .ping })
    // Ticks up to 9 ms late: at most 60 ms between two pings.
    var random = SplitMix64(seed: 1)
    var late = connected()
    var last = TickInstant.zero
    for tick in Int64(1)...500 {
      let now = TickInstant.milliseconds(tick * 20 + .random(in: 0...9, using: &random))
      if tick % 5 == 0 { _ = late.step(.telemetry(telemetry(.armed)), at: now) }
      guard late.step(.tick, at: now).command == .ping else { continue }
      #expect(now - last <= .milliseconds(60))
      last = now
    }
    var silent = LegOperatorMachine(pingsByItself: false)
    _ = silent.step(.tick, at: .zero)
    _ = silent.step(.telemetry(telemetry(.disarmed)), at: .zero)
    #expect(run(&silent, 20, 700, hearing: .disarmed).isEmpty)
  }

  @Test("periodic: the pulse at every tick, the newest one, until switched off")
  func periodic() {
    var machine = connected()
    #expect(machine.step(.ask(.arm), at: .milliseconds(1)).command == .arm)
    _ = machine.step(.ask(.periodic(true)), at: .milliseconds(2))
    let first = run(&machine, 20, 200, hearing: .armed)
    #expect(first.count == 10 && first.allSatisfy { $0.1 == .setServo(.middle) })
    _ = machine.step(.aim(.microseconds(1800)), at: .milliseconds(210))
    #expect(run(&machine, 220, 220, hearing: nil).first?.1 == .setServo(.microseconds(1800)))
    _ = machine.step(.ask(.periodic(false)), at: .milliseconds(230))
    let after = run(&machine, 240, 340, hearing: .armed)
    #expect(!after.isEmpty && after.allSatisfy { $0.1 == .ping }, "the leg stays armed")
    let once = machine.step(.ask(.sendOnce(.microseconds(900))), at: .milliseconds(350))
    #expect(once.command == .setServo(.microseconds(900)))
  }

  @Test("arm: once for one press, never again by itself, not while the pulse is sent")
  func armsOnce() {
    var machine = connected()
    #expect(machine.step(.ask(.arm), at: .milliseconds(1)).command == .arm)
    #expect(run(&machine, 20, 900, hearing: .disarmed).allSatisfy { $0.1 != .arm })
    _ = machine.step(.ask(.periodic(true)), at: .milliseconds(910))
    #expect(machine.step(.ask(.arm), at: .milliseconds(911)).isRefused)
  }

  @Test("periodic: the leg trips, the pulses end; telemetry from before the arm does not end them")
  func tripEndsPeriodic() {
    var machine = connected()
    _ = machine.step(.ask(.arm), at: .milliseconds(1))
    _ = machine.step(.ask(.periodic(true)), at: .milliseconds(2))
    _ = machine.step(.telemetry(telemetry(.disarmed)), at: .milliseconds(3))
    #expect(machine.state == .periodic)
    _ = machine.step(.telemetry(telemetry(.armed)), at: .milliseconds(100))
    _ = machine.step(.telemetry(telemetry(.fault)), at: .milliseconds(200))
    #expect(machine.state == .connected)
    _ = machine.step(.telemetry(telemetry(.armed)), at: .milliseconds(300))
    #expect(machine.state == .connected, "whoever armed it")
  }

  @Test(
    "telemetry: fresh, stale after three frames; a second of silence is a lost link, no pulses, probes slower than a deadman"
  )
  func stale() {
    var machine = connected(.armed)
    _ = machine.step(.ask(.periodic(true)), at: .milliseconds(1))
    #expect(machine.telemetryAge(at: .milliseconds(299)) == .fresh(.milliseconds(299)))
    #expect(machine.telemetryAge(at: .milliseconds(300)) == .stale(.milliseconds(300)))
    let sent = run(&machine, 20, 4_000, hearing: nil)
    #expect(sent.last { $0.1 == .setServo(.middle) }?.0 == 980)
    #expect(sent.filter { $0.0 >= 1_000 }.map(\.0) == [1_000, 1_500, 2_500])
    #expect(machine.telemetryAge(at: .milliseconds(4_000)) == .nothingYet)
    _ = machine.step(.telemetry(telemetry(.armed)), at: .milliseconds(4_010))
    #expect(machine.state == .connected, "found again: connected, not periodic")
  }

  @Test("disarm: at once and at the next two ticks, ends the pulses; also while nobody answers")
  func disarm() {
    var machine = connected(.armed)
    _ = machine.step(.ask(.periodic(true)), at: .milliseconds(1))
    #expect(machine.step(.ask(.disarm), at: .milliseconds(2)).command == .disarm)
    #expect(run(&machine, 20, 60, hearing: nil).map(\.1) == [.disarm, .disarm])
    _ = machine.step(.linkLost, at: .milliseconds(70))
    #expect(machine.step(.ask(.disarm), at: .milliseconds(71)).command == .disarm)
    #expect(run(&machine, 80, 120, hearing: nil).map(\.1) == [.disarm, .disarm, .ping])
  }

  @Test("quit: three disarms, then silence; shutdown: the three at once")
  func quit() {
    var machine = connected(.armed)
    _ = machine.step(.ask(.quit), at: .milliseconds(1))
    #expect(run(&machine, 20, 900, hearing: .armed).map(\.1) == [.disarm, .disarm, .disarm])
    #expect(machine.state == .finished)
    var other = connected(.armed)
    let action = other.step(.shutdown, at: .milliseconds(1))
    #expect(action.command == .disarm && action.copies == 3)
    #expect(other.step(.shutdown, at: .milliseconds(2)).command == nil)
  }

  @Test("quit, shutdown: a leg that is not armed is left as it is; one that may be, by an arm on its way, is disarmed")
  func leavesWhatIsNotArmed() {
    func endings(_ machine: LegOperatorMachine, at milliseconds: Int64) -> [Bool] {
      [LegOperatorEvent.ask(.quit), .shutdown].map { event in
        var machine = machine
        let action = machine.step(event, at: .milliseconds(milliseconds))
        let next = machine.step(.tick, at: .milliseconds(milliseconds + 20))
        return action.command == .disarm || next.command == .disarm
      }
    }
    for state in [LegTelemetry.State.disarmed, .fault] { #expect(endings(connected(state), at: 10) == [false, false]) }
    #expect(endings(connected(.armed), at: 10) == [true, true], "somebody else's, and kept alive by our pings")
    #expect(endings(LegOperatorMachine(), at: 10) == [false, false], "nobody answers")
    // An arm on its way: telemetry that was sent before it says nothing about it.
    var machine = connected()
    _ = machine.step(.ask(.arm), at: .milliseconds(20))
    _ = machine.step(.telemetry(telemetry(.disarmed)), at: .milliseconds(100))
    #expect(endings(machine, at: 110) == [true, true])
    var refused = machine
    for time in [Int64(200), 300, 400] { _ = refused.step(.telemetry(telemetry(.fault)), at: .milliseconds(time)) }
    #expect(endings(refused, at: 410) == [false, false], "the leg has refused it")
    _ = machine.step(.telemetry(telemetry(.armed)), at: .milliseconds(200))
    var tripped = machine
    _ = tripped.step(.telemetry(telemetry(.fault)), at: .milliseconds(250))
    #expect(endings(tripped, at: 260) == [false, false], "the fault keeps its cause")
    _ = machine.step(.linkLost, at: .milliseconds(250))
    #expect(endings(machine, at: 260) == [true, true], "lost while armed")
  }

  @Test(
    "20,000 random histories: an arm is sent only for a press, pulses only while somebody answers and never after a trip"
  )
  func randomHistories() {
    for seed in UInt64(0)..<20_000 {
      var random = SplitMix64(seed: seed)
      var machine = LegOperatorMachine()
      var now = TickInstant.zero
      var heardAt: TickInstant?
      for index in 0..<60 {
        now = now + .milliseconds(.random(in: 0...60, using: &random))
        if Int.random(in: 0..<30, using: &random) == 0 { now = now + .seconds(Int64(2)) }
        let events: [LegOperatorEvent] = [
          .tick, .tick, .tick, .tick, .ask(.arm), .ask(.disarm), .aim(.microseconds(900)), .ask(.sendOnce(.middle)),
          .ask(.ping), .ask(.periodic(true)), .ask(.periodic(false)), .telemetry(telemetry(.armed)),
          .telemetry(telemetry(.armed)), .telemetry(telemetry(.disarmed)), .telemetry(telemetry(.fault)), .linkLost,
          .ask(.quit), .shutdown,
        ]
        // The last two are the end of a history.
        let event = events[Int.random(in: 0..<(index > 50 ? 18 : 16), using: &random)]
        let wasPeriodic = machine.state == .periodic
        let action = machine.step(event, at: now)
        switch event {
        case .telemetry: heardAt = now
        case .linkLost: heardAt = nil
        default: break
        }
        let isAlive = heardAt.map { now - $0 < .seconds(Int64(1)) } ?? false
        if action.command == .arm, event != .ask(.arm) { return record(seed, index, "arms by itself") }
        if case .setServo = action.command, !isAlive { return record(seed, index, "a pulse to nobody") }
        if machine.state == .periodic, !wasPeriodic, event != .ask(.periodic(true)) {
          return record(seed, index, "periodic by itself")
        }
      }
    }
  }

  private func record(_ seed: UInt64, _ index: Int, _ what: String) {
    Issue.record("seed \(seed), event \(index): \(what)")
  }
}
