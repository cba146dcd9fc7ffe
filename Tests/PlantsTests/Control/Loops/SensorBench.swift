import Buses
import Devices
import Plants
import Tactus

/// A sensor loop with its world, released as the runtime would: once a second, and at its deadlines.
final class SensorBench {
  let bus = SimulatedI2CBus(logCapacity: 65_536)
  let seesaws: [SeesawSoilSimulator]
  let converter = ADS1115Simulator()
  let mcp = MCP3008Simulator()
  let spi: SimulatedSPIBus
  /// What sensors on the radio say.
  let air = Latest(SoilSightings())
  let output: Latest<PlantSensorSnapshot>
  let ring = Ring<PlantProbeReading>(capacity: 64)
  private var loop: PlantSensorLoop
  private var reader: LatestReader<PlantSensorSnapshot>
  private var readings: RingReader<PlantProbeReading>
  private(set) var now = TickInstant.zero
  private(set) var ticks = 0
  private var index: Int64 = 0

  init(_ probes: [PlantProbe], _ settings: PlantProbeSettings = PlantProbeSettings()) {
    seesaws = (0..<4).map { SeesawSoilSimulator(moisture: 500 + 100 * $0, celsius: 20 + Double($0)) }
    for (index, seesaw) in seesaws.enumerated() { bus.attach(seesaw.chip, at: Self.address(index)) }
    bus.attach(converter.chip, at: ADS1115.standardAddress)
    spi = SimulatedSPIBus(mcp.chip)
    output = Latest(PlantSensorSnapshot(probes: probes.count))
    reader = output.reader()
    readings = ring.reader()
    loop = PlantSensorLoop(
      probes: probes, settings: settings, bus: bus.port(), port: spi.port(), air: air.reader(),
      snapshot: output.writer(),
      readings: ring.writer())
  }

  static func address(_ index: Int) -> I2CAddress { I2CAddress(0x36 + UInt8(index))! }
  static func seesaw(_ index: Int) -> PlantProbe { .seesaw(SeesawSoil(address: address(index))) }

  var snapshot: PlantSensorSnapshot { reader.read() }

  func run(until end: TickInstant) {
    while true {
      let period = TickInstant.zero + .seconds(index)
      let deadline = loop.nextDeadline ?? .distantFuture
      let next = min(period, max(deadline, now))
      guard !(end < next) else { break }
      // A loop whose deadline never moves would be released for ever.
      precondition(ticks < 1_000_000, "the loop does not come to rest")
      now = next
      ticks += 1
      let isPeriod = next == period
      loop.tick(
        Tick(index: index, cause: isPeriod ? .period : .deadline, scheduled: next, started: next))
      if isPeriod { index += 1 }
    }
    now = end
  }

  func run(seconds: Double) { run(until: TickInstant.zero + .seconds(seconds)) }

  func take() -> [String] {
    var texts: [String] = []
    while let reading = readings.pop() {
      switch reading.result {
      case .sample(let sample, let celsius):
        texts.append("\(reading.probe): \(sample)" + (celsius.map { " \($0) °C" } ?? ""))
      case .failed(let failure): texts.append("\(reading.probe): \(failure)")
      }
    }
    return texts
  }
}
