import Buses
import Devices
import Tactus
import Testing

@testable import Leg

/// Eighteen legs on two chips, nine on each: on channels 0…8.
private func hexapod(_ group: Int? = nil, hasOutputEnable: Bool = false) -> LegBench {
  let bench = LegBench(
    (0..<18).map { LegConfiguration(channel: try! ServoChannel($0 % 9), chip: $0 / 9, group: group) },
    hasOutputEnable: hasOutputEnable)
  bench.tick(0)
  bench.tick(TickInstant(nanoseconds: 500_000), .deadline)
  _ = bench.writes()
  return bench
}

extension LegBench {
  /// Arms every leg and sets each to a pulse, written by the tick of the period.
  fileprivate func drive(_ pulse: UInt16, at milliseconds: Int64) {
    #expect(request(.command(.arm), issued: milliseconds)?.verdict == .accepted)
    for leg in 0..<18 { send(.setServo(.microseconds(pulse)), to: leg, at: milliseconds) }
    tick(milliseconds)
  }

  fileprivate var faults: Set<LegFault?> { Set((0..<18).map { snapshot[$0].state.fault }) }
}

@Suite("legs on several chips")
struct LegChipsTests {
  @Test("start of two chips: both off before either is configured, running 500 µs later")
  func start() {
    let bench = LegBench([
      LegConfiguration(channel: try! ServoChannel(0)), LegConfiguration(channel: try! ServoChannel(3), chip: 1),
    ])
    bench.tick(0)
    let configured = ["off all", "01 04", "00 30", "fe 79", "00 20"]
    #expect(bench.writes() == ["off all", "41 off all"] + configured + configured.map { "41 \($0)" })
    #expect(!bench.snapshot.servos.isReady)
    bench.tick(TickInstant(nanoseconds: 500_000), .deadline)
    #expect(bench.snapshot.servos.isReady && bench.snapshot.servos.configurations == 1)
  }

  @Test("eighteen servos on two chips: four transfers write all of them, 80 bytes on the bus")
  func burst() {
    let bench = hexapod()
    bench.drive(1500, at: 20)
    let row = Array(repeating: "307", count: 8).joined(separator: " ")
    #expect(bench.writes() == ["0: \(row)", "8: 307", "41 0: \(row)", "41 8: 307"])
    let written = bench.bus.transactions(since: 0).filter { $0.operation == .writeBlock && $0.register != 0xFD }
    // The address and the register, each with its bytes.
    #expect(written.suffix(4).reduce(0) { $0 + 2 + $1.bytes.count } == 80)
  }

  @Test(
    "one of two chips does not answer: every leg in fault in that tick, the other chip off, at every period until both answer",
    arguments: [0, 1])
  func gone(silent: Int) {
    let bench = hexapod(hasOutputEnable: true)
    bench.drive(1500, at: 20)
    #expect(!bench.bank.isHigh(4) && !bench.bank.isHigh(5))
    _ = bench.writes()
    bench.bus.inject(.noAcknowledge(address: I2CAddress(0x40 + UInt8(silent))!, count: .max))
    let off = silent == 0 ? "41 off all" : "off all"
    bench.act(.setServo(.microseconds(1600)), to: 9 * silent, at: 30)
    #expect(bench.faults == [.output])
    #expect(bench.writes().contains(off) && bench.bank.isHigh(4) && bench.bank.isHigh(5))
    for channel in 0..<9 { #expect(bench.chips[1 - silent].snapshot[channel].pulse == nil) }
    for time in stride(from: Int64(40), through: 100, by: 20) {
      bench.tick(time)
      #expect(bench.writes().contains(off), "\(time) ms")
      #expect(bench.snapshot[0].state == .fault(.output, .pending), "nobody has confirmed the off of the other chip")
    }
    bench.bus.clearFaults()
    bench.tick(120)
    bench.tick(121, .deadline)
    #expect(bench.snapshot.servos.isReady && bench.snapshot[17].state == .fault(.output, .confirmed))
  }

  @Test("the second chip loses its power: noticed within 200 ms, the first one is off, too; the failure names the chip")
  func power() {
    let bench = hexapod()
    bench.drive(1500, at: 20)
    bench.chips[1].reset()
    var time: Int64 = 40
    while bench.snapshot[0].state.isArmed, time < 1_000 {
      for leg in 0..<18 { bench.send(.ping, to: leg, at: time) }
      bench.tick(time)
      time += 20
    }
    #expect(time <= 260 && bench.faults == [.output])
    #expect(
      bench.snapshot.servos.lastFailure
        == .lostConfiguration(.lost(mode1: 0x11, mode2: 0x11, prescale: 0x1E), at: I2CAddress(0x41)!))
    #expect(bench.chips[0].snapshot[0].pulse == nil)
    #expect(bench.takeNotices().contains { $0.contains("the servo chip at 0x41 has lost its configuration") })
  }

  @Test("stuck bus, two chips: one transfer that times out, no second one, both lines disabled before it")
  func stuck() {
    let bench = hexapod(hasOutputEnable: true)
    bench.drive(1500, at: 20)
    _ = bench.writes()
    bench.bus.inject(.stuck)
    #expect(bench.request(.emergencyStop, issued: 30)?.verdict == .accepted)
    #expect(bench.writes() == ["off all!"] && bench.bank.isHigh(4) && bench.bank.isHigh(5))
  }

