import Tactus
import TestSupport
import Testing
import Wire

@testable import Pump

/// A machine stepped by hand, with what it sent.
private struct Bench {
  var machine: PumpOperatorMachine
  var sent: [String] = []
  var now = TickInstant.zero

  init(_ settings: PumpOperatorSettings = .standard) { machine = PumpOperatorMachine(settings) }

  @discardableResult
  mutating func at(_ seconds: Double, _ event: PumpOperatorEvent) -> PumpVerdict {
    now = .seconds(seconds)
    let action = machine.step(event, at: now)
    if let command = action.command { sent.append("\(seconds) \(command)") }
    return action.verdict
  }

  mutating func hear(_ seconds: Double, _ replies: PumpReply...) {
    for reply in replies { at(seconds, .reply(reply)) }
  }

  /// Every deadline until then is met; the pump answers as `reply` says. What was sent.
  mutating func run(to seconds: Double, answering reply: (PumpCommand) -> [PumpReply] = { _ in [] }) {
    while let due = machine.nextDeadline, due <= .seconds(seconds) {
      now = due
      let action = machine.step(.tick, at: due)
      guard let command = action.command else { continue }
      sent.append("\(Double(due.nanoseconds) / 1e9) \(command)")
      for line in reply(command) { _ = machine.step(.reply(line), at: due) }
    }
    now = .seconds(seconds)
  }

  mutating func taken() -> [String] {
    defer { sent = [] }
    return sent
  }

  /// Off at 0 s; nothing in flight.
  static func off(_ settings: PumpOperatorSettings = .standard) -> Bench {
    var bench = Bench(settings)
    bench.at(0, .linked)
    bench.hear(0, .status(PumpStatus(state: .off)))
    _ = bench.taken()
    return bench
  }

  /// On at 1 s at the pump's own speed; nothing in flight.
  static func on(_ settings: PumpOperatorSettings = .standard) -> Bench {
    var bench = off(settings)
    bench.at(1, .turnOn(nil))
    bench.hear(1, .ok, .pump(isOn: true), .status(PumpStatus(state: .on, percent: 70, runtimeMinutes: 0)))
    _ = bench.taken()
    return bench
  }
}

/// A pump that is on, or off, and does what it is told.
private func obedient(isOn: Bool) -> (PumpCommand) -> [PumpReply] {
  { command in
    switch command {
    case .on: [.ok, .pump(isOn: true)]
    case .off: [.ok, .pump(isOn: false)]
    case .speed(let speed): [.ok, .speed(speed)]
    case .status: [.status(PumpStatus(state: isOn ? .on : .off, percent: isOn ? 70 : nil))]
    case .temperature: [.temperatures(PumpTemperatures())]
    }
  }
}

@Suite(.ownThread) struct PumpOperatorRulesTests {
  @Test("connected: STATUS first; off reported, an ON may be sent, and its answer is waited for")
  func startsOnce() {
    var bench = Bench()
    bench.at(0, .tick)
    #expect(bench.at(0, .turnOn(nil)) == .ignored(.noContact))
    bench.at(1, .linked)
    #expect(bench.taken() == ["1.0 STATUS"])
    #expect(bench.at(1, .turnOn(nil)) == .ignored(.noContact))
    bench.hear(1.1, .status(PumpStatus(state: .off)))
    #expect(bench.at(2, .turnOn(nil)) == .accepted)
    bench.at(2.1, .turnOn(nil))
    bench.hear(2.2, .ok)
    #expect(bench.machine.state == .starting)
    #expect(bench.taken() == ["2.0 ON"])
    bench.hear(2.3, .pump(isOn: true))
    #expect(bench.machine.state == .on(since: .seconds(2.3)))
    #expect(bench.machine.source == .app)
    #expect(bench.taken() == ["2.3 STATUS"])
  }

