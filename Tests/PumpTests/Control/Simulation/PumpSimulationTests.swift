import Tactus
import TestSupport
import Testing

@testable import Pump

@Suite(.ownThread) struct PumpSimulationTests {
  private func started(_ change: (inout PumpSimulation.Configuration) -> Void = { _ in }) throws -> PumpSimulation {
    var configuration = PumpSimulation.Configuration()
    change(&configuration)
    let simulation = try PumpSimulation(configuration)
    simulation.run(for: .seconds(1))
    return simulation
  }

  /// Pumping since 1 s; 3 s have passed.
  private func pumping(_ change: (inout PumpSimulation.Configuration) -> Void = { _ in }) throws -> PumpSimulation {
    let simulation = try started(change)
    simulation.request(.turnOn(nil))
    simulation.run(for: .seconds(2))
    #expect(words(simulation.snapshot.state) == "on")
    return simulation
  }

  private func isPumping(_ simulation: PumpSimulation) -> Bool { simulation.world.reading.duty.duty > 0 }

  @Test("the device's ages: a request until the motor follows it; temperatures at each decision, which have no bound")
  func deviceAges() throws {
    let simulation = try started()
    func age(_ index: Int) throws -> AgeStatistics {
      try #require(simulation.statistics[PumpSimulation.deviceLoop]?.ages[index])
    }
    #expect(try age(0).age.count == 0)
    simulation.stall(PumpSimulation.deviceLoop, at: .seconds(1) + .milliseconds(500), by: .milliseconds(40))
    simulation.run(for: .milliseconds(525))
    simulation.requestOfDevice(.turnOn(nil))
    simulation.run(for: .milliseconds(100))
    #expect(try age(0).age.count == 1 && age(0).last == .milliseconds(15))
    // The sensors' turn comes every 2 s.
    simulation.stall(PumpSimulation.deviceLoop, at: .seconds(2), by: .milliseconds(30))
    simulation.run(for: .seconds(6))
    let temperature = try age(1)
    #expect(temperature.name == "temperature" && temperature.age.count >= 3 && temperature.bound == nil)
    #expect(temperature.age.maximum == .milliseconds(30), "that of the tick that took 30 ms")
    #expect(try age(0).age.count == 1, "nothing but the request")
  }

  @Test("session: the transcript of half an hour, from the first STATUS to the rest after the run limit")
  func session() throws {
    let simulation = try started()
    var lines: [String] = []
    func note(_ what: String) {
      let news =
        simulation.takeNotices().map { ($0.at, $0.notice.words) }
        + simulation.takeDeviceNotices().map { ($0.at, "pump \($0.notice.words)") }
      for (at, text) in news.sorted(by: { $0.0 < $1.0 }) {
        lines.append("  \(Double(at.nanoseconds / 1_000_000) / 1_000) \(text)")
      }
      let reading = simulation.world.reading
      let snapshot = simulation.snapshot
      lines.append(
        "\(what): \(words(snapshot.state)), \(snapshot.speed.map { "\($0.speed.duty)" } ?? "-"), motor \(reading.duty.duty), "
          + "water \(PumpTemperature(celsius: reading.waterCelsius)), "
          + "skin \(PumpTemperature(celsius: reading.skinCelsius)), "
          + "\(snapshot.lines) lines, \(snapshot.sent) commands")
    }
    note("begin")
    simulation.request(.turnOn(PumpSpeed(duty: 178)))
    simulation.run(for: .seconds(10))
    note("turned on")
    for duty in UInt8(180)...220 {
      simulation.request(.setSpeed(PumpSpeed(duty: duty)))
      simulation.run(for: .milliseconds(10))
    }
    simulation.run(for: .seconds(5))
    note("dragged")
    simulation.world.press(true)
    simulation.run(for: .milliseconds(200))
    simulation.world.press(false)
    simulation.run(for: .seconds(5))
    note("button")
    simulation.world.press(true)
    simulation.run(for: .milliseconds(200))
    simulation.world.press(false)
    simulation.run(for: .seconds(600))
    note("button again, ten minutes")
    simulation.cable.unplug()
    simulation.run(for: .seconds(20))
    note("unplugged")
    simulation.cable.plugIn()
    simulation.run(for: .seconds(10))
    note("plugged in")
    simulation.request(.turnOn(nil))
    simulation.run(for: .seconds(1))
    note("turned on again, \(simulation.takeAnswers().last!.verdict)")
    simulation.run(for: .seconds(1_200))
    note("twenty minutes")
    simulation.run(for: .seconds(300))
    note("rested")
    simulation.request(.turnOn(nil))
    simulation.run(for: .seconds(5))
    note("turned on after the rest")
    simulation.request(.turnOff)
    simulation.run(for: .seconds(2))
    note("turned off")
    simulation.stop()
    note("stopped")
    try expectGolden(lines, "PumpSession.txt")
  }

