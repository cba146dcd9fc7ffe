import Buses
import Devices
import Tactus
import TestSupport
import Testing

@testable import Sprinkler

@Suite(.ownThread) struct ExpanderZoneTests {
  @Test(
    "zone on an expander, silence: nobody asks anything any more, the valve closes at its deadline",
    arguments: ExpanderBench.Kind.allCases)
  func silence(kind: ExpanderBench.Kind) {
    let bench = ExpanderBench(kind)
    #expect(bench.isOpen.isEmpty && bench.snapshot.confirmation == .confirmed)
    bench.open(2, seconds: 10)
    bench.advance(to: 9.999)
    #expect(bench.isOpen == [2] && bench.snapshot.read == 0b010)
    bench.advance(to: 10)
    #expect(bench.isOpen.isEmpty && bench.snapshot.state == .idle && bench.snapshot.read == 0)
  }

  @Test(
    "expander gone: a fault at once that names the chip; off at the first tick that it takes; only then a reset",
    arguments: ExpanderBench.Kind.allCases)
  func gone(kind: ExpanderBench.Kind) {
    let bench = ExpanderBench(kind)
    bench.open(2, seconds: 600)
    bench.advance(to: 5)
    bench.lose(true)
    bench.advance(to: 6)
    let error: GPIOError = kind == .shiftRegister ? .gone : .chip(address: I2CAddress(0x20)!, errno: 121)
    #expect(bench.snapshot.state == .fault(.lines(error)))
    #expect(bench.request(.reset) == .offNotConfirmed)
    bench.advance(to: 20)
    #expect(bench.isOpen == [2])
    bench.lose(false)
    bench.advance(to: 21)
    #expect(bench.isOpen.isEmpty && bench.request(.reset) == nil && bench.snapshot.state == .idle)
    bench.open(3, seconds: 60)
    #expect(bench.isOpen == [3])
  }

  @Test("expander gone, master valve on a GPIO line: the fault closes the master valve in the same tick")
  func masterCloses() {
    let bench = ExpanderBench(.mcp23017, hasMaster: true)
    bench.open(2, seconds: 600)
    #expect(bench.isOpen == [2] && bench.bank.isHigh(10))
    bench.bus.inject(.noAcknowledge(address: I2CAddress(0x20)!, count: nil))
    bench.advance(to: 1)
    #expect(bench.isOpen == [2] && !bench.bank.isHigh(10))
  }

  @Test("expander's bus stuck: a fault at once; off at the first tick that it is free")
  func busStuck() {
    let bench = ExpanderBench(.mcp23017)
    bench.open(1, seconds: 600)
    bench.bus.inject(.stuck)
    bench.advance(to: 1)
    #expect(bench.snapshot.state == .fault(.lines(.chip(address: I2CAddress(0x20)!, errno: 110))))
    bench.bus.clearFaults()
    bench.advance(to: 2)
    #expect(bench.isOpen.isEmpty && bench.request(.reset) == nil)
  }

  @Test(
    "another value read back from an expander: told again twice within 200 ms, then a fault that names the line",
    arguments: [ExpanderBench.Kind.mcp23017, .pcf8574])
  func differs(kind: ExpanderBench.Kind) {
    let bench = ExpanderBench(kind)
    bench.open(2, seconds: 10)
    bench.simulators[0].pin(1).stick(isHigh: kind == .mcp23017)
    bench.advance(to: 10.2)
    #expect(bench.snapshot.state == .fault(.lineDiffers(line: 1, isActive: true)))
    #expect(bench.request(.reset) == .offNotConfirmed)
    bench.simulators[0].pin(1).loosen()
    bench.advance(to: 11)
    #expect(bench.isOpen.isEmpty && bench.request(.reset) == nil)
  }

  @Test(
    "an expander that was without power is told again within 1.1 s, without a fault",
    arguments: [ExpanderBench.Kind.mcp23017, .pcf8574])
  func powerCut(kind: ExpanderBench.Kind) {
    let bench = ExpanderBench(kind)
    bench.open(2, seconds: 60)
    bench.simulators[0].cutPower()
    #expect(bench.isOpen.isEmpty)
    bench.advance(to: 1.1)
    #expect(bench.isOpen == [2] && bench.snapshot.state == .watering && bench.snapshot.differences == 1)
  }

  @Test(
    "zone on an expander, e-stop: closed in the release that brings it; only a reset leaves it",
    arguments: ExpanderBench.Kind.allCases)
  func emergencyStop(kind: ExpanderBench.Kind) {
    let bench = ExpanderBench(kind)
    bench.open(2, seconds: 600)
    bench.request(.emergencyStop)
    #expect(bench.isOpen.isEmpty && bench.snapshot.state == .emergencyStopped)
    bench.open(2, seconds: 600)
    #expect(bench.isOpen.isEmpty && bench.request(.reset) == nil)
  }

  @Test("zone on an expander, shutdown: closed, and nothing opens after", arguments: ExpanderBench.Kind.allCases)
  func shutdown(kind: ExpanderBench.Kind) {
    let bench = ExpanderBench(kind)
    bench.open(2, seconds: 600)
    bench.stop()
    #expect(bench.isOpen.isEmpty && bench.snapshot.state == .shutDown)
    bench.open(2, seconds: 600)
    #expect(bench.isOpen.isEmpty)
  }

  @Test(
    "zone on an expander, crash: the drivers' stops and the lines of a shift register, made off, close it",
    arguments: ExpanderBench.Kind.allCases)
  func crash(kind: ExpanderBench.Kind) {
    let bench = ExpanderBench(kind)
    bench.open(2, seconds: 600)
    #expect(bench.isOpen == [2])
    bench.writeSafeState()
    #expect(bench.isOpen.isEmpty)
  }

  @Test(
    "64 zones on expanders: each opens its own valve, and closes before the next one opens",
    arguments: ExpanderBench.Kind.allCases)
  func sixtyFour(kind: ExpanderBench.Kind) {
    let bench = ExpanderBench(kind, zones: 64)
    for zone in 1...64 {
      bench.open(zone, seconds: 60)
      #expect(bench.isOpen == [zone])
    }
    bench.advance(to: 60)
    #expect(bench.isOpen.isEmpty && bench.snapshot.lineFailures == 0)
  }
}