  @Test("one command in flight: the next waits for the answer, or for 1 s")
  func oneInFlight() {
    var bench = Bench.on()
    bench.at(2, .setSpeed(PumpSpeed(duty: 100)))
    bench.at(2, .readTemperatures)
    #expect(bench.taken() == ["2.0 SPEED:100"])
    bench.hear(2.1, .ok)
    #expect(bench.taken() == ["2.1 TEMP"])
    bench.run(to: 3.1)
    #expect(bench.taken() == ["3.1 STATUS"])
  }

  @Test("dragging: of the speeds that wait only the newest is sent")
  func coalesces() {
    var bench = Bench.on()
    for duty in UInt8(1)...100 { bench.at(2 + Double(duty) / 1_000, .setSpeed(PumpSpeed(duty: duty))) }
    bench.hear(2.2, .ok, .speed(PumpSpeed(duty: 1)))
    #expect(bench.taken() == ["2.001 SPEED:1", "2.2 SPEED:100"])
    bench.hear(2.3, .ok)
    #expect(bench.machine.speed == .commanded(PumpSpeed(duty: 100)))
  }

  @Test("speed: the commanded value stays while its percentage is what is reported; 178 and 180 both may be 70 %")
  func keepsRawSpeed() {
    var bench = Bench.on()
    #expect(bench.machine.speed == .reported(percent: 70))
    #expect(bench.machine.speed?.speed == PumpSpeed(duty: 179))
    bench.at(2, .setSpeed(PumpSpeed(duty: 180)))
    bench.hear(2.1, .ok, .speed(PumpSpeed(duty: 180)))
    bench.hear(3, .status(PumpStatus(state: .on, percent: 70)))
    #expect(bench.machine.speed == .commanded(PumpSpeed(duty: 180)))
    bench.hear(4, .status(PumpStatus(state: .on, percent: 39)))
    #expect(bench.machine.speed == .reported(percent: 39))
    bench.hear(5, .manual(isOn: false))
    #expect(bench.machine.speed == nil)
  }

