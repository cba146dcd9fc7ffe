import Buses
import Devices
import Tactus
import Testing

@testable import Pump

/// An ADS1115 and a button on simulated buses, read as the device side's loop reads them, 20 times a second.
@Suite("the pump's inputs on real hardware")
struct PumpHardwareInputsTests {
  private final class Bench {
    let chip = ADS1115Simulator()
    let bus = SimulatedI2CBus()
    let bank = SimulatedGPIOBank()
    let hardware: PumpHardwareInputs
    private let lines: SimulatedGPIOEvents
    private let inputs: PumpInputsBox
    private(set) var now = TickInstant.zero

    init(water: Int? = 0, skin: Int? = 1, pot: Int? = nil) throws {
      bus.attach(chip.chip, at: ADS1115.standardAddress)
      lines = try bank.events([
        GPIOInput(.bcm(17), isActiveLow: true, edges: .both, pull: .up)
      ])
      hardware = PumpHardwareInputs(
        PumpConverter(water: water, skin: skin, pot: pot, supply: Microvolts(3_300_000)), on: bus.port(),
        button: lines.port())
      inputs = PumpInputsBox(hardware.inputs())
    }

    /// Puts a thermistor of this temperature on an input.
    func set(_ channel: Int, celsius: Double) {
      chip.set(channel, Microvolts(Int64(PumpThermistor.counts(of: celsius)) * 3_300_000 / 1_023))
    }

    /// The last sample of so many ticks.
    func run(_ ticks: Int) -> PumpSample? {
      var sample: PumpSample?
      for _ in 0..<ticks {
        now = now + .milliseconds(50)
        sample = inputs.read(at: now)
      }
      return sample
    }
  }

  /// Keeps what cannot be copied.
  private final class PumpInputsBox {
    private var inputs: PumpInputs
    init(_ inputs: consuming PumpInputs) { self.inputs = inputs }
    func read(at now: TickInstant) -> PumpSample? { inputs.read(at: now) }
  }

  @Test(
    "thermistors: each is read some times a second, right to a quarter of a degree", arguments: [8.0, 22, 34.5, 41])
  func temperatures(celsius: Double) throws {
    let bench = try Bench()
    bench.set(0, celsius: celsius)
    bench.set(1, celsius: celsius + 3)
    let sample = try #require(bench.run(8))
    #expect(abs(PumpThermistor.temperature(counts: try #require(sample.water)).celsius - celsius) < 0.25)
    #expect(abs(PumpThermistor.temperature(counts: try #require(sample.skin)).celsius - celsius - 3) < 0.25)
    #expect(sample.pot == nil && !sample.isWaterUnreadable && !sample.isSkinUnreadable)
    // The two are read in turns, a tick each: the older one counts.
    #expect(sample.temperaturesAt == bench.now - .milliseconds(50))
    #expect(bench.run(1)?.temperaturesAt == bench.now - .milliseconds(50))
  }

  @Test("wires: an open one reads −77 °C, a shorted one 352 °C: neither is plausible")
  func wires() throws {
    let bench = try Bench()
    bench.chip.set(0, Microvolts(0))
    bench.chip.set(1, Microvolts(3_300_000))
    let sample = try #require(bench.run(8))
    #expect(sample.water == 0 && sample.skin == 1_023)
    #expect(!PumpPlausibility.standard.allows(.value(PumpThermistor.temperature(counts: 0))))
    #expect(!PumpPlausibility.standard.allows(.value(PumpThermistor.temperature(counts: 1_023))))
  }

  @Test(
    "silence: what does not answer for a second is unreadable, the button works on; it is read again when it is back")
  func silence() throws {
    let bench = try Bench(pot: 2)
    bench.set(0, celsius: 12)
    bench.set(1, celsius: 34)
    bench.chip.set(2, Microvolts(1_650_000))
    #expect(bench.run(8)?.pot == 512)
    bench.bus.inject(.stuck)
    _ = bench.bank.set(17, isHigh: false, at: bench.now)
    let lost = try #require(bench.run(25))
    #expect(lost.isWaterUnreadable && lost.isSkinUnreadable && lost.pot == nil && lost.isButtonPressed == true)
    bench.bus.clearFaults()
    bench.chip.reset()
    let back = try #require(bench.run(20))
    #expect(back.water != nil && !back.isSkinUnreadable)
  }

  @Test("only what is configured is read; an input that is not there is no fault")
  func some() throws {
    let bench = try Bench(water: nil, skin: 3)
    bench.set(3, celsius: 34)
    let sample = try #require(bench.run(4))
    #expect(sample.water == nil && !sample.isWaterUnreadable && sample.skin != nil)
  }

  @Test("a line that is gone: nothing can be believed any more")
  func gone() throws {
    let bench = try Bench()
    _ = bench.run(8)
    bench.bank.inject(.gone)
    #expect(bench.run(1) == nil)
  }
}
