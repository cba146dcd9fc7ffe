import Tactus
import TestSupport
import Testing

@testable import Pump

@Suite(.ownThread) struct PumpOperatorLimitTests {
  @Test("run limit: 30 min of pumping over offs and ONs, then OFF until confirmed, then 5 min of rest")
  func governs() {
    var bench = OperatorBench.off()
    // Ten minutes on and one off, three times.
    for round in 0..<3 {
      let start = Double(round) * 660 + 1
      bench.at(start, .turnOn(nil))
      bench.hear(start, .ok, .pump(isOn: true), .status(PumpStatus(state: .on, runtimeMinutes: 0)))
      bench.run(to: start + 599.9, answering: obedient(isOn: true))
      #expect(bench.machine.state.off == nil, "round \(round)")
      _ = bench.taken()
      if round == 2 { break }
      bench.at(start + 600, .turnOff)
      bench.hear(start + 600, .ok, .pump(isOn: false), .status(PumpStatus(state: .off)))
      bench.run(to: start + 659, answering: obedient(isOn: false))
    }
    let end = 2 * 660 + 1.0 + 600
    bench.run(to: end + 2.5) { $0 == .status ? [.status(PumpStatus(state: .on))] : [] }
    #expect(bench.machine.state == .fault(.runLimit, .pending))
    #expect(bench.taken() == [0, 1, 2].map { "\(end + $0) OFF" })
    #expect(bench.at(end + 3, .reset) == .refused(.offNotConfirmed))
    bench.hear(end + 4, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .fault(.runLimit, .confirmed))
    #expect(bench.at(end + 5, .turnOn(nil)) == .refused(.inFault))
    bench.run(to: end + 303.9, answering: obedient(isOn: false))
    #expect(bench.machine.state == .fault(.runLimit, .confirmed))
    bench.run(to: end + 304, answering: obedient(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
    #expect(bench.at(end + 305, .turnOn(nil)) == .accepted)
    #expect(bench.machine.governor.left(at: bench.now) == .seconds(1_800))
  }

  @Test(
    "on for ten minutes: off when they are over, also while nobody knows what it does; no longer than its limit leaves")
  func timed() {
    var bench = OperatorBench.off()
    #expect(bench.at(1, .run(nil, lasting: .seconds(1_801))) == .refused(.beyondLimit))
    #expect(bench.at(1, .run(nil, lasting: .seconds(600))) == .accepted)
    bench.run(to: 600.9, answering: obedient(isOn: true))
    #expect(bench.machine.state.off == nil && bench.taken().first == "1.0 ON")
    bench.run(to: 601, answering: obedient(isOn: false))
    #expect(bench.taken().last == "601.0 OFF" && bench.machine.source == .host)
    #expect(bench.machine.state == .off(.confirmed) && bench.machine.runEnds == nil)
    // Of one that is on the end is moved; without minutes it stays.
    bench = .on()
    #expect(bench.at(5, .run(nil, lasting: .seconds(60))) == .accepted)
    #expect(bench.at(10, .turnOn(PumpSpeed(percent: 50))) == .accepted)
    #expect(bench.at(10, .run(nil, lasting: .seconds(1_795))) == .refused(.beyondLimit))
    #expect(bench.machine.runEnds == .seconds(65))
    bench.at(30, .unlinked)
    #expect(bench.machine.state == .unknown)
    bench.run(to: 65)
    #expect(bench.machine.state == .off(.pending))
    bench.at(70, .linked)
    #expect(bench.taken().last == "70.0 OFF")
    // Whoever turns it off ends the time, too.
    bench = .on()
    bench.at(5, .run(nil, lasting: .seconds(60)))
    bench.at(6, .turnOff)
    #expect(bench.machine.runEnds == nil)
  }

  @Test("run limit: a reset, by a person who takes the responsibility, ends the rest")
  func resetsRest() {
    var bench = OperatorBench.on()
    bench.machine.governor.claim(atLeast: .seconds(1_799), at: .seconds(1))
    bench.run(to: 3, answering: obedient(isOn: false))
    #expect(bench.machine.state == .fault(.runLimit, .confirmed))
    #expect(bench.at(4, .reset) == .accepted)
    bench.hear(4.1, .ok, .pump(isOn: false))
    #expect(bench.at(5, .turnOn(nil)) == .accepted)
  }

  @Test("other settings: a shorter limit that has been reached ends the run; a longer one counts what has been pumped")
  func changes() throws {
    var bench = OperatorBench.on()
    bench.run(to: 601, answering: obedient(isOn: true))
    _ = bench.taken()
    bench.at(601, .settings(try PumpOperatorSettings(runLimit: .seconds(900))))
    #expect(bench.machine.state.off == nil && bench.machine.governor.left(at: bench.now) == .seconds(300))
    bench.at(602, .settings(try PumpOperatorSettings(runLimit: .seconds(600))))
    #expect(bench.machine.state == .fault(.runLimit, .pending) && bench.taken().last == "602.0 OFF")
    bench.hear(602.1, .ok, .pump(isOn: false))
    #expect(bench.at(603, .turnOn(nil)) == .refused(.inFault))
    // With the shorter rest it is over at once.
    bench.at(604, .settings(try PumpOperatorSettings(runLimit: .seconds(600), rest: .seconds(1))))
    #expect(bench.machine.state == .off(.confirmed))
  }

  @Test("a run limit that has been reached is not brought back by a longer one in the same step")
  func notBroughtBack() throws {
    var bench = OperatorBench.on()
    bench.run(to: 1_800.9, answering: obedient(isOn: true))
    #expect(bench.machine.state.off == nil)
    bench.at(1_801, .settings(try PumpOperatorSettings(runLimit: .seconds(3_600))))
    #expect(bench.machine.state == .fault(.runLimit, .pending))
  }

  @Test("a rest that is over stays over when a longer one is asked for")
  func restStaysOver() throws {
    var bench = OperatorBench.on()
    bench.run(to: 11, answering: obedient(isOn: true))
    bench.at(11, .turnOff)
    bench.hear(11, .ok, .pump(isOn: false))
    bench.run(to: 400, answering: obedient(isOn: false))
    #expect(bench.machine.governor.spent(at: bench.now) == .zero)
    bench.at(400, .settings(try PumpOperatorSettings(rest: .seconds(3_600))))
    #expect(bench.machine.governor.spent(at: bench.now) == .zero)
  }

  @Test("tighter: of two settings each limit that allows less")
  func tighter() throws {
    let one = try PumpOperatorSettings(runLimit: .seconds(60), rest: .seconds(10), overheatAction: .keepCooling)
    let other = try PumpOperatorSettings(runLimit: .seconds(90), rest: .seconds(20), linkLoss: .stopsOnReturn)
    let both = try PumpOperatorSettings(runLimit: .seconds(60), rest: .seconds(20), linkLoss: .stopsOnReturn)
    #expect(one.tighter(than: other) == both && other.tighter(than: one) == both && one.tighter(than: one) == one)
  }

  @Test("run limit: what the pump reports of its runtime counts when we come later, and while the connection is lost")
  func countsUnseen() {
    var bench = OperatorBench()
    bench.at(0, .linked)
    bench.hear(0, .status(PumpStatus(state: .on, runtimeMinutes: 29)))
    #expect(bench.machine.governor.left(at: .zero) == .seconds(60))
    bench.at(30, .unlinked)
    #expect(bench.machine.state == .unknown)
    bench.run(to: 60)
    #expect(bench.machine.state == .fault(.runLimit, .pending))
    bench.at(90, .linked)
    #expect(bench.taken() == ["0.0 STATUS", "90.0 OFF"])
  }

  @Test("run limit spent: the pump's button does not help, it is held off")
  func buttonWithoutBudget() {
    var bench = OperatorBench.on()
    bench.machine.governor.claim(atLeast: .seconds(1_799), at: .seconds(1))
    bench.run(to: 3, answering: obedient(isOn: false))
    _ = bench.taken()
    bench.hear(4, .manual(isOn: true))
    #expect(bench.machine.state == .fault(.runLimit, .pending))
    #expect(bench.taken() == ["4.0 OFF"])
  }

  @Test(
    "sensor: beyond −20…80 °C is a fault, off at once; reset only when it reads what can be",
    arguments: [-20.1, 80.1, -77.5, 352.4])
  func sensorFault(_ celsius: Double) {
    var bench = OperatorBench.on()
    bench.hear(2, .status(PumpStatus(state: .on, temperatures: PumpTemperatures(water: .celsius(celsius)))))
    #expect(bench.machine.state == .fault(.sensor(.water, PumpTemperature(celsius: celsius)), .pending))
    #expect(bench.taken() == ["2.0 OFF"])
    bench.hear(2.1, .ok, .pump(isOn: false))
    #expect(bench.at(3, .reset) == .refused(.causePersists))
    bench.hear(4, .temperatures(PumpTemperatures(water: .celsius(12))))
    #expect(bench.at(5, .reset) == .accepted)
  }

  @Test("sensor: −20 and 80 °C are believed, and what is not known is no fault", arguments: [-20, 12, 80.0])
  func sensorFine(_ celsius: Double) {
    var bench = OperatorBench.on()
    bench.hear(
      2, .status(PumpStatus(state: .on, temperatures: PumpTemperatures(water: .celsius(celsius), skin: .unknown))))
    #expect(bench.machine.state == .on(since: .seconds(1)))
  }

  @Test("skin too warm: off, as the original; a reset when it has cooled down; or only told")
  func overheats() throws {
    let hot = PumpReply.status(PumpStatus(state: .on, temperatures: PumpTemperatures(single: .celsius(40.1))))
    var bench = OperatorBench.on()
    bench.hear(2, hot)
    #expect(bench.machine.state == .fault(.overheat(PumpTemperature(tenths: 401)), .pending))
    bench.hear(2.1, .ok, .pump(isOn: false))
    #expect(bench.at(3, .reset) == .refused(.causePersists))
    bench.hear(4, .temperatures(PumpTemperatures(single: .celsius(40))))
    #expect(bench.at(5, .reset) == .accepted)

    bench = OperatorBench.on(try PumpOperatorSettings(overheatAction: .keepCooling))
    bench.hear(2, hot, .error(.overheat))
    #expect(bench.machine.state == .on(since: .seconds(1)))
  }

  @Test("the pump's own faults: known by their name, left by a reset, which sends the OFF that leaves its error state")
  func deviceFaults() {
    for (tag, fault) in [
      (PumpErrorTag.safetyShutoff, PumpFault.safetyShutoff), (.startFailed, .startFailed),
    ] {
      var bench = OperatorBench.on()
      bench.hear(2, .error(tag))
      #expect(bench.machine.state == .fault(fault, .confirmed))
      #expect(bench.at(3, .turnOn(nil)) == .refused(.inFault))
      _ = bench.taken()
      #expect(bench.at(4, .reset) == .accepted)
      #expect(bench.taken() == ["4.0 OFF"])
      bench.hear(4.1, .ok, .pump(isOn: false))
      #expect(bench.machine.state == .off(.confirmed))
    }
  }

  @Test(
    "fault by what the pump reads: its temperatures are asked for, and only a reading that has come since counts for a reset",
    arguments: [
      (PumpErrorTag.overheat, PumpFault.overheat(nil), PumpReading.celsius(40.1), PumpIgnoreReason.causePersists),
      (.overheat, .overheat(nil), .unknown, .noReadingYet),
      (.sensorFault, .sensor(nil, nil), .celsius(-77.5), .causePersists),
      (.sensorFault, .sensor(nil, nil), .unknown, .noReadingYet),
    ])
  func resetsByYoungerReading(
    tag: PumpErrorTag, fault: PumpFault, bad: PumpReading, refusal: PumpIgnoreReason
  ) {
    func readings(_ skin: PumpReading) -> PumpReply { .temperatures(PumpTemperatures(water: .celsius(12), skin: skin)) }
    var bench = OperatorBench.on()
    bench.hear(1.5, .temperatures(PumpTemperatures(water: .celsius(12), skin: .celsius(34))))
    bench.hear(2, .error(tag))
    #expect(bench.machine.state == .fault(fault, .confirmed))
    #expect(bench.taken() == ["2.0 TEMP"])
    #expect(bench.at(2.1, .reset) == .refused(.noReadingYet), "the skin was cool before it")
    // A STATUS without temperatures tells nothing.
    bench.hear(2.2, .status(PumpStatus(state: .error)))
    #expect(bench.at(2.3, .reset) == .refused(.noReadingYet))
    bench.hear(2.4, readings(bad))
    #expect(bench.taken() == ["2.4 TEMP"], "a refused reset asks for a newer one")
    #expect(bench.at(2.5, .reset) == .refused(refusal))
    bench.hear(3, readings(.celsius(35)))
    #expect(bench.at(3.1, .reset) == .accepted)
    bench.hear(3.2, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
    #expect(bench.taken() == ["3.0 TEMP", "3.1 OFF", "3.2 STATUS"])
  }

  @Test(
    "its ERROR line lost: of a STATUS in its error state the readings are the cause, where they can be",
    arguments: [
      (PumpTemperatures(skin: .celsius(40.1)), PumpFault.overheat(PumpTemperature(tenths: 401))),
      (PumpTemperatures(water: .celsius(-77.5)), .sensor(.water, PumpTemperature(tenths: -775))),
      (PumpTemperatures(water: .celsius(12), skin: .celsius(34)), .pumpError),
    ])
  func errorWithoutLine(readings: PumpTemperatures, fault: PumpFault) {
    for isPending in [false, true] {
      var bench = OperatorBench.on()
      if isPending { bench.at(1.5, .turnOff) }
      bench.hear(2, .status(PumpStatus(state: .error, temperatures: readings)))
      if isPending, fault == .pumpError {
        #expect(bench.machine.state == .off(.pending), "it may be older than the OFF on its way")
      } else {
        // An OFF that is on its way is confirmed by its own answer alone.
        #expect(bench.machine.state == .fault(fault, isPending ? .pending : .confirmed))
      }
    }
  }

  @Test(
    "fault by what the pump reads, then an e-stop: the way out is the e-stop's, and the next reading is judged anew")
  func emergencyStopAfterFault() {
    var bench = OperatorBench.on()
    bench.hear(2, .error(.overheat))
    bench.at(2.1, .emergencyStop)
    bench.hear(2.2, .ok, .pump(isOn: false))
    #expect(bench.at(3, .reset) == .accepted)
    bench.hear(3.1, .ok, .pump(isOn: false))
    bench.hear(3.2, .status(PumpStatus(state: .off, temperatures: PumpTemperatures(skin: .celsius(40.1)))))
    #expect(bench.machine.state == .fault(.overheat(PumpTemperature(tenths: 401)), .confirmed))
  }

  @Test("missed releases: off, until a reset")
  func missedReleases() {
    var bench = OperatorBench.on()
    bench.at(2, .missed(releases: 4))
    #expect(bench.machine.state == .fault(.missedReleases(4), .pending))
    #expect(bench.taken() == ["2.0 OFF"])
  }

  @Test("operator, stopped from outside: off, and no ON before a person's reset; a pump that is off stays usable")
  func externalStop() {
    var bench = OperatorBench.on()
    bench.at(2, .externalStop)
    #expect(bench.machine.state == .fault(.externalStop, .pending))
    #expect(bench.taken() == ["2.0 OFF"])
    bench.hear(2.1, .ok, .pump(isOn: false))
    bench.hear(2.2, .status(PumpStatus(state: .off)))
    #expect(bench.machine.state == .fault(.externalStop, .confirmed))
    #expect(bench.at(3, .turnOn(nil)) == .refused(.inFault))
    #expect(bench.at(4, .reset) == .accepted)
    bench.hear(4.1, .ok, .pump(isOn: false))
    bench.hear(4.2, .status(PumpStatus(state: .off)))
    #expect(bench.machine.state == .off(.confirmed))
    bench.at(5, .externalStop)
    #expect(bench.machine.state == .off(.confirmed))
    #expect(bench.at(6, .turnOn(nil)) == .accepted)
  }
}