  @Test("no answer: an ON is sent three times, then OFF, for nobody knows whether it has started")
  func retriesOn() {
    var bench = Bench.off()
    bench.at(1, .turnOn(nil))
    bench.run(to: 3.9)
    #expect(bench.taken() == ["1.0 ON", "2.0 ON", "3.0 ON"])
    bench.run(to: 6.5)
    #expect(bench.machine.state == .off(.pending))
    #expect(bench.taken() == ["4.0 OFF", "5.0 OFF", "6.0 OFF"])
    bench.hear(6.6, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
  }

  @Test("changed on its way: sent again at once")
  func retriesGarbled() {
    var bench = Bench.off()
    bench.at(1, .turnOn(nil))
    bench.hear(1.1, .error(.unknownCommand))
    bench.hear(1.2, .ok, .pump(isOn: true))
    #expect(bench.taken() == ["1.0 ON", "1.1 ON", "1.2 STATUS"])
    bench.hear(1.3, .status(PumpStatus(state: .on)))
    bench.at(2, .turnOff)
    for attempt in 1...5 { bench.hear(2 + Double(attempt) / 10, .error(.unknownCommand)) }
    #expect(bench.taken().count == 6)
    #expect(bench.machine.state == .off(.pending))
  }

  @Test("refused: a SPEED that the pump does not take is not repeated, and its state is asked for")
  func refusedSpeed() {
    var bench = Bench.on()
    bench.at(2, .setSpeed(PumpSpeed(duty: 9)))
    bench.hear(2.1, .error(.notRunning))
    #expect(bench.taken() == ["2.0 SPEED:9", "2.1 STATUS"])
  }

  @Test("OFF: overtakes what waits and what is in flight, and is repeated every second until confirmed")
  func offOvertakes() {
    var bench = Bench.on()
    bench.at(2, .setSpeed(PumpSpeed(duty: 9)))
    bench.at(2.1, .setSpeed(PumpSpeed(duty: 10)))
    bench.at(2.2, .turnOff)
    #expect(bench.taken() == ["2.0 SPEED:9", "2.2 OFF"])
    bench.hear(2.3, .ok, .speed(PumpSpeed(duty: 9)))
    bench.run(to: 4.5)
    #expect(bench.taken() == ["3.2 OFF", "4.2 OFF"])
    bench.hear(4.6, .status(PumpStatus(state: .on, percent: 5)))
    #expect(bench.machine.state == .off(.pending))
    bench.hear(4.7, .pump(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
    bench.hear(4.8, .status(PumpStatus(state: .off)))
    bench.run(to: 9, answering: obedient(isOn: false))
    #expect(bench.taken() == ["4.7 STATUS"])
  }

  @Test("on: another ON is not sent, as it would begin the pump's own limit anew")
  func noSecondOn() {
    var bench = Bench.on()
    #expect(bench.at(2, .turnOn(nil)) == .ignored(.alreadyOn))
    #expect(bench.at(2, .turnOn(PumpSpeed(duty: 90))) == .accepted)
    #expect(bench.taken() == ["2.0 SPEED:90"])
  }

  @Test("polling: every 5 s, whatever the pump says by itself; every second for 10 s after a person looked")
  func polls() {
    var bench = Bench.on()
    bench.run(to: 10.5, answering: obedient(isOn: true))
    bench.hear(10.5, .status(PumpStatus(state: .on)))
    bench.run(to: 12, answering: obedient(isOn: true))
    #expect(bench.taken() == ["6.0 STATUS", "11.0 STATUS"])
    bench.at(13, .watched)
    bench.hear(13, .status(PumpStatus(state: .on)))
    bench.run(to: 30, answering: obedient(isOn: true))
    #expect(bench.taken() == (13...23).map { "\($0).0 STATUS" } + ["28.0 STATUS"])
  }

  @Test("silence: after three answers that did not come the state is unknown, and asked for every second")
  func fallsSilent() {
    var bench = Bench.on()
    bench.run(to: 8.9)
    #expect(bench.machine.contact == .answering)
    bench.run(to: 9)
    #expect(bench.machine.contact == .silent)
    #expect(bench.machine.state == .unknown)
    #expect(bench.taken() == ["6.0 STATUS", "7.0 STATUS", "8.0 STATUS", "9.0 STATUS"])
    bench.hear(9.6, .status(PumpStatus(state: .on, percent: 70)))
    #expect(bench.machine.contact == .answering)
    #expect(bench.machine.source == .app)
  }

  @Test("button: the pump's own ON and OFF are followed, and by whom is known")
  func manual() {
    var bench = Bench.off()
    bench.hear(1, .manual(isOn: true))
    #expect(bench.machine.state == .on(since: .seconds(1)))
    #expect(bench.machine.source == .manual)
    bench.hear(2, .manual(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
    #expect(bench.machine.source == .manual)
    bench.hear(3, .status(PumpStatus(state: .on)))
    #expect(bench.machine.source == nil)
  }

  @Test("run limit: 30 min of pumping over offs and ONs, then OFF until confirmed, then 5 min of rest")
  func governs() {
    var bench = Bench.off()
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
    #expect(bench.at(end + 3, .reset) == .ignored(.offNotConfirmed))
    bench.hear(end + 4, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .fault(.runLimit, .confirmed))
    #expect(bench.at(end + 5, .turnOn(nil)) == .ignored(.inFault))
    bench.run(to: end + 303.9, answering: obedient(isOn: false))
    #expect(bench.machine.state == .fault(.runLimit, .confirmed))
    bench.run(to: end + 304, answering: obedient(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
    #expect(bench.at(end + 305, .turnOn(nil)) == .accepted)
    #expect(bench.machine.governor.left(at: bench.now) == .seconds(1_800))
  }

  @Test("run limit: a reset, by a person who takes the responsibility, ends the rest")
  func resetsRest() {
    var bench = Bench.on()
    bench.machine.governor.claim(atLeast: .seconds(1_799), at: .seconds(1))
    bench.run(to: 3, answering: obedient(isOn: false))
    #expect(bench.machine.state == .fault(.runLimit, .confirmed))
    #expect(bench.at(4, .reset) == .accepted)
    bench.hear(4.1, .ok, .pump(isOn: false))
    #expect(bench.at(5, .turnOn(nil)) == .accepted)
  }

  @Test("run limit: what the pump reports of its runtime counts when we come later, and while the connection is lost")
  func countsUnseen() {
    var bench = Bench()
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
    var bench = Bench.on()
    bench.machine.governor.claim(atLeast: .seconds(1_799), at: .seconds(1))
    bench.run(to: 3, answering: obedient(isOn: false))
    _ = bench.taken()
    bench.hear(4, .manual(isOn: true))
    #expect(bench.machine.state == .fault(.runLimit, .pending))
    #expect(bench.taken() == ["4.0 OFF"])
  }

  @Test("connection lost: a pump that runs runs on, unknown; with the other policy OFF comes first when it is back")
  func losesLink() throws {
    var bench = Bench.on()
    bench.at(2, .unlinked)
    #expect(bench.machine.state == .unknown)
    bench.at(9, .linked)
    #expect(bench.taken() == ["9.0 STATUS"])
    bench.hear(9.1, .status(PumpStatus(state: .on, percent: 70)))
    #expect(bench.machine.state == .on(since: .seconds(9.1)))

    bench = Bench.on(try PumpOperatorSettings(linkLoss: .stopsOnReturn))
    bench.at(2, .unlinked)
    #expect(bench.machine.state == .off(.pending))
    bench.at(9, .linked)
    #expect(bench.taken() == ["9.0 OFF"])
    bench.hear(9.1, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
  }

  @Test("connection lost while starting: OFF when it is back, whatever the policy")
  func losesLinkWhileStarting() {
    var bench = Bench.off()
    bench.at(1, .turnOn(nil))
    bench.at(1.1, .unlinked)
    bench.at(5, .linked)
    #expect(bench.taken() == ["1.0 ON", "5.0 OFF"])
  }

  @Test("no connection: tried after 0.5, 1, 2, 4 and then every 5 s")
  func reconnects() {
    var bench = Bench.on()
    bench.at(10, .unlinked)
    var attempts: [Double] = []
    while let due = bench.machine.nextDeadline, due < .seconds(30) {
      if bench.machine.step(.tick, at: due).connects { attempts.append(Double(due.nanoseconds) / 1e9 - 10) }
    }
    #expect(attempts == [0.5, 1.5, 3.5, 7.5, 12.5, 17.5])
  }

  @Test(
    "sensor: beyond −20…80 °C is a fault, off at once; reset only when it reads what can be",
    arguments: [-20.1, 80.1, -77.5, 352.4])
  func sensorFault(_ celsius: Double) {
    var bench = Bench.on()
    bench.hear(2, .status(PumpStatus(state: .on, temperatures: PumpTemperatures(water: .celsius(celsius)))))
    #expect(bench.machine.state == .fault(.sensor(.water, PumpTemperature(celsius: celsius)), .pending))
    #expect(bench.taken() == ["2.0 OFF"])
    bench.hear(2.1, .ok, .pump(isOn: false))
    #expect(bench.at(3, .reset) == .ignored(.causePersists))
    bench.hear(4, .temperatures(PumpTemperatures(water: .celsius(12))))
    #expect(bench.at(5, .reset) == .accepted)
  }

  @Test("sensor: −20 and 80 °C are believed, and what is not known is no fault", arguments: [-20, 12, 80.0])
  func sensorFine(_ celsius: Double) {
    var bench = Bench.on()
    bench.hear(
      2, .status(PumpStatus(state: .on, temperatures: PumpTemperatures(water: .celsius(celsius), skin: .unknown))))
    #expect(bench.machine.state == .on(since: .seconds(1)))
  }

  @Test("skin too warm: off, as the original; a reset when it has cooled down; or only told")
  func overheats() throws {
    let hot = PumpReply.status(PumpStatus(state: .on, temperatures: PumpTemperatures(single: .celsius(40.1))))
    var bench = Bench.on()
    bench.hear(2, hot)
    #expect(bench.machine.state == .fault(.overheat(PumpTemperature(tenths: 401)), .pending))
    bench.hear(2.1, .ok, .pump(isOn: false))
    #expect(bench.at(3, .reset) == .ignored(.causePersists))
    bench.hear(4, .temperatures(PumpTemperatures(single: .celsius(40))))
    #expect(bench.at(5, .reset) == .accepted)

    bench = Bench.on(try PumpOperatorSettings(overheatAction: .keepCooling))
    bench.hear(2, hot, .error(.overheat))
    #expect(bench.machine.state == .on(since: .seconds(1)))
  }

  @Test("the pump's own faults: known by their name, left by a reset, which sends the OFF that leaves its error state")
  func deviceFaults() {
    for (tag, fault) in [
      (PumpErrorTag.safetyShutoff, PumpFault.safetyShutoff), (.overheat, .overheat(nil)),
      (.sensorFault, .sensor(nil, nil)),
      (.startFailed, .startFailed),
    ] {
      var bench = Bench.on()
      bench.hear(2, .error(tag))
      #expect(bench.machine.state == .fault(fault, .confirmed))
      #expect(bench.at(3, .turnOn(nil)) == .ignored(.inFault))
      _ = bench.taken()
      #expect(bench.at(4, .reset) == .accepted)
      #expect(bench.taken() == ["4.0 OFF"])
      bench.hear(4.1, .ok, .pump(isOn: false))
      #expect(bench.machine.state == .off(.confirmed))
    }
  }

  @Test(
    "e-stop: OFF at once, latched against everything but a reset of a confirmed off; a pump that runs again is off again"
  )
  func emergencyStop() {
    var bench = Bench.on()
    bench.at(2, .setSpeed(PumpSpeed(duty: 1)))
    bench.at(2.1, .emergencyStop)
    #expect(bench.taken() == ["2.0 SPEED:1", "2.1 OFF"])
    #expect(bench.at(2.2, .reset) == .ignored(.offNotConfirmed))
    bench.hear(2.3, .ok, .pump(isOn: false))
    #expect(bench.at(3, .turnOn(nil)) == .ignored(.emergencyStopped))
    _ = bench.taken()
    bench.hear(4, .manual(isOn: true))
    #expect(bench.taken() == ["4.0 OFF"])
    bench.hear(4.1, .ok, .pump(isOn: false))
    #expect(bench.at(5, .reset) == .accepted)
    bench.hear(5.1, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
  }

  @Test("quit: OFF until confirmed and nothing else; shutdown: OFF twice unless confirmed, and it says which")
  func quits() {
    var bench = Bench.on()
    bench.at(2, .quit)
    bench.run(to: 3.5)
    #expect(bench.taken() == ["2.0 OFF", "3.0 OFF"])
    let last = bench.machine.step(.shutdown, at: .seconds(3.6))
    #expect(last.command == .off)
    #expect(last.copies == 2)
    #expect(bench.machine.state == .shutDown(.pending))
    bench.hear(3.7, .pump(isOn: false))
    #expect(bench.machine.state == .shutDown(.confirmed))
    #expect(bench.machine.step(.shutdown, at: .seconds(3.8)).command == nil)
    bench.run(to: 60)
    #expect(bench.taken() == [])
  }

  @Test("missed releases: off, until a reset")
  func missedReleases() {
    var bench = Bench.on()
    bench.at(2, .missed(releases: 4))
    #expect(bench.machine.state == .fault(.missedReleases(4), .pending))
    #expect(bench.taken() == ["2.0 OFF"])
  }

  @Test("answers of an earlier command do not stand for the one in flight")
  func staleAnswers() {
    var bench = Bench.on()
    bench.at(2, .turnOff)
    bench.run(to: 3.5)
    bench.hear(3.6, .ok, .pump(isOn: false))
    bench.hear(3.7, .status(PumpStatus(state: .off)))
    bench.at(3.8, .turnOn(nil))
    // The answer to the second OFF.
    bench.hear(3.9, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .starting)
    bench.hear(4, .ok, .pump(isOn: true))
    #expect(bench.machine.state == .on(since: .seconds(4)))
  }
}
