import Buses
import Devices
import Tactus
import TestSupport
import Testing

@testable import Leg

extension I2CTransaction {
  fileprivate var isOff: Bool {
    register == 0xFD || operation == .writeBlock && bytes.count == 4 && bytes[3] == 0x10
  }
}

@Suite(.ownThread) struct LegSimulationTests {
  private func simulation(
    legs: Int = 1, seed: UInt64 = 1, pings: Bool = false,
    _ change: (inout SimulatedNetwork.Conditions) -> Void = { _ in }
  ) throws -> LegSimulation {
    var configuration = LegSimulation.Configuration(legs: legs)
    configuration.seed = seed
    configuration.pingsByThemselves = pings
    configuration.conditions.delay = .milliseconds(3)
    change(&configuration.conditions)
    return try LegSimulation(configuration)
  }

  @Test("age of a command: from a frame's arrival, or its request, to the end of the tick that the chip took it in")
  func commandAge() throws {
    let run = try simulation(legs: 2)
    func ages() throws -> AgeStatistics { try #require(run.statistics[LegSimulation.legLoop]?.ages.first) }
    run.run(for: .milliseconds(250))
    // Arming writes nothing.
    run.request(.command(.arm), to: .all)
    run.run(for: .milliseconds(29))
    let before = try ages().age.count
    run.stallLegs(at: .milliseconds(280), by: .milliseconds(30))
    run.run(for: .milliseconds(11))
    run.request(.command(.setServo(.microseconds(1_600))), to: .leg(0))
    run.run(for: .milliseconds(4))
    // Both pulses go out together: the older one counts.
    run.request(.command(.setServo(.microseconds(1_700))), to: .leg(1))
    run.run(for: .milliseconds(60))
    let pulsed = try ages()
    #expect(pulsed.age.count == before + 1 && pulsed.last == .milliseconds(20))
    run.stallLegs(at: .milliseconds(400), by: .milliseconds(30))
    run.run(for: .milliseconds(424) - (run.now - .zero))
    run.request(.command(.disarm), to: .leg(0))
    run.run(for: .milliseconds(60))
    #expect(try ages().age.count == before + 2 && ages().last == .milliseconds(6))
    // By datagrams, 3 ms on their way.
    run.operators[0].request(.arm)
    run.operators[0].set(.microseconds(1_500))
    run.run(for: .milliseconds(30))
    run.operators[0].request(.periodic(true))
    run.run(for: .milliseconds(500))
    let driven = try ages()
    #expect(driven.age.count > before + 4 && driven.age.minimum == .zero)
    // Its longest tick took longer than its period.
    #expect(driven.bound == nil && pulsed.arrival == .releasesLoop)
    run.request(.emergencyStop, to: .all)
    run.run(for: .milliseconds(30))
    #expect(try ages().age.count > driven.age.count)
    let stopped = try ages().age.count
    run.bus.inject(.stuck)
    run.request(.command(.disarm), to: .leg(0))
    run.run(for: .milliseconds(30))
    #expect(try ages().age.count == stopped, "nothing that the chip did not take")
  }

  @Test("age of a command: none for a pulse that the chip did not take")
  func noCommandAge() throws {
    let run = try simulation()
    run.run(for: .milliseconds(250))
    run.request(.command(.arm), to: .all)
    run.request(.command(.setServo(.microseconds(1_500))), to: .leg(0))
    run.run(for: .milliseconds(30))
    #expect(try #require(run.statistics[LegSimulation.legLoop]?.ages.first).age.count == 1)
    run.bus.inject(.stuck)
    run.request(.command(.setServo(.microseconds(1_600))), to: .leg(0))
    run.run(for: .milliseconds(30))
    #expect(try #require(run.statistics[LegSimulation.legLoop]?.ages.first).age.count == 1)
  }

  /// Connected, armed and sending the pulse.
  private func drive(_ run: LegSimulation, _ leg: Int = 0, pulse: UInt16) {
    run.run(for: .milliseconds(250))
    run.operators[leg].request(.arm)
    run.operators[leg].set(.microseconds(pulse))
    run.run(for: .milliseconds(30))
    run.operators[leg].request(.periodic(true))
    run.run(for: .milliseconds(500))
  }

  /// Instants at which a channel, or all of them, was told to be off since `instant`.
  private func offs(_ run: LegSimulation, since instant: TickInstant) -> [TickInstant] {
    run.bus.transactions().filter { $0.at >= instant && $0.isOff }.map(\.at)
  }

  @Test(
    "bus stuck while driving: the output-enable line ends the pulse at the next transfer, which the chip never gets")
  func stuckBus() throws {
    var configuration = LegSimulation.Configuration(legs: 2)
    configuration.outputEnable = .bcm(22)
    configuration.battery = LegBattery(channel: 0, dividerPerMille: 3000)
    let run = try LegSimulation(configuration)
    run.converter.set(0, Microvolts(2_466_667))
    drive(run, pulse: 2000)
    #expect(!run.header.isHigh(22) && run.snapshot[0].pulse == .microseconds(2000))
    #expect(run.snapshot[1].telemetry.battery == Millivolts(7400))
    let (start, next) = (run.now, run.bus.transactionCount)
    run.bus.inject(.stuck)
    run.run(for: .milliseconds(250))
    let refused = try #require(run.bus.transactions(since: next).first)
    let cut = try #require(run.header.transactions().last { $0.operation == .set })
    #expect(run.header.isHigh(22) && cut.at == refused.at && cut.at - start <= .milliseconds(200))
    #expect(run.snapshot[0].state == .fault(.output, .pending) && run.snapshot[1].state == .fault(.output, .pending))
  }

  @Test("operator arms, aims and keeps alive: the servo goes there; telemetry comes back ten times a second")
  func drives() throws {
    let run = try simulation()
    drive(run, pulse: 2000)
    #expect(abs(run.servos[0].position - 45) < 0.3)
    #expect(run.snapshot[0].pulse == .microseconds(2000))
    let before = run.operators[0].snapshot.received
    run.run(for: .seconds(Int64(5)))
    #expect(run.operators[0].snapshot.received - before == 50)
    #expect(run.operators[0].snapshot.heard?.telemetry.state == .armed)
    #expect(run.snapshot[0].accepted > 250 && run.snapshot.servos.writes < 5, "one transfer a change, not a frame")
  }

  @Test("link cut: the pulse ends exactly 200 ms after the last command came in; the servo lets go")
  func cut() throws {
    let run = try simulation()
    drive(run, pulse: 2000)
    run.network.conditions.lossPerMille = 1_000
    let cut = run.now
    run.run(for: .milliseconds(10))
    let last = try #require(run.snapshot[0].lastCommand)
    run.run(for: .seconds(Int64(2)))
    #expect(offs(run, since: cut).first == last + .milliseconds(200))
    #expect(run.snapshot[0].state == .fault(.silence, .confirmed))
    #expect(run.servos[0].pulse == nil)
    guard case .connecting = run.operators[0].snapshot.state else {
      Issue.record("the operator does not see it: \(run.operators[0].snapshot.state)")
      return
    }
    run.network.conditions.lossPerMille = 0
    run.run(for: .seconds(Int64(8)))
    #expect(run.snapshot[0].state == .fault(.silence, .confirmed), "found again, and nobody re-arms it")
    #expect(run.operators[0].snapshot.heard?.telemetry.error == .deadmanTimeout)
    run.operators[0].request(.disarm)
    run.run(for: .milliseconds(100))
    drive(run, pulse: 1000)
    #expect(abs(run.servos[0].position + 45) < 0.3)
  }

  @Test("10,000 trips at random moments: every one of them exactly 200 ms after the last command, to the nanosecond")
  func tenThousandTrips() throws {
    let run = try simulation(seed: 11) {
      $0.jitter = .milliseconds(7)
      $0.lossPerMille = 100
    }
    var random = SplitMix64(seed: 11)
    run.run(for: .milliseconds(250))
    var trips = 0
    var sequence: Int64 = 0
    var worst = Nanoseconds.zero
    for _ in 0..<20_000 where trips < 10_000 {
      if case .disarmed = run.snapshot[0].state {
      } else {
        run.operators[0].request(.disarm)
        run.run(for: .milliseconds(60))
      }
      run.operators[0].request(.arm)
      run.run(for: .milliseconds(30))
      // A lost arm is pressed again.
      guard run.snapshot[0].state.isArmed else { continue }
      run.operators[0].request(.sendOnce(.microseconds(UInt16.random(in: 500...2500, using: &random))))
      run.run(for: Nanoseconds(.random(in: 1...150_000_000, using: &random)))
      if Bool.random(using: &random) { run.operators[0].request(.ping) }
      run.run(for: .milliseconds(45))
      guard run.snapshot[0].state.isArmed, let last = run.snapshot[0].lastCommand else { continue }
      let due = last + .milliseconds(200)
      run.run(for: due - run.now + .milliseconds(1))
      let transactions = run.bus.transactions(since: sequence)
      sequence = (transactions.last?.sequence ?? -1) + 1
      if run.snapshot[0].lastCommand == last {
        let off = transactions.last { $0.isOff && $0.at > last }?.at
        worst = max(worst, off.map { Nanoseconds(abs(($0 - due).count)) } ?? .seconds(Int64(1)))
        trips += 1
      }
    }
    #expect(trips == 10_000 && worst == .zero)
  }

  @Test("six legs on one chip: one link is cut, that leg trips alone, the others drive on")
  func sixLegs() throws {
    let run = try simulation(legs: 6)
    run.run(for: .milliseconds(250))
    for (number, person) in run.operators.enumerated() {
      person.request(.arm)
      person.set(.microseconds(1000 + 200 * UInt16(number)))
    }
    run.run(for: .milliseconds(30))
    for person in run.operators { person.request(.periodic(true)) }
    run.run(for: .seconds(Int64(1)))
    run.operators[2].request(.periodic(false))
    run.run(for: .milliseconds(500))
    for leg in 0..<6 {
      if leg == 2 {
        #expect(run.snapshot[leg].state == .fault(.silence, .confirmed))
        #expect(run.servos[leg].pulse == nil)
      } else {
        #expect(run.snapshot[leg].pulse == .microseconds(1000 + 200 * UInt16(leg)))
        #expect(abs(run.servos[leg].position - (Double(1000 + 200 * leg) - 1500) * 0.09) < 0.3)
      }
    }
  }

  @Test("bad link, 20 % lost, doubled, overtaken: the leg stays armed")
  func badLink() throws {
    for seed in UInt64(1)...5 {
      let run = try simulation(seed: seed, pings: true) {
        $0.lossPerMille = 200
        $0.duplicationPerMille = 200
        $0.reorderingPerMille = 200
        $0.reorderHold = .milliseconds(60)
        $0.jitter = .milliseconds(10)
      }
      drive(run, pulse: 2000)
      while !run.snapshot[0].state.isArmed {
        run.operators[0].request(.disarm)
        run.run(for: .milliseconds(100))
        drive(run, pulse: 2000)
      }
      _ = run.takeNotices()
      run.run(for: .seconds(Int64(60)))
      #expect(run.snapshot[0].state.isArmed, "seed \(seed)")
      #expect(run.takeNotices().isEmpty, "seed \(seed)")
    }
  }

  @Test("emergency stop from inside: off in the release that brings it, latched against the keepalive")
  func emergencyStop() throws {
    let run = try simulation(legs: 2)
    drive(run, 0, pulse: 2000)
    let pulled = run.now
    run.request(.emergencyStop, to: .all)
    run.run(for: .seconds(Int64(2)))
    #expect(offs(run, since: pulled).first == pulled)
    #expect(run.snapshot[0].state == .emergencyStopped(.confirmed))
    #expect(run.operators[0].snapshot.heard?.telemetry.state == .fault)
    #expect(run.takeAnswers().map(\.verdict) == [.accepted])
    run.request(.reset, to: .all)
    run.run(for: .milliseconds(500))
    #expect(run.snapshot[0].state == .disarmed(.confirmed))
  }

  @Test(
    "chip loses its power while driving: fault within 200 ms; power back, it is configured, and armed anew it drives")
  func powerLoss() throws {
    let run = try simulation()
    drive(run, pulse: 2000)
    run.chip.isPowered = false
    run.run(for: .milliseconds(220))
    #expect(run.snapshot[0].state.fault == .output)
    run.chip.isPowered = true
    run.run(for: .milliseconds(300))
    run.operators[0].request(.disarm)
    run.run(for: .milliseconds(100))
    drive(run, pulse: 1000)
    #expect(abs(run.servos[0].position + 45) < 0.3)
  }

  @Test("lane stalls past three releases: every leg in fault that says so, off by the next instant the lane has")
  func stall() throws {
    let run = try simulation()
    drive(run, pulse: 2000)
    run.stallLegs(at: run.now, by: .milliseconds(150))
    run.run(for: .seconds(Int64(1)))
    guard case .fault(.missedReleases, .confirmed) = run.snapshot[0].state else {
      Issue.record("\(run.snapshot[0].state)")
      return
    }
    #expect(run.servos[0].pulse == nil)
  }

  @Test("runtime stops: every leg off, nothing drives after")
  func stops() throws {
    let run = try simulation(legs: 2)
    drive(run, 1, pulse: 2000)
    run.stop()
    #expect(run.snapshot[1].state == .shutDown(.confirmed))
    #expect(run.servos[1].pulse == nil)
    #expect(run.operators[0].snapshot.state == .finished)
  }

  @Test("same seed: same trace, same servo; another seed: another")
  func sameSeed() throws {
    func trace(_ seed: UInt64) throws -> (UInt64, Double) {
      let run = try simulation(seed: seed, pings: true) {
        $0.lossPerMille = 100
        $0.jitter = .milliseconds(10)
      }
      drive(run, pulse: 1700)
      run.run(for: .seconds(Int64(20)))
      return (run.traceHash, run.servos[0].position)
    }
    let first = try trace(5)
    #expect(try trace(5) == first)
    #expect(try trace(6).0 != first.0)
  }
}
