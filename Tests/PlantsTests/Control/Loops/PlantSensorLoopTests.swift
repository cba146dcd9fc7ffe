import Buses
import Devices
import Plants
import Tactus
import Testing

@Suite("Plants: the sensor loop") struct PlantSensorLoopTests {
  @Test(
    "start: reset, half a second, identification, five samples, temperature; then every ten seconds without a reset")
  func start() {
    let bench = SensorBench([SensorBench.seesaw(0)])
    bench.run(seconds: 0.5)
    #expect(bench.take() == [])
    bench.run(seconds: 0.6)
    #expect(bench.take() == ["0: 500 20.0 °C"])
    #expect(bench.seesaws[0].earlyReads == 0)
    let first = bench.bus.transactionCount
    // Reset, hardware, 5 × moisture, temperature: a write and a read each.
    #expect(first == 1 + 2 + 10 + 2)
    bench.seesaws[0].moisture = 700
    bench.run(seconds: 9.9)
    #expect(bench.bus.transactionCount == first)
    bench.run(seconds: 10.1)
    #expect(bench.take() == ["0: 700 20.0 °C"])
    #expect(bench.bus.transactionCount == first + 12)
    #expect(bench.seesaws[0].resets == 1)
  }

  @Test("several probes on one bus: while one converts the others are served, each request 5 ms before its read")
  func interleaved() {
    let bench = SensorBench((0..<4).map(SensorBench.seesaw))
    bench.run(seconds: 0.6)
    #expect(bench.take() == ["0: 500 20.0 °C", "1: 600 21.0 °C", "2: 700 22.0 °C", "3: 800 23.0 °C"])
    let log = bench.bus.transactions()
    for (number, write) in log.enumerated() where write.operation == .plainWrite && write.bytes.count == 2 {
      let read = log[number...].first { $0.operation == .plainRead && $0.address == write.address }!
      #expect(read.at - write.at == .milliseconds(5))
    }
    // All four in the time of one: 0.5 s start, hardware, samples and temperature at 5 ms.
    #expect(log.last!.at - log[0].at == .milliseconds(500 + 7 * 5))
  }

  @Test("inputs of one converter take turns; SPI and I2C are read side by side")
  func turns() {
    let converter = ADS1115()
    let bench = SensorBench(
      [
        .ads1115(converter, channel: 0), .ads1115(converter, channel: 2), .mcp3008(channel: 5), SensorBench.seesaw(1),
      ], PlantProbeSettings(samples: 3))
    bench.converter.set(0, Microvolts(2_600_000))
    bench.converter.set(2, Microvolts(1_100_000))
    bench.mcp[5] = 1.65
    bench.run(seconds: 1)
    #expect(bench.take().sorted() == ["0: 2600000", "1: 1100000", "2: 512", "3: 600 21.0 °C"])
    bench.run(seconds: 30.9)
    #expect(bench.take().count == 12)
    #expect(bench.snapshot[1].readings == 4 && bench.snapshot[1].retries == 0)
    // A blocked probe waits for its chip and not in a spin.
    #expect(bench.ticks < 300)
    // A conversion is read before the next one of the chip begins.
    let words = bench.bus.transactions().filter { $0.address == ADS1115.standardAddress }.map(\.operation)
    #expect(words.prefix(6) == [.writeBlock, .readBlock, .readBlock, .writeBlock, .readBlock, .readBlock])
  }

  @Test("glitches: up to three retries a sample, the median unmoved; more, and there is no reading")
  func glitches() {
    let bench = SensorBench([SensorBench.seesaw(0)])
    bench.seesaws[0].glitch(reads: 3)
    bench.run(seconds: 1)
    #expect(bench.take() == ["0: 500 20.0 °C"])
    #expect(bench.snapshot[0].retries == 3)
    bench.seesaws[0].glitch(reads: 4)
    bench.run(seconds: 11)
    #expect(bench.take() == ["0: notAMeasurement"])
    #expect(bench.snapshot[0].failuresInARow == 1 && bench.snapshot[0].sample == 500)
    #expect(bench.snapshot[0].readAt! < TickInstant.zero + .seconds(1))
    // It is started anew, and well.
    bench.run(seconds: 21)
    #expect(bench.take() == ["0: 500 20.0 °C"])
    #expect(bench.seesaws[0].resets == 2 && bench.snapshot[0].failuresInARow == 0)
  }