  @Test("a line for each chip: only that of the chip whose legs have a pulse lets pulses out")
  func lines() {
    let bench = hexapod(hasOutputEnable: true)
    bench.arm(12, pulse: 1500, at: 20)
    #expect(bench.bank.isHigh(4) && !bench.bank.isHigh(5) && bench.snapshot.servos.outputsEnabled == true)
    bench.arm(2, pulse: 1500, at: 30)
    #expect(!bench.bank.isHigh(4) && !bench.bank.isHigh(5))
    bench.act(.disarm, to: 12, at: 40)
    bench.tick(40)
    #expect(!bench.bank.isHigh(4) && bench.bank.isHigh(5))
  }

  @Test("emergency stop, missed releases, shutdown: one off of each chip")
  func all() {
    for stop in 0..<3 {
      let bench = hexapod()
      bench.drive(1500, at: 20)
      _ = bench.writes()
      switch stop {
      case 0: _ = bench.request(.emergencyStop, issued: 30)
      case 1: bench.safeState(30, .misses(4))
      default: bench.safeState(30, .stop)
      }
      #expect(bench.writes() == ["off all", "41 off all"])
      for leg in 0..<18 { #expect(bench.snapshot[leg].state.isSafe) }
    }
  }
}

@Suite("groups of legs")
struct LegGroupTests {
  /// Legs 0 and 1 in one group, leg 2 on its own.
  private func bench() -> LegBench {
    let bench = LegBench(
      (0..<3).map { LegConfiguration(channel: try! ServoChannel($0), group: $0 < 2 ? 0 : nil) })
    bench.tick(0)
    bench.tick(TickInstant(nanoseconds: 500_000), .deadline)
    _ = bench.writes()
    return bench
  }

  @Test("group: an arm of one arms all of it, a pulse moves one and feeds all, and no leg beside it")
  func feeding() {
    let bench = bench()
    bench.act(.arm, to: 1, at: 10)
    #expect(bench.snapshot[0].state.isArmed && bench.snapshot[1].state.isArmed && !bench.snapshot[2].state.isArmed)
    bench.arm(2, pulse: 1500, at: 10)
    for time in stride(from: Int64(20), through: 180, by: 20) {
      bench.send(.setServo(.microseconds(1600)), to: 0, at: time)
      bench.tick(time)
    }
    bench.tick(210, .deadline)
    #expect(bench.snapshot[0].state.isArmed && bench.snapshot[1].state.isArmed)
    #expect(bench.snapshot[0].pulse == .microseconds(1600) && bench.snapshot[1].pulse == nil)
    #expect(bench.snapshot[2].state == .fault(.silence, .confirmed))
    #expect(bench.snapshot[1].lastCommand == bench.snapshot[0].lastCommand)
  }

  @Test("group: silence cuts every pulse of it at one instant, by one transfer if the chip has no other")
  func silence() {
    let bench = bench()
    bench.arm(0, pulse: 1500, at: 10)
    bench.act(.setServo(.microseconds(1700)), to: 1, at: 20)
    _ = bench.writes()
    #expect(bench.deadline == .milliseconds(100) || bench.deadline == .milliseconds(220))
    bench.tick(219, .deadline)
    #expect(bench.writes() == [])
    bench.tick(220, .deadline)
    #expect(bench.writes() == ["off all"])
    for leg in 0..<2 { #expect(bench.snapshot[leg].state == .fault(.silence, .confirmed)) }
    #expect(bench.snapshot[2].state == .disarmed(.confirmed))
  }

  @Test("group beside a leg that drives: its legs are turned off one by one, the other drives on")
  func beside() {
    let bench = bench()
    for leg in [0, 2] { bench.arm(leg, pulse: 1500, at: 10) }
    bench.act(.setServo(.microseconds(1700)), to: 1, at: 10)
    _ = bench.writes()
    bench.act(.disarm, to: 1, at: 20)
    #expect(bench.writes() == ["0: off", "1: off"])
    #expect(bench.snapshot[2].pulse == .microseconds(1500))
    for leg in 0..<2 { #expect(bench.snapshot[leg].state == .disarmed(.confirmed)) }
  }

  @Test(
    "group: an arm is for all of it or none; a reset leads all of it out; a client that leaves is a lost link for all")
  func together() {
    let bench = bench()
    #expect(bench.request(.command(.arm), to: .leg(0), from: 7, issued: 10)?.verdict == .accepted)
    #expect(
      bench.request(.command(.arm), to: .leg(1), issued: 11)?.verdict == .refused(LegRefusal(.alreadyArmed, leg: 1)))
    #expect(bench.request(.clientLeft, from: 7, issued: 20)?.verdict == .accepted)
    for leg in 0..<2 { #expect(bench.snapshot[leg].state.fault == .linkLost) }
    #expect(bench.snapshot[2].state == .disarmed(.confirmed))
    #expect(bench.request(.command(.arm), to: .leg(1), issued: 30)?.verdict == .refused(LegRefusal(.inFault, leg: 1)))
    #expect(bench.request(.reset, to: .leg(1), issued: 40)?.verdict == .accepted)
    for leg in 0..<2 { #expect(bench.snapshot[leg].state == .disarmed(.confirmed)) }
    #expect(bench.request(.reset, to: .leg(1), issued: 50)?.verdict == .refused(LegRefusal(.nothingToReset, leg: 1)))
  }
}
