import Buses
import Devices
import Tactus
import TestSupport
import Testing

@testable import Leg

@Suite(.ownThread) struct LegLoopTests {
  static let configured = ["off all", "01 04", "00 30", "fe 79", "00 20"]

  // MARK: chip and pulses

  @Test("start: all channels off first, the chip configured, running 500 µs later, every off confirmed")
  func start() {
    let bench = LegBench(legs: 2, isStarted: false)
    bench.tick(0)
    #expect(bench.writes() == Self.configured)
    #expect(bench.deadline == TickInstant(nanoseconds: 500_000))
    #expect(!bench.snapshot.servos.isReady)
    bench.tick(TickInstant(nanoseconds: 500_000), .deadline)
    #expect(bench.writes().isEmpty && bench.snapshot.servos.isReady)
    #expect(bench.snapshot[0].state == .disarmed(.confirmed) && bench.snapshot[1].state == .disarmed(.confirmed))
  }

  @Test("frame: acts in the release by arrival; one transfer of four bytes a pulse, none while it stays the same")
  func actsAtOnce() {
    let bench = LegBench()
    bench.act(.arm, at: 10)
    #expect(bench.writes().isEmpty, "no pulse by arming")
    bench.act(.setServo(.microseconds(1500)), at: 13)
    #expect(bench.writes() == ["0: 307"])
    bench.act(.setServo(.microseconds(1500)), at: 33)
    bench.tick(40)
    #expect(bench.writes().isEmpty)
    bench.act(.setServo(.microseconds(1504)), at: 53)
    #expect(bench.writes() == ["0: 308"])
    bench.act(.disarm, at: 60)
    #expect(bench.writes() == ["0: off"])
    #expect(bench.snapshot[0].accepted == 5 && bench.snapshot[0].datagrams == 5)
  }

  @Test("deadman: released at its deadline, the off is on the bus at that instant")
  func deadman() {
    let bench = LegBench()
    bench.arm(pulse: 1500, at: 10)
    bench.tick(20)
    bench.act(.ping, at: 33)
    for time in stride(from: Int64(40), through: 220, by: 20) { bench.tick(time) }
    _ = bench.writes()
    #expect(bench.deadline == .milliseconds(233))
    bench.tick(233, .deadline)
    #expect(bench.writes() == ["0: off"])
    #expect(bench.bus.transactions().last?.at == .milliseconds(233))
    #expect(bench.snapshot[0].state == .fault(.silence, .confirmed))
  }

  @Test("wider rules wait until every leg's off is confirmed")
  func widerRules() throws {
    let bench = LegBench(legs: 2)
    bench.arm(1, pulse: 1500, at: 10)
    let wide = LegRules([LegSettings](repeating: try LegSettings(deadmanTimeout: .milliseconds(900)), count: 2))
    let number = bench.rules.propose()
    bench.rules.commit(number, now: bench.rules.inEffect, whenSafe: wide)
    bench.tick(20)
    bench.tick(40)
    #expect(bench.rules.progress(number) == .takenInPart && bench.rules.inEffect != wide)
    bench.act(.disarm, to: 1, at: 60)
    bench.tick(80)
    bench.tick(100)
    #expect(bench.rules.progress(number) == .taken && bench.rules.inEffect == wide)
  }

  @Test("several frames in one release: only the last pulse is written; a disarm among them comes first")
  func lastOfDrain() {
    let bench = LegBench()
    bench.send(.arm, at: 20)
    for pulse in [1000, 1200, 1500] as [UInt16] { bench.send(.setServo(.microseconds(pulse)), at: 20) }
    bench.tick(20, .input)
    #expect(bench.writes() == ["0: 307"])
    bench.send(.setServo(.microseconds(1000)), at: 40)
    bench.send(.disarm, at: 40)
    bench.send(.setServo(.microseconds(2000)), at: 40)
    bench.tick(40, .input)
    #expect(bench.writes() == ["0: off"])
  }

  @Test(
    "several legs: adjacent channels in one transfer, at most eight; a channel between them that stays is left alone")
  func adjacent() {
    let bench = LegBench(legs: 10)
    for leg in 0..<10 { bench.act(.arm, to: leg, at: 10) }
    for leg in 0..<10 { bench.send(.setServo(.microseconds(1500)), to: leg, at: 20) }
    bench.tick(20, .input)
    #expect(bench.writes() == ["0: 307 307 307 307 307 307 307 307", "8: 307 307"])
    for leg in [2, 3, 5] { bench.send(.setServo(.microseconds(1000)), to: leg, at: 30) }
    bench.tick(30, .input)
    #expect(bench.writes() == ["2: 205 205", "5: 205"])
  }