  @Test("median: one wild sample among five does not count")
  func median() {
    let settings = PlantProbeSettings()
    var machine = PlantProbeMachine(.mcp3008(channel: 0), settings)
    var now = TickInstant.zero
    var median: Int64?
    for value in [500, 4000, 510, 0, 505] as [Int64] {
      guard case .request = machine.task(at: now) else {
        Issue.record("no request")
        return
      }
      _ = machine.step(.done, at: now)
      now = machine.nextDeadline
      if case .reading(let value, _) = machine.step(.sample(value), at: now) { median = value }
    }
    #expect(median == 505)
    #expect(machine.nextDeadline == .zero + .seconds(10))
  }

  @Test("probe gone: a failure each period, the others unharmed; back, it is reset and read")
  func gone() {
    let bench = SensorBench([SensorBench.seesaw(0), SensorBench.seesaw(1)])
    bench.bus.inject(.noAcknowledge(address: SensorBench.address(0), count: nil))
    bench.run(seconds: 1)
    #expect(bench.take().sorted() == ["0: noAnswer", "1: 600 21.0 °C"])
    bench.run(seconds: 11)
    #expect(bench.take().sorted() == ["0: noAnswer", "1: 600 21.0 °C"])
    #expect(bench.snapshot[0].sample == nil && bench.snapshot[0].failures == 2)
    bench.bus.clearFaults()
    bench.run(seconds: 21)
    #expect(bench.take().sorted() == ["0: 500 20.0 °C", "1: 600 21.0 °C"])
  }

  @Test("stuck bus: one transfer a tick that times out, every probe on it fails once a period, SPI is read on")
  func stuck() {
    let bench = SensorBench([SensorBench.seesaw(0), SensorBench.seesaw(1), .mcp3008(channel: 0)])
    bench.run(seconds: 5)
    _ = bench.take()
    bench.bus.inject(.stuck)
    let before = bench.bus.transactionCount
    bench.run(seconds: 15)
    #expect(bench.take().sorted() == ["0: timedOut", "1: timedOut", "2: 0"])
    let times = bench.bus.transactions(since: before).map(\.at)
    #expect(Set(times).count == times.count && times.count <= 2)
  }

  @Test("another chip at the address: told, and asked again a period later")
  func wrongChip() {
    let bench = SensorBench([.seesaw(SeesawSoil(address: ADS1115.standardAddress))])
    bench.run(seconds: 1)
    #expect(bench.take() == ["0: wrongChip"])
    bench.run(seconds: 11)
    #expect(bench.take() == ["0: wrongChip"])
  }

  @Test("thermometer fails: the soil's moisture is a reading all the same")
  func thermometer() {
    var machine = PlantProbeMachine(SensorBench.seesaw(0), PlantProbeSettings(samples: 1))
    var now = TickInstant.zero
    var outcome = PlantProbeOutcome.none
    for _ in 0..<40 {
      now = machine.nextDeadline
      switch machine.task(at: now) {
      case .none: Issue.record("no task at its deadline")
      case .reset, .request: outcome = machine.step(.done, at: now)
      case .read(.hardware): outcome = machine.step(.identified, at: now)
      case .read(.moisture): outcome = machine.step(.sample(700), at: now)
      case .read(.temperature): outcome = machine.step(.failed(.notAMeasurement), at: now)
      }
      if case .reading(let median, let celsius) = outcome {
        #expect(median == 700 && celsius == nil)
        #expect(machine.retries == 3)
        return
      }
    }
    Issue.record("no reading")
  }

  @Test("random faults for an hour: no read before its time, every period has an end, the loop comes to rest")
  func random() {
    let bench = SensorBench((0..<4).map(SensorBench.seesaw) + [.ads1115(ADS1115(), channel: 0), .mcp3008(channel: 0)])
    bench.bus.inject(.randomNoAcknowledge(perMille: 200))
    var texts = 0
    for minute in 1...60 {
      bench.seesaws[minute % 4].glitch(reads: minute % 7)
      bench.run(seconds: Double(minute) * 60)
      texts += bench.take().count
    }
    #expect((6 * 350...6 * 361).contains(texts))
    #expect(bench.seesaws.allSatisfy { $0.earlyReads == 0 })
    #expect(bench.snapshot.readingsDropped == 0)
  }
}

@Suite("Plants: sensors on the radio") struct PlantRadioTests {
  private static let probe = PlantProbe.radio(RadioAddress("C4:7C:8D:6A:11:22")!)