  @Test("cooling: the skin comes to 34…35 °C in twenty minutes, and warms again without the pump")
  func cools() throws {
    let simulation = try pumping()
    simulation.run(for: .seconds(1_200))
    let cooled = simulation.world.reading
    #expect((34...35).contains(cooled.skinCelsius), "\(cooled)")
    #expect(cooled.waterCelsius > 12)
    simulation.request(.turnOff)
    simulation.run(for: .seconds(1_200))
    #expect(simulation.world.reading.skinCelsius > 36)
  }

  // MARK: the five ways to the safe state

  @Test("silence: the pump unplugged; the operator side says so, the pump stops at its own limit")
  func silence() throws {
    let simulation = try pumping()
    simulation.cable.unplug()
    simulation.run(for: .seconds(1))
    #expect(words(simulation.snapshot.state) == "unknown")
    #expect(words(simulation.snapshot.contact) == "down")
    simulation.run(for: .seconds(1_795))
    #expect(isPumping(simulation))
    simulation.run(for: .seconds(10))
    #expect(!isPumping(simulation))
    #expect(words(simulation.snapshot.state) == "fault:run-limit?")
  }

  @Test("silence: with the pump's silence limit it stops after it; with the other policy OFF comes first on return")
  func silenceLimits() throws {
    let limited = try pumping { $0.device = try! PumpDeviceSettings(silenceLimit: .seconds(20)) }
    limited.run(for: .seconds(60))
    #expect(isPumping(limited))
    limited.cable.cut()
    limited.run(for: .seconds(26))
    #expect(!isPumping(limited))

    let returning = try pumping { $0.settings = try! PumpOperatorSettings(linkLoss: .stopsOnReturn) }
    returning.cable.cut()
    returning.run(for: .seconds(60))
    #expect(isPumping(returning))
    returning.cable.plugIn()
    returning.run(for: .seconds(2))
    #expect(!isPumping(returning))
    #expect(words(returning.snapshot.state) == "off")
  }

  @Test(
    "fault: a sensor open or shorted stops the pump within 2 s of its reading; the operator side knows",
    arguments: [
      PumpWorld.Fault.skinSensorOpen, .skinSensorShorted, .waterSensorOpen, .waterSensorShorted, .inputsGone,
    ])
  func sensorFaults(_ fault: PumpWorld.Fault) throws {
    let simulation = try pumping()
    simulation.world.inject(fault)
    simulation.run(for: .seconds(2.1))
    #expect(!isPumping(simulation))
    simulation.run(for: .seconds(1))
    #expect(words(simulation.snapshot.state).hasPrefix("fault:sensor"), "\(simulation.snapshot.state)")
    simulation.world.clear(fault)
    simulation.run(for: .seconds(6))
    simulation.request(.reset)
    simulation.run(for: .seconds(1))
    #expect(words(simulation.snapshot.state) == "off")
  }

  @Test("fault: an original pump with an open sensor pumps on; the operator side stops it")
  func originalWithOpenSensor() throws {
    let simulation = try pumping { $0.device = .original }
    simulation.world.inject(.skinSensorOpen)
    simulation.run(for: .seconds(9))
    #expect(!isPumping(simulation))
    #expect(words(simulation.snapshot.state) == "fault:sensor:skin:-774")
  }

  @Test("fault: too warm a skin stops the pump, and it stays stopped until reset")
  func overheats() throws {
    let simulation = try pumping { $0.world.skinCelsius = 39.9 }
    simulation.world.inject(.dryRun)
    simulation.world.setBody(celsius: 45)
    simulation.run(for: .seconds(30))
    #expect(!isPumping(simulation))
    #expect(words(simulation.snapshot.state).hasPrefix("fault:overheat"))
    simulation.request(.turnOn(nil))
    simulation.run(for: .seconds(1))
    #expect(!isPumping(simulation))
  }

  @Test("fault: an output that takes nothing is never said to be off; the pump is off as soon as it takes it")
  func outputFails() throws {
    let simulation = try pumping()
    simulation.world.inject(.outputGone)
    simulation.request(.turnOff)
    simulation.run(for: .seconds(5))
    #expect(isPumping(simulation))
    #expect(words(simulation.snapshot.state) == "off?")
    #expect(simulation.device.duty == nil)
    simulation.world.clear(.outputGone)
    simulation.run(for: .milliseconds(100))
    #expect(!isPumping(simulation))
  }

  @Test("e-stop: off in the release that brings it, latched; a reset leads out")
  func emergencyStop() throws {
    let simulation = try pumping()
    simulation.request(.emergencyStop)
    simulation.run(for: .milliseconds(100))
    #expect(!isPumping(simulation))
    #expect(words(simulation.snapshot.state) == "stopped")
    simulation.request(.turnOn(nil))
    simulation.run(for: .seconds(1))
    #expect(!isPumping(simulation))
    simulation.request(.reset)
    simulation.run(for: .seconds(1))
    #expect(words(simulation.snapshot.state) == "off")
  }