  @Test("channel: number, travel and inversion of its servo")
  func channel() throws {
    let channel = try ServoChannel(9, lowest: .microseconds(1000), highest: .microseconds(2000), isInverted: true)
    let bench = LegBench([LegConfiguration(channel: channel)])
    bench.tick(0)
    bench.tick(1)
    _ = bench.writes()
    bench.arm(pulse: 500, at: 10)
    #expect(bench.writes() == ["9: 410"])
  }

  @Test("slew: stepped at every period")
  func slew() throws {
    let settings = try LegSettings(slewMicrosecondsPerSecond: 5_000)
    let bench = LegBench([LegConfiguration(settings, channel: try ServoChannel(0))])
    bench.tick(0)
    bench.tick(1)
    bench.arm(pulse: 1000, at: 10)
    bench.act(.setServo(.microseconds(1250)), at: 20)
    _ = bench.writes()
    for time in stride(from: Int64(40), through: 100, by: 20) { bench.tick(time) }
    #expect(bench.writes() == ["0: 225", "0: 246", "0: 256"])
  }

  // MARK: faults

  @Test(
    "chip gone: every leg in fault, all off tried at once and at every period; back, it is configured, legs stay in fault"
  )
  func chipGone() {
    let bench = LegBench(legs: 2)
    bench.arm(0, pulse: 1500, at: 10)
    bench.arm(1, pulse: 1500, at: 10)
    _ = bench.takeNotices()
    _ = bench.writes()
    bench.chip.isPowered = false
    bench.act(.setServo(.microseconds(1000)), at: 15)
    #expect(bench.writes() == Array(repeating: "0: 205!", count: 3) + Array(repeating: "off all!", count: 3))
    #expect(bench.snapshot[0].state == .fault(.output, .pending))
    #expect(bench.snapshot[1].state == .fault(.output, .pending))
    bench.tick(20)
    #expect(bench.writes() == Array(repeating: "off all!", count: 6))
    bench.act(.disarm, at: 25)
    #expect(bench.writes().isEmpty, "nothing but the period's attempt")
    bench.tick(40)
    #expect(bench.snapshot[0].state == .fault(.output, .pending))
    bench.chip.isPowered = true
    _ = bench.writes()
    bench.tick(60)
    #expect(bench.writes() == Self.configured)
    bench.tick(TickInstant(nanoseconds: 60_500_000), .deadline)
    #expect(bench.snapshot.servos.isReady && bench.snapshot[1].state == .fault(.output, .confirmed))
    bench.act(.disarm, at: 70)
    bench.arm(pulse: 1500, at: 70)
    #expect(bench.writes() == ["0: off", "0: 307"])
    #expect(
      bench.takeNotices() == [
        "chip fails: the servo chip does not take a write: no acknowledge (address 0x40, register 0x06)",
        "0 fault: the servo's chip or its output-enable line fails (off not yet confirmed by the chip)",
        "1 fault: the servo's chip or its output-enable line fails (off not yet confirmed by the chip)",
        "0 disarmed (off not yet confirmed by the chip)",
        "0 fault: the servo's chip or its output-enable line fails (off not yet confirmed by the chip)",
        "chip answers", "0 disarmed", "0 armed, nothing set yet", "0 armed, pulse 1500 µs",
      ])
  }

  @Test("stuck bus: one transfer a tick that times out, and no second one")
  func stuckBus() {
    let bench = LegBench(legs: 6)
    for leg in 0..<6 { bench.arm(leg, pulse: 1500, at: 10) }
    _ = bench.writes()
    bench.bus.inject(.stuck)
    bench.act(.setServo(.microseconds(1000)), to: 3, at: 15)
    #expect(bench.writes() == ["3: 205!"])
    bench.tick(20)
    #expect(bench.writes() == ["off all!"])
    for leg in 0..<6 { #expect(bench.snapshot[leg].state == .fault(.output, .pending)) }
  }

  @Test("chip without power for a moment: noticed within 200 ms, fault, configured anew")
  func powerCycle() {
    let bench = LegBench()
    bench.arm(pulse: 1500, at: 10)
    bench.chip.reset()
    var time: Int64 = 20
    while bench.snapshot[0].state.isArmed, time < 1_000 {
      bench.send(.setServo(.microseconds(1500)), at: time)
      bench.tick(time)
      time += 20
    }
    #expect(time <= 240)
    #expect(bench.snapshot[0].state.fault == .output)
    #expect(
      bench.snapshot.servos.lastFailure
        == .lostConfiguration(
          .lost(mode1: 0x11, mode2: 0x11, prescale: 0x1E), at: PCA9685.standardAddress))
    bench.tick(time)
    bench.tick(time + 1)
    #expect(bench.snapshot.servos.isReady && bench.snapshot.servos.configurations == 2)
  }

  @Test("missed releases: every leg in fault by one transfer, with the count")
  func misses() {
    let bench = LegBench(legs: 3)
    for leg in 0..<3 { bench.arm(leg, pulse: 1500, at: 10) }
    _ = bench.writes()
    bench.safeState(90, .misses(4))
    #expect(bench.writes() == ["off all"])
    for leg in 0..<3 { #expect(bench.snapshot[leg].state == .fault(.missedReleases(4), .confirmed)) }
  }

  @Test("stopped from outside: an armed leg gets no pulse until disarmed and armed; one not armed stays disarmed")
  func externalStop() {
    let bench = LegBench(legs: 2)
    bench.arm(0, pulse: 1500, at: 10)
    _ = bench.writes()
    bench.safeState(90, .externalStop(.milliseconds(50)))
    #expect(bench.writes() == ["off all"])
    #expect(bench.snapshot[0].state == .fault(.externalStop, .confirmed))
    #expect(bench.snapshot[1].state == .disarmed(.confirmed))
    #expect(bench.snapshot[0].state.wayOut == "remove the cause, then disarm and arm it")
  }

  @Test("shutdown: every leg off by one transfer, tried three times, telemetry says so, nothing drives after")
  func shutdown() {
    let bench = LegBench(legs: 3)
    for leg in 0..<3 { bench.arm(leg, pulse: 1500, at: 10) }
    _ = bench.writes()
    _ = bench.telemetry(at: 10)
    bench.bus.inject(.noAcknowledge(address: PCA9685.standardAddress, count: 7))
    bench.safeState(20, .stop)
    #expect(bench.writes().last == "off all")
    for leg in 0..<3 { #expect(bench.snapshot[leg].state == .shutDown(.confirmed)) }
    #expect(bench.telemetry(at: 20) == Array(repeating: "fault unknown 10 ms", count: 3))
    bench.arm(pulse: 1500, at: 30)
    bench.tick(40)
    #expect(bench.writes().filter { $0.hasPrefix("0:") }.isEmpty)
  }

  // MARK: frames and telemetry

  @Test("telemetry: ten times a second to the sender of the last datagram, nobody before the first")
  func telemetry() {
    let bench = LegBench()
    for time in stride(from: Int64(20), through: 200, by: 20) { bench.tick(time) }
    #expect(bench.telemetry(at: 200).isEmpty)
    bench.act(.arm, at: 210)
    for time in stride(from: Int64(220), through: 400, by: 20) {
      bench.send(.ping, at: time)
      bench.tick(time)
    }
    #expect(bench.telemetry(at: 400) == ["armed none 0 ms", "armed none 0 ms"])
    bench.send([9], from: LegBench.other, at: 430)
    bench.tick(430, .input)
    bench.tick(500, .deadline)
    #expect(bench.telemetry(at: 500).isEmpty)
    #expect(bench.telemetry(to: LegBench.other, at: 500) == ["armed invalid command 100 ms"])
    #expect(bench.deadline == .milliseconds(600), "the next telemetry and the deadman")
    #expect(bench.snapshot[0].reports == 3)
  }

  @Test("telemetry: a minute after the last datagram nobody gets it any more")
  func listenerGone() {
    let bench = LegBench()
    bench.act(.ping, at: 50)
    bench.tick(60_049)
    #expect(bench.telemetry(at: 60_049).count == 1)
    bench.tick(60_200)
    #expect(bench.telemetry(at: 60_200).isEmpty)
  }

  @Test("garbage: counted with its reason, error 4 in telemetry, the deadman not fed")
  func garbage() {
    let bench = LegBench()
    bench.arm(pulse: 1500, at: 10)
    for bytes in [[], [1, 3, 2, 0, 0xDC], [1, 0x10, 0, 0], [UInt8](repeating: 1, count: 100)] as [[UInt8]] {
      bench.send(bytes, at: 50)
    }
    bench.tick(50, .input)
    #expect(bench.snapshot[0].malformed == (bench.snapshot[0].datagrams - 2))
    #expect(bench.snapshot[0].lastMalformed == .wrongLength(type: 0, expected: 6, got: 100))
    bench.tick(100)
    #expect(bench.telemetry(at: 100).last == "armed invalid command 90 ms")
    #expect(bench.deadline == .milliseconds(200))
  }

  // MARK: requests

  @Test("requests: a leg, all of them, answered in order with the verdict")
  func requests() {
    let bench = LegBench(legs: 3)
    #expect(bench.request(.command(.arm), to: .leg(1), issued: 10)?.verdict == .accepted)
    #expect(bench.request(.command(.setServo(.microseconds(1500))), to: .leg(1), issued: 11)?.verdict == .accepted)
    #expect(bench.writes() == ["1: 307"])
    let answer = bench.request(.command(.setServo(.microseconds(1500))), to: .leg(0), issued: 12)
    #expect(answer?.verdict == .refused(LegRefusal(.notArmed, leg: 0)) && answer?.number == 3)
    #expect(bench.request(.query, issued: 13)?.verdict == .accepted)
  }

  @Test("group arm: all legs or none; group disarm: all, in one transfer")
  func group() {
    let bench = LegBench(legs: 6)
    #expect(bench.request(.unlinked, to: .leg(4), issued: 5)?.verdict == .accepted)
    let refused = bench.request(.command(.arm), issued: 10)
    #expect(refused?.verdict == .refused(LegRefusal(.inFault, leg: 4)))
    for leg in 0..<6 { #expect(!bench.snapshot[leg].state.isArmed) }
    _ = bench.request(.command(.disarm), to: .leg(4), issued: 20)
    _ = bench.writes()
    #expect(bench.request(.command(.arm), issued: 30)?.verdict == .accepted)
    for leg in 0..<6 { #expect(bench.snapshot[leg].state.isArmed) }
    _ = bench.request(.command(.setServo(.microseconds(1500))), issued: 40)
    #expect(bench.writes() == ["0: 307 307 307 307 307 307"])
    _ = bench.request(.command(.disarm), issued: 50)
    #expect(bench.writes() == ["off all"])
    for leg in 0..<6 { #expect(bench.snapshot[leg].state == .disarmed(.confirmed)) }
  }

  @Test("emergency stop: every leg off by one transfer, latched; reset leaves it")
  func emergencyStop() {
    let bench = LegBench(legs: 3)
    for leg in 0..<3 { bench.arm(leg, pulse: 1500, at: 10) }
    _ = bench.writes()
    #expect(bench.request(.emergencyStop, issued: 20)?.verdict == .accepted)
    #expect(bench.writes() == ["off all"])
    bench.arm(pulse: 1500, at: 30)
    #expect(bench.snapshot[0].state == .emergencyStopped(.confirmed))
    #expect(bench.request(.reset, issued: 40)?.verdict == .accepted)
    #expect(bench.snapshot[2].state == .disarmed(.confirmed))
  }

  @Test(
    "request that waited longer than 150 ms: an arm, a pulse and a reset are stale, a disarm and an e-stop are obeyed")
  func stale() {
    let bench = LegBench()
    #expect(bench.request(.command(.arm), issued: 0, taken: 151)?.verdict == .refused(LegRefusal(.stale, leg: 0)))
    #expect(bench.request(.command(.arm), issued: 160, taken: 310)?.verdict == .accepted)
    #expect(
      bench.request(.command(.setServo(.middle)), issued: 160, taken: 311)?.verdict
        == .refused(LegRefusal(.stale, leg: 0)))
    #expect(bench.request(.command(.disarm), issued: 0, taken: 320)?.verdict == .accepted)
    #expect(bench.request(.emergencyStop, issued: 0, taken: 330)?.verdict == .accepted)
    #expect(bench.request(.reset, issued: 0, taken: 340)?.verdict == .refused(LegRefusal(.stale, leg: 0)))
  }
  @Test("frozen program: a frame that lay in its socket for more than 150 ms moves no leg, a disarm is obeyed")
  func staleFrame() {
    let bench = LegBench()
    bench.send(.arm, at: 10)
    bench.tick(161, .input)
    #expect(bench.snapshot[0].state == .disarmed(.confirmed) && bench.snapshot[0].lastIgnored == .stale)
    bench.send(.arm, at: 170)
    bench.send(.setServo(.middle), at: 170)
    bench.tick(320, .input)
    #expect(bench.snapshot[0].ignored == 1 && !bench.snapshot[0].state.isSafe)
    bench.send(.disarm, at: 330)
    bench.tick(500, .input)
    #expect(bench.snapshot[0].state == .disarmed(.pending) || bench.snapshot[0].state.isSafe)
  }
}