  private static func say(_ bench: SensorBench, _ bytes: [UInt8], at seconds: Double, in said: inout SoilSightings) {
    said[1].note(SoilAdvertisement(bytes, as: .btHome)!, at: TickInstant.zero + .seconds(seconds))
    var writer = bench.air.writer()
    writer.write(said)
  }

  @Test(
    "what was heard is read once, as old as it was heard; a temperature counts for ten minutes; silence is no failure")
  func reads() {
    let bench = SensorBench([SensorBench.seesaw(0), Self.probe])
    var said = SoilSightings()
    bench.run(seconds: 25)
    #expect(bench.take().allSatisfy { $0.hasPrefix("0: ") })
    Self.say(bench, [0x40, 0x45, 0xD7, 0x00], at: 25, in: &said)
    bench.run(seconds: 45)
    #expect(bench.take().allSatisfy { $0.hasPrefix("0: ") }, "a temperature alone is no reading")
    Self.say(bench, [0x40, 0x2F, 31], at: 45, in: &said)
    bench.run(seconds: 100)
    #expect(bench.take().filter { $0.hasPrefix("1: ") } == ["1: 3100 21.5 °C"])
    #expect(bench.snapshot[1].readAt == TickInstant.zero + .seconds(45) && bench.snapshot[1].readings == 1)
    #expect(bench.snapshot[1].failures == 0 && bench.snapshot[1].retries == 0)
    bench.run(seconds: 700)
    Self.say(bench, [0x40, 0x2F, 31], at: 700, in: &said)
    bench.run(seconds: 720)
    #expect(bench.take().filter { $0.hasPrefix("1: ") } == ["1: 3100"], "the temperature is too old")
  }

  @Test("calibration: per cent as the sensor says it, unless a person gives two points ten apart")
  func calibration() throws {
    #expect(Self.probe.unit == "%" && Self.probe.standardCalibration.percent(Self.probe.raw(3_150)) == 31.5)
    #expect(try Self.probe.calibration(dry: 60, wet: 20).percent(Self.probe.raw(4_000)) == 50)
    #expect(throws: PlantRefusal.self) { try Self.probe.calibration(dry: 20, wet: 29) }
  }

  @Test("a simulated soil is heard, and not while its wire is open")
  func simulated() throws {
    let garden = SimulatedGarden([PlantMonitor.Sensor(PlantSensorID("a")!, Self.probe)])
    #expect(garden.bus == nil && garden.port == nil)
    var air = try #require(garden.air).reader()
    garden.soils[0].set(moisturePercent: 42, celsius: 19.5)
    garden.beat(at: TickInstant.zero + .seconds(1))
    garden.beat(at: TickInstant.zero + .seconds(2))
    let heard = try #require(air.read()[0].moisture)
    #expect((4_190...4_200).contains(heard.value) && heard.at == TickInstant.zero + .seconds(2))
    garden.soils[0].set(fault: .open)
    garden.beat(at: TickInstant.zero + .seconds(3))
    #expect(air.read()[0].moisture?.at == heard.at)
  }
}

@Suite("Plants: the sensor loop in a runtime") struct PlantSensorRuntimeTests {
  @Test(
    "an hour of simulated time: released at its deadlines, a reading of each probe every ten seconds, the same twice")
  func hour() throws {
    func run() throws -> (UInt64, Int64, [Int64]) {
      let bus = SimulatedI2CBus()
      for index in 0..<2 { bus.attach(SeesawSoilSimulator().chip, at: SensorBench.address(index)) }
      let output = Latest(PlantSensorSnapshot(probes: 2))
      let ring = Ring<PlantProbeReading>(capacity: 1_024)
      let runtime = try Runtime {
        Lane("plants") {
          Loop("sensors", every: .hertz(1)) {
            PlantSensorLoop(
              probes: [SensorBench.seesaw(0), SensorBench.seesaw(1)], bus: bus.port(), snapshot: output.writer(),
              readings: ring.writer())
          }
        }
      }
      let simulation = try runtime.simulation(seed: 1)
      simulation.run(for: .seconds(3_600))
      var reader = output.reader()
      let snapshot = reader.read()
      return (simulation.traceHash, bus.transactionCount, [snapshot[0].readings, snapshot[1].readings])
    }
    let (hash, transactions, readings) = try run()
    #expect(readings == [360, 360])
    let again = try run()
    #expect(again == (hash, transactions, readings))
  }
}
