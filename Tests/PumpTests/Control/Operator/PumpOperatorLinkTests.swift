import Tactus
import TestSupport
import Testing

@testable import Pump

@Suite(.ownThread) struct PumpOperatorLinkTests {
  @Test("silence: after three answers that did not come the state is unknown, and asked for every second")
  func fallsSilent() {
    var bench = OperatorBench.on()
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
    var bench = OperatorBench.off()
    bench.hear(1, .manual(isOn: true))
    #expect(bench.machine.state == .on(since: .seconds(1)))
    #expect(bench.machine.source == .manual)
    bench.hear(2, .manual(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
    #expect(bench.machine.source == .manual)
    bench.hear(3, .status(PumpStatus(state: .on)))
    #expect(bench.machine.source == nil)
  }

  @Test("connection lost: a pump that runs runs on, unknown; with the other policy OFF comes first when it is back")
  func losesLink() throws {
    var bench = OperatorBench.on()
    bench.at(2, .unlinked)
    #expect(bench.machine.state == .unknown)
    bench.at(9, .linked)
    #expect(bench.taken() == ["9.0 STATUS"])
    bench.hear(9.1, .status(PumpStatus(state: .on, percent: 70)))
    #expect(bench.machine.state == .on(since: .seconds(9.1)))

    bench = OperatorBench.on(try PumpOperatorSettings(linkLoss: .stopsOnReturn))
    bench.at(2, .unlinked)
    #expect(bench.machine.state == .off(.pending))
    bench.at(9, .linked)
    #expect(bench.taken() == ["9.0 OFF"])
    bench.hear(9.1, .ok, .pump(isOn: false))
    #expect(bench.machine.state == .off(.confirmed))
  }

  @Test("connection lost while starting: OFF when it is back, whatever the policy")
  func losesLinkWhileStarting() {
    var bench = OperatorBench.off()
    bench.at(1, .turnOn(nil))
    bench.at(1.1, .unlinked)
    bench.at(5, .linked)
    #expect(bench.taken() == ["1.0 ON", "5.0 OFF"])
  }

  @Test("no connection: tried after 0.5, 1, 2, 4 and then every 5 s")
  func reconnects() {
    var bench = OperatorBench.on()
    bench.at(10, .unlinked)
    var attempts: [Double] = []
    while let due = bench.machine.nextDeadline, due < .seconds(30) {
      if bench.machine.step(.tick, at: due).connects { attempts.append(Double(due.nanoseconds) / 1e9 - 10) }
    }
    #expect(attempts == [0.5, 1.5, 3.5, 7.5, 12.5, 17.5])
  }
}
