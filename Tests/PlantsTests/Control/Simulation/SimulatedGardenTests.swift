import Devices
import Plants
import Tactus
import Testing

@Suite("Plants: simulated soils") struct SimulatedGardenTests {
  private static let sensors = [
    PlantMonitor.Sensor(PlantSensorID("0x36")!, .seesaw(SeesawSoil())),
    PlantMonitor.Sensor(PlantSensorID("adc-1")!, .ads1115(ADS1115(), channel: 1)),
    PlantMonitor.Sensor(PlantSensorID("adc-3")!, .ads1115(ADS1115(), channel: 3)),
    PlantMonitor.Sensor(PlantSensorID("spi-7")!, .mcp3008(channel: 7)),
  ]

  /// What the probes' loop and the monitor make of the garden at `seconds`, by sensor.
  private func read(_ garden: SimulatedGarden, at seconds: Double = 0) -> [String: PlantReading] {
    let output = Latest(PlantSensorSnapshot(probes: 4))
    let ring = Ring<PlantProbeReading>(capacity: 64)
    var readings = ring.reader()
    var loop = PlantSensorLoop(
      probes: Self.sensors.map(\.probe), bus: garden.bus!.port(), port: garden.port!.port(),
      snapshot: output.writer(), readings: ring.writer())
    let start = TickInstant.zero + .seconds(seconds)
    var book = PlantBook(sensors: Set(Self.sensors.map(\.id)))
    var monitor = PlantMonitor(sensors: Self.sensors, at: start)
    for index in 0..<2_000 as Range<Int64> {
      let now = start + .milliseconds(index)
      loop.tick(Tick(index: index, cause: .period, scheduled: now, started: now))
    }
    while let reading = readings.pop() {
      _ = monitor.step(.reading(reading), book: &book, at: reading.at, wall: PlantInstant(secondsSince1970: 0))
    }
    return Dictionary(uniqueKeysWithValues: monitor.readings.map { ($0.key.text, $0.value) })
  }

  @Test("each probe reads what its soil holds, by its usual calibration")
  func reads() {
    let garden = SimulatedGarden(Self.sensors)
    for (index, soil) in garden.soils.enumerated() { soil.set(moisturePercent: Double(20 * index + 10), celsius: 18) }
    let readings = read(garden)
    for (index, sensor) in Self.sensors.enumerated() {
      let reading = readings[sensor.id.text]
      // A count of the MCP3008 is a fifth of a percent.
      #expect(abs((reading?.moisturePercent ?? -1) - Double(20 * index + 10)) < 0.25, "\(sensor.id)")
      #expect(reading?.celsius.map { $0.rounded() } == (index == 0 ? 18 : nil))
    }
  }

  @Test("time passes: soils dry out slowly, never beyond what is driest; water makes them wet, at most wholly")
  func dries() {
    let garden = SimulatedGarden(Self.sensors)
    let soil = garden[PlantSensorID("adc-1")!]!
    soil.set(moisturePercent: 80)
    garden.beat(at: .zero)
    for second in 1...600 as ClosedRange<Int64> { garden.beat(at: .zero + .seconds(second)) }
    #expect((66...70).contains(soil.moisturePercent))
    soil.pour(10)
    #expect((76...80).contains(soil.moisturePercent))
    soil.pour(500)
    #expect(soil.moisturePercent == 100)
    for hour in 1...100 as ClosedRange<Int64> { garden.beat(at: .zero + .seconds(3_600 * hour)) }
    #expect(soil.moisturePercent == 3)
    // A clock that goes back is no water.
    garden.beat(at: .zero)
    #expect(soil.moisturePercent == 3)
  }

  @Test(
    "a wire open or short: no probe reads what soil can be, on no chip; mended, all is well"
  )
  func faults() {
    let garden = SimulatedGarden(Self.sensors)
    for soil in garden.soils { soil.set(moisturePercent: 50, fault: .open) }
    let open = read(garden)
    #expect(open.isEmpty)
    for soil in garden.soils { soil.set(fault: .short) }
    let short = read(garden, at: 100)
    #expect(short.isEmpty)
    for soil in garden.soils { soil.set(fault: SimulatedSoil.Fault.none) }
    #expect(abs((read(garden, at: 200)["0x36"]?.moisturePercent ?? 0) - 50) < 0.1)
  }
}
