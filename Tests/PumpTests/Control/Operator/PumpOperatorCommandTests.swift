import Tactus
import TestSupport
import Testing

@testable import Pump

@Suite(.ownThread) struct PumpOperatorCommandTests {
  @Test("connected: STATUS first; off reported, an ON may be sent, and its answer is waited for")
  func startsOnce() {
    var bench = OperatorBench()
    bench.at(0, .tick)
    #expect(bench.at(0, .turnOn(nil)) == .refused(.noContact))
    bench.at(1, .linked)
    #expect(bench.taken() == ["1.0 STATUS"])
    #expect(bench.at(1, .turnOn(nil)) == .refused(.noContact))
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
    var bench = OperatorBench.on()
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
    var bench = OperatorBench.on()
    for duty in UInt8(1)...100 { bench.at(2 + Double(duty) / 1_000, .setSpeed(PumpSpeed(duty: duty))) }
    bench.hear(2.2, .ok, .speed(PumpSpeed(duty: 1)))
    #expect(bench.taken() == ["2.001 SPEED:1", "2.2 SPEED:100"])
    bench.hear(2.3, .ok)
    #expect(bench.machine.speed == .commanded(PumpSpeed(duty: 1)), "it names what it takes: an OK alone is another's")
    bench.hear(2.3, .speed(PumpSpeed(duty: 100)))
    #expect(bench.machine.speed == .commanded(PumpSpeed(duty: 100)))
  }

  @Test("dragging without an answer: after the time-out the newest speed is sent, not the one before it again")
  func coalescesUnanswered() {
    var bench = OperatorBench.on()
    bench.at(2, .setSpeed(PumpSpeed(duty: 1)))
    bench.at(2.5, .setSpeed(PumpSpeed(duty: 100)))
    bench.run(to: 3)
    #expect(bench.taken() == ["2.0 SPEED:1", "3.0 SPEED:100"])
  }

  @Test("speed: the commanded value stays while its percentage is what is reported; 178 and 180 both may be 70 %")
  func keepsRawSpeed() {
    var bench = OperatorBench.on()
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

  @Test("a speed in the very step in which an ON's answer is overdue: the ON is sent three times all the same")
  func retriesOnWithSpeeds() {
    var bench = OperatorBench.off()
    bench.at(1, .turnOn(nil))
    for second in 2...3 {
      bench.at(Double(second), .setSpeed(PumpSpeed(percent: UInt8(second * 20))))
      // Otherwise the pump would count as silent.
      bench.hear(Double(second) + 0.5, .ok)
    }
    bench.run(to: 4.5)
    #expect(bench.taken() == ["1.0 ON", "2.0 ON", "3.0 ON", "4.0 OFF"])
  }

  @Test("no answer: an ON is sent three times, then OFF, for nobody knows whether it has started")
  func retriesOn() {
    var bench = OperatorBench.off()
    bench.at(1, .turnOn(nil))
    bench.run(to: 3.9)
    #expect(bench.taken() == ["1.0 ON", "2.0 ON", "3.0 ON"])
    bench.run(to: 6.5)
    #expect(bench.machine.state == .off(.pending))
    #expect(bench.taken() == ["4.0 OFF", "5.0 OFF", "6.0 OFF"])
    bench.hear(6.6, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
  }

  @Test(
    "no answer, fewer attempts than make it silent: given up, the ON is taken back while the pump still counts as answering"
  )
  func takesBackOn() throws {
    var bench = OperatorBench.off(try PumpOperatorSettings(attempts: 2))
    bench.at(1, .turnOn(nil))
    bench.run(to: 3)
    #expect(bench.taken() == ["1.0 ON", "2.0 ON", "3.0 OFF"])
    #expect(bench.machine.state == .off(.pending))
  }

  @Test("changed on its way: sent again at once")
  func retriesGarbled() {
    var bench = OperatorBench.off()
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
    var bench = OperatorBench.on()
    bench.at(2, .setSpeed(PumpSpeed(duty: 9)))
    bench.hear(2.1, .error(.notRunning))
    #expect(bench.taken() == ["2.0 SPEED:9", "2.1 STATUS"])
  }

  @Test("OFF: overtakes what waits and what is in flight, and is repeated every second until confirmed")
  func offOvertakes() {
    var bench = OperatorBench.on()
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
    var bench = OperatorBench.on()
    #expect(bench.at(2, .turnOn(nil)) == .refused(.alreadyOn))
    #expect(bench.at(2, .turnOn(PumpSpeed(duty: 90))) == .accepted)
    #expect(bench.taken() == ["2.0 SPEED:90"])
  }

  @Test("polling: every 5 s, whatever the pump says by itself; every second for 10 s after a person looked")
  func polls() {
    var bench = OperatorBench.on()
    bench.run(to: 10.5, answering: obedient(isOn: true))
    bench.hear(10.5, .status(PumpStatus(state: .on)))
    bench.run(to: 12, answering: obedient(isOn: true))
    #expect(bench.taken() == ["6.0 STATUS", "11.0 STATUS"])
    bench.at(13, .watched)
    bench.hear(13, .status(PumpStatus(state: .on)))
    bench.run(to: 30, answering: obedient(isOn: true))
    #expect(bench.taken() == (13...23).map { "\($0).0 STATUS" } + ["28.0 STATUS"])
  }

  @Test("answers of an earlier command do not stand for the one in flight")
  func staleAnswers() {
    var bench = OperatorBench.on()
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

  @Test(
    "e-stop: OFF at once, latched against everything but a reset of a confirmed off; a pump that runs again is off again"
  )
  func emergencyStop() {
    var bench = OperatorBench.on()
    bench.at(2, .setSpeed(PumpSpeed(duty: 1)))
    bench.at(2.1, .emergencyStop)
    #expect(bench.taken() == ["2.0 SPEED:1", "2.1 OFF"])
    #expect(bench.at(2.2, .reset) == .refused(.offNotConfirmed))
    bench.hear(2.3, .ok, .pump(isOn: false))
    #expect(bench.at(3, .turnOn(nil)) == .refused(.emergencyStopped))
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
    var bench = OperatorBench.on()
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

    // What waited before it is not sent after it either.
    bench = OperatorBench.on()
    bench.at(2, .setSpeed(PumpSpeed(duty: 9)))
    bench.at(2, .readTemperatures)
    bench.at(2.1, .quit)
    bench.hear(2.2, .ok, .pump(isOn: false))
    bench.hear(2.3, .error(.overheat))
    #expect(bench.taken() == ["2.0 SPEED:9", "2.1 OFF"])
  }
}