  @Test(
    "e-stop of the device side: the motor off in the release that brings it, whatever the line says; reset leads out")
  func deviceEmergencyStop() throws {
    let simulation = try pumping()
    simulation.requestOfDevice(.emergencyStop)
    simulation.run(for: .milliseconds(1))
    #expect(!isPumping(simulation))
    simulation.request(.reset)
    simulation.run(for: .seconds(2))
    simulation.request(.turnOn(nil))
    simulation.run(for: .seconds(2))
    #expect(!isPumping(simulation))
    simulation.requestOfDevice(.reset)
    simulation.run(for: .seconds(1))
    #expect(simulation.device.state == .off(.confirmed))
  }

  @Test("shutdown: OFF goes out, and the state says that nobody has confirmed it; after a quit it is confirmed")
  func shutdown() throws {
    let sudden = try pumping()
    sudden.stop()
    #expect(words(sudden.snapshot.state) == "down?")
    #expect(!isPumping(sudden))

    let orderly = try pumping()
    orderly.request(.quit)
    orderly.run(for: .seconds(1))
    #expect(words(orderly.snapshot.state) == "down")
    #expect(!isPumping(orderly))
  }

  @Test("shutdown of the device side: an off that its output does not take is tried three times, and not confirmed")
  func shutdownWithoutOutput() throws {
    let simulation = try pumping()
    simulation.world.inject(.outputGone)
    simulation.stop()
    #expect(simulation.device.outputFailures == 3)
    #expect(simulation.device.state == .shutDown(.pending))
  }

  @Test("stall: three releases missed are a fault of either side, off")
  func stalls() throws {
    for loop in [PumpSimulation.deviceLoop, PumpSimulation.operatorLoop] {
      let simulation = try pumping()
      simulation.stall(loop, at: simulation.now, by: .milliseconds(600))
      simulation.run(for: .seconds(3))
      #expect(!isPumping(simulation), "\(loop)")
      #expect(words(simulation.snapshot.state).hasPrefix("fault:"), "\(loop): \(simulation.snapshot.state)")
    }
  }

  // MARK: noise

  @Test(
    "noise: with bytes lost and changed an ON and an OFF still arrive, and the pump is what the operator side thinks",
    arguments: 1...20 as ClosedRange<UInt64>)
  func noise(_ seed: UInt64) throws {
    let simulation = try started {
      $0.seed = seed
      $0.line.lostPerMillion = 3_000
      $0.line.changedPerMillion = 3_000
    }
    simulation.run(for: .seconds(10))
    simulation.request(.turnOn(nil))
    simulation.run(for: .seconds(60))
    simulation.request(.turnOff)
    simulation.run(for: .seconds(30))
    #expect(!isPumping(simulation), "seed \(seed)")
    #expect(simulation.snapshot.state.off == .confirmed, "seed \(seed): \(simulation.snapshot.state)")
    #expect(simulation.snapshot.lines > 10, "seed \(seed)")
  }

  @Test("same seed: the same run")
  func deterministic() throws {
    func hash(_ seed: UInt64) throws -> UInt64 {
      let simulation = try pumping {
        $0.seed = seed
        $0.line.changedPerMillion = 20_000
      }
      simulation.run(for: .seconds(300))
      return simulation.traceHash
    }
    #expect(try hash(5) == hash(5))
    #expect(try hash(5) != hash(6))
  }

  @Test("device side: on and off again within one tick are both told")
  func shortRun() throws {
    let simulation = try started()
    _ = simulation.takeDeviceNotices()
    simulation.requestOfDevice(.turnOn(nil))
    simulation.requestOfDevice(.turnOff)
    simulation.run(for: .milliseconds(1))
    #expect(simulation.takeDeviceNotices().map(\.notice.words) == ["state(on, 70 %)", "state(off)"])
  }

  @Test("legacy dialect: the operator side lives with one temperature")
  func legacy() throws {
    let simulation = try pumping { $0.device = try! PumpDeviceSettings(dialect: .legacy) }
    #expect(simulation.snapshot.temperatures.single.temperature != nil)
    simulation.request(.readTemperatures)
    simulation.run(for: .seconds(1))
    #expect(simulation.snapshot.malformed == 0)
    #expect(simulation.snapshot.temperatures.water == .absent)
  }
}

extension PumpNotice {
  fileprivate var words: String {
    switch self {
    case .state(let state, let source):
      "\(PumpTests.words(state))\(source.map { " by \($0)" } ?? "")"
    case .contact(let contact): PumpTests.words(contact)
    case .failed(let failure): "\(failure)"
    case .own(let state, _): "state(\(state))"
    case .outputFails(let error): "outputFails(\(error))"
    }
  }
}
