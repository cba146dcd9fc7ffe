import Buses
import Devices
import Tactus
import Testing

/// A fan's twin and what reads it, as loops whose ticks the compiler proves.
@Suite("Tachometer and thermistor in loops") struct FanLoopTests {
  struct Twin: ~Copyable, ControlLoop {
    var fan: TachometerSimulator
    var sensor: ThermistorSimulator
    var celsius = 20.0

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      fan.step(rpm: 2_400, at: tick.started)
      celsius += 0.01
      sensor.set(celsius: celsius)
    }

    @_noLocks @_noAllocation
    mutating func safeState(_ tick: Tick, cause: SafeStateCause) {}
  }

  struct Reader: ~Copyable, ControlLoop {
    var tachometer: Tachometer
    var thermistor: Thermistor
    var bus: I2CBus
    var output: LatestWriter<Seen>

    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {
      bus.now = tick.started
      var seen = Seen()
      do throws(GPIOError) { seen.rpm = try tachometer.rpm(at: tick.started) } catch { seen.rpm = -1 }
      do throws(I2CError) { seen.celsius = try thermistor.celsius(on: &bus) ?? -1 } catch { seen.celsius = -2 }
      output.write(seen)
    }

    @_noLocks @_noAllocation
    mutating func safeState(_ tick: Tick, cause: SafeStateCause) {}
  }

  struct Seen: BitwiseCopyable, Sendable {
    var rpm = 0.0
    var celsius = 0.0
  }

  @Test("a twin of 1 kHz and a controller of 200 Hz on two lanes: speed and temperature are those of the twin")
  func loops() throws {
    let bank = SimulatedGPIOBank(highAtRest: [17])
    let events = try bank.events([GPIOInput(.bcm(17), isActiveLow: true)])
    let converter = ADS1115Simulator()
    let bus = SimulatedI2CBus()
    bus.attach(converter.chip, at: ADS1115.standardAddress)
    let seen = Latest(Seen())
    let runtime = try Runtime {
      Lane("twin") {
        Loop(
          "twin", every: .hertz(1_000),
          eachRun: {
            Twin(fan: TachometerSimulator(events.driver()), sensor: ThermistorSimulator(converter, channel: 2))
          })
      }
      Lane("control") {
        Loop(
          "control", every: .hertz(200),
          eachRun: {
            Reader(
              tachometer: Tachometer(events.port()), thermistor: Thermistor(channel: 2), bus: bus.port(),
              output: seen.writer())
          })
      }
    }
    let simulation = try runtime.simulation()
    simulation.run(for: .seconds(2))
    var reader = seen.reader()
    let last = reader.read()
    #expect(abs(last.rpm / 2_400 - 1) < 1e-6, "\(last.rpm)")
    // 2,000 ticks of 0.01 °C; a reading is 20 ms old at most.
    #expect(last.celsius > 39.7 && last.celsius < 40.1, "\(last.celsius)")
  }
}
