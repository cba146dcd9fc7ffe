import Buses
import Devices
import Tactus
import TestSupport
import Testing

@testable import Leg

/// A leg that is reached by a link that knows connections, beside its UDP port.
@Suite(.ownThread) struct LegLinkTests {
  /// Connected and driving at 1500 µs since 20 ms.
  private static func driving(legs count: Int = 1) -> LegBench {
    let bench = LegBench(legs: count, hasBluetooth: true)
    bench.central!.up()
    bench.write(.arm)
    bench.write(.setServo(.microseconds(1500)))
    bench.tick(20, .input)
    return bench
  }

  @Test("connected: the leg is disarmed, and telemetry flows before the first command, also after a minute without one")
  func connected() {
    let bench = LegBench(hasBluetooth: true)
    bench.arm(pulse: 1500, at: 10)
    bench.central!.up()
    bench.tick(20, .input)
    #expect(bench.snapshot[0].state == .disarmed(.confirmed))
    for time in [100, 200] as [Int64] { bench.tick(time) }
    #expect(bench.notified() == ["disarmed none 0 ms", "disarmed none 0 ms"])
    // Who sent datagrams is forgotten by then, who is connected is not.
    bench.tick(62_000)
    #expect(bench.notified().count == 1 && bench.telemetry(at: 200).count == 2)
    #expect(bench.telemetry(at: 62_000).isEmpty && bench.snapshot[0].reportFailures == 0)
  }

  @Test("connected: armed and set by it; frames and telemetry count, and who was heard is the link")
  func drives() {
    let bench = Self.driving()
    #expect(bench.writes().last == "0: 307")
    #expect(bench.snapshot[0].pulse == .microseconds(1500))
    #expect(bench.snapshot[0].datagrams == 2 && bench.snapshot[0].lastLink == .bluetooth)
    bench.tick(100)
    #expect(bench.notified() == ["armed none 80 ms"] && bench.snapshot[0].reports == 1)
  }

  @Test("driving, link lost: off in that release, fault without an error; connected again: disarmed, and armed anew")
  func lost() {
    let bench = Self.driving()
    _ = bench.writes()
    bench.central!.down()
    bench.tick(33, .input)
    #expect(bench.writes() == ["0: off"])
    #expect(bench.bus.transactions().last?.at == .milliseconds(33))
    #expect(bench.snapshot[0].state == .fault(.linkLost, .confirmed) && bench.snapshot[0].telemetry.error == .none)
    bench.central!.up()
    bench.write(.setServo(.microseconds(1500)))
    bench.tick(40, .input)
    #expect(bench.snapshot[0].state == .disarmed(.confirmed))
    #expect(!bench.writes().contains("0: 307"))
    bench.write(.arm)
    bench.tick(60, .input)
    #expect(bench.snapshot[0].state == .armed(.waiting(.confirmed)))
  }

  @Test(
    "driving, nobody writes any more while connected: the pulse ends 200 ms after the last command; telemetry goes on")
  func silence() {
    let bench = Self.driving()
    for time in stride(from: Int64(40), through: 200, by: 20) { bench.tick(time) }
    _ = bench.writes()
    _ = bench.notified()
    #expect(bench.deadline == .milliseconds(220))
    bench.tick(220, .deadline)
    #expect(bench.writes() == ["0: off"] && bench.snapshot[0].state == .fault(.silence, .confirmed))
    bench.tick(300)
    #expect(bench.notified() == ["fault deadman time-out 280 ms"])
    bench.write(.arm)
    bench.tick(310, .input)
    #expect(bench.snapshot[0].lastIgnored == .inFault)
  }

  @Test(
    "driving, chip gone, e-stop, missed releases, shutdown: off and told over the link; a new connection undoes no e-stop"
  )
  func otherWays() {
    let chip = Self.driving()
    chip.bus.inject(.noAcknowledge(address: PCA9685.standardAddress, count: nil))
    chip.write(.setServo(.microseconds(2000)))
    chip.tick(40, .input)
    #expect(chip.snapshot[0].state == .fault(.output, .pending))
    chip.tick(100)
    #expect(chip.notified() == ["fault \(LegErrorCode.i2cFault) 60 ms"])

    let stopped = Self.driving()
    _ = stopped.request(.emergencyStop, issued: 40)
    #expect(stopped.writes().last == "off all")
    stopped.central!.down()
    stopped.central!.up()
    stopped.write(.disarm)
    stopped.write(.arm)
    stopped.tick(60, .input)
    #expect(stopped.snapshot[0].state == .emergencyStopped(.confirmed))

    let missed = Self.driving()
    missed.safeState(100, .misses(3))
    #expect(missed.snapshot[0].state == .fault(.missedReleases(3), .confirmed))

    let shutDown = Self.driving()
    shutDown.safeState(50, .stop)
    #expect(shutDown.writes().last == "off all")
    #expect(shutDown.notified() == ["fault unknown 30 ms"])
  }

  @Test(
    "lost and back between two releases: a fault and a new connection; the old one's frames are not obeyed, its own are"
  )
  func replaced() {
    let bench = Self.driving()
    bench.write(.setServo(.microseconds(2000)))
    bench.central!.down()
    bench.central!.up()
    bench.write(.ping)
    bench.tick(40, .input)
    #expect(bench.takeNotices().last == "0 disarmed")
    #expect(bench.snapshot[0].state == .disarmed(.confirmed) && bench.snapshot[0].datagrams == 3)
    #expect(!bench.writes().contains("0: 410"))
  }

  @Test("nobody connected: nothing is sent there and nothing counts as a failure; datagrams are obeyed and answered")
  func nobody() {
    let bench = LegBench(hasBluetooth: true)
    bench.arm(pulse: 1500, at: 10)
    bench.tick(100)
    #expect(bench.telemetry(at: 100) == ["armed none 90 ms"])
    #expect(bench.snapshot[0].reports == 1 && bench.snapshot[0].reportFailures == 0)
    #expect(bench.snapshot[0].lastLink == .datagrams)
  }

  @Test("datagrams and a connection: both are obeyed, both get telemetry; the connection lost, the other legs drive on")
  func both() {
    let bench = Self.driving(legs: 2)
    bench.arm(1, pulse: 1500, at: 30)
    bench.act(.setServo(.microseconds(2000)), at: 40)
    #expect(bench.snapshot[0].pulse == .microseconds(2000))
    bench.tick(100)
    #expect(bench.notified().count == 1 && bench.telemetry(at: 100).count == 2)
    bench.central!.down()
    bench.tick(110, .input)
    #expect(bench.snapshot[0].state == .fault(.linkLost, .confirmed))
    #expect(bench.snapshot[1].pulse == .microseconds(1500))
  }
}
