import Devices
import Plants
import Tactus
import Testing

@Suite("Plants: conditions and alerts") struct PlantMonitorTests {
  /// Probes 0 and 1 are seesaws, 2 a capacitive probe on a converter.
  struct Bench {
    static let user = PlantUser(sender: "6F2A")
    static let sensors = [
      PlantMonitor.Sensor(PlantSensorID("0x36")!, SensorBench.seesaw(0)),
      PlantMonitor.Sensor(PlantSensorID("0x37")!, SensorBench.seesaw(1)),
      PlantMonitor.Sensor(PlantSensorID("adc-2")!, .ads1115(ADS1115(), channel: 2)),
    ]
    var book = PlantBook(sensors: Set(sensors.map(\.id)))
    var monitor = PlantMonitor(sensors: sensors, at: .zero)
    var now = TickInstant.zero
    var events: [PlantEvent] = []
    var changes: [PlantChange] = []

    init(_ sensors: [String] = ["0x36"], limits: PlantLimits = PlantLimits()) throws {
      _ = try book.apply(.add(name: "Basil", sensors: sensors, limits: limits), for: Self.user)
    }

    var condition: PlantCondition { monitor.conditions[PlantID(1)]! }
    var wall: PlantInstant { PlantInstant(secondsSince1970: 1_000_000 + now.nanoseconds / 1_000_000_000) }

    /// A seesaw's moisture in percent.
    mutating func read(_ probe: Int = 0, percent: Double, celsius: Double? = 21, at seconds: Double) {
      now = .zero + .seconds(seconds)
      let sample = probe == 2 ? Int64(2_600_000 - 15_000 * percent) : Int64((200 + 18 * percent).rounded())
      let reading = PlantProbeReading(probe: probe, at: now, .sample(sample, celsius: celsius))
      step(.reading(reading))
    }

    mutating func step(_ event: PlantMonitor.Event) {
      let action = monitor.step(event, book: &book, at: now, wall: wall)
      events += action.events
      changes += action.changes
    }

    mutating func review(at seconds: Double) {
      now = .zero + .seconds(seconds)
      step(.review)
    }

    mutating func takeEvents() -> [PlantEvent] {
      defer { events = [] }
      return events
    }
  }

  static let plant = PlantID(1)

  @Test("dry: raised below the limit, cleared five points above it, and not in between")
  func dry() throws {
    var bench = try Bench(limits: PlantLimits(dryPercent: 30))
    for (percent, isDry) in [(30.0, false), (29, true), (31, true), (34, true), (35, false), (31, false), (29, true)] {
      bench.read(percent: percent, at: bench.now.nanoseconds == 0 ? 1 : Double(bench.now.nanoseconds) / 1e9 + 10)
      #expect(bench.condition.alerts.contains(.dry) == isDry, "\(percent) %")
    }
    #expect(
      bench.takeEvents() == [
        .raised(Self.plant, .dry), .cleared(Self.plant, .dry), .raised(Self.plant, .dry),
      ])
  }

  @Test("after a start: judged when each of its probes has been read or is silent, not by the first of several")
  func firstReading() throws {
    var bench = try Bench(["0x36", "0x37"], limits: PlantLimits(dryPercent: 30))
    bench.read(0, percent: 20, at: 1)
    #expect(bench.condition.moisturePercent == 20 && bench.condition.alerts.isEmpty)
    bench.read(1, percent: 50, at: 1.1)
    #expect(bench.condition.moisturePercent == 35 && bench.takeEvents().isEmpty)

    var half = try Bench(["0x36", "0x37"], limits: PlantLimits(dryPercent: 30))
    for second in [1.0, 119] { half.read(0, percent: 20, at: second) }
    #expect(half.condition.alerts.isEmpty)
    half.review(at: 120)
    #expect(half.condition.alerts == [.dry, .silent])
  }

  @Test("a reading that trembles about the limit: one alert")
  func trembling() throws {
    var bench = try Bench(limits: PlantLimits(dryPercent: 30))
    for second in 1...200 { bench.read(percent: second % 2 == 0 ? 29 : 33, at: Double(second) * 10) }
    #expect(bench.takeEvents() == [.raised(Self.plant, .dry)])
  }

  @Test("limits at the ends of the scale can be cleared; wet, cold and hot have their bands")
  func bands() throws {
    var bench = try Bench(limits: PlantLimits(dryPercent: 97, coldCelsius: 10, hotCelsius: 30))
    bench.read(percent: 96, celsius: 9.5, at: 1)
    #expect(bench.condition.alerts == [.dry, .cold])
    bench.read(percent: 100, celsius: 10.9, at: 11)
    #expect(bench.condition.alerts == [.cold])
    bench.read(percent: 100, celsius: 30.5, at: 21)
    #expect(bench.condition.alerts == [.hot])
    bench.read(percent: 100, celsius: 29, at: 31)
    #expect(bench.condition.alerts == [])
    var wet = try Bench(limits: PlantLimits(dryPercent: nil, wetPercent: 3))
    wet.read(percent: 4, at: 1)
    #expect(wet.condition.alerts == [.wet])
    wet.read(percent: 0, at: 11)
    #expect(wet.condition.alerts == [])
  }

  @Test(
    "silent: by the time of the last read and not by its change; no other alert without a reading; back, it is judged anew"
  )
  func silent() throws {
    var bench = try Bench(limits: PlantLimits(dryPercent: 30))
    #expect(bench.monitor.nextDeadline(at: .zero) == .zero + .seconds(120))
    for second in stride(from: 10.0, through: 1_000, by: 10) { bench.read(percent: 20, at: second) }
    #expect(bench.condition.alerts == [.dry])
    _ = bench.takeEvents()
    bench.now = .zero + .seconds(1_010)
    bench.step(.reading(PlantProbeReading(probe: 0, at: bench.now, .failed(.noAnswer))))
    #expect(bench.condition.alerts == [.dry])
    #expect(bench.monitor.nextDeadline(at: bench.now) == .zero + .seconds(1_120))
    bench.review(at: 1_119.999)
    #expect(bench.takeEvents() == [])
    bench.review(at: 1_120)
    #expect(bench.takeEvents() == [.raised(Self.plant, .silent), .cleared(Self.plant, .dry)])
    #expect(bench.condition.moisturePercent == nil)
    bench.read(percent: 20, at: 1_130)
    #expect(bench.takeEvents() == [.raised(Self.plant, .dry), .cleared(Self.plant, .silent)])
  }

  @Test(
    "what no soil is: unknown at once, its alerts stay as they are until it is silent; the next reading counts again")
  func impossible() throws {
    var bench = try Bench(limits: PlantLimits(dryPercent: 30))
    let sensor = PlantSensorID("0x36")!
    bench.read(percent: 20, at: 10)
    #expect(bench.takeEvents() == [.raised(Self.plant, .dry)])
    bench.now = .zero + .seconds(20)
    bench.step(.reading(PlantProbeReading(probe: 0, at: bench.now, .failed(.notAMeasurement))))
    #expect(bench.condition.moisturePercent == nil && bench.condition.celsius == nil && bench.condition.isDoubtful)
    #expect(bench.condition.alerts == [.dry] && bench.monitor.impossible == [sensor])
    #expect(bench.monitor.measured.isEmpty && bench.monitor.readings[sensor]?.moisturePercent == 20)
    bench.read(percent: 20, at: 30)
    #expect(bench.condition.moisturePercent == 20 && !bench.condition.isDoubtful && bench.takeEvents().isEmpty)
    // A probe without its plate counts nothing.
    bench.now = .zero + .seconds(40)
    bench.step(.reading(PlantProbeReading(probe: 0, at: bench.now, .sample(0, celsius: 21))))
    #expect(bench.condition.moisturePercent == nil && bench.takeEvents().isEmpty)
    bench.review(at: 149.9)
    #expect(bench.takeEvents().isEmpty)
    bench.review(at: 150)
    #expect(bench.takeEvents() == [.raised(Self.plant, .silent), .cleared(Self.plant, .dry)])
    bench.read(percent: 50, at: 160)
    #expect(bench.condition.alerts.isEmpty && bench.condition.moisturePercent == 50)
  }

  @Test("a converter's input at an end: no soil, unless the probe's calibration reaches as far; the other probes count")
  func atAnEnd() throws {
    var bench = try Bench(["0x36", "adc-2"], limits: PlantLimits(dryPercent: 30))
    bench.read(0, percent: 60, at: 1)
    for microvolts in [3_300_000, 0, -125] as [Int64] {
      bench.read(2, percent: 20, celsius: nil, at: 2)
      #expect(bench.condition.moisturePercent == 40)
      bench.step(.reading(PlantProbeReading(probe: 2, at: bench.now, .sample(microvolts, celsius: nil))))
      #expect(bench.condition.moisturePercent == 60 && bench.condition.isDoubtful, "\(microvolts) µV")
    }
    #expect(bench.takeEvents().isEmpty, "neither dry at once nor watered")
    let spi = PlantProbe.mcp3008(channel: 0)
    #expect([0, 2, 1_021, 1_023].allSatisfy { !spi.canBeSoil($0, .capacitiveCounts) })
    #expect([3, 341, 807, 1_020].allSatisfy { spi.canBeSoil($0, .capacitiveCounts) })
    let resistive = try PlantCalibration(dry: 1_023, wet: 400)
    #expect(spi.canBeSoil(1_023, resistive), "a resistive probe in dry soil")
  }

  @Test("proof: what no soil is proves nothing")
  func doubtfulProof() throws {
    var bench = try Bench(["0x36", "0x37"], limits: PlantLimits(dryPercent: 30))
    bench.read(1, percent: 80, at: 1)
    bench.read(0, percent: 10, at: 2)
    bench.step(.reading(PlantProbeReading(probe: 1, at: bench.now, .failed(.notAMeasurement))))
    bench.read(0, percent: 80, at: 3)
    #expect(bench.condition.moisturePercent == 80)
    let proved = bench.book[Self.plant]?.proof
    var fresh = try Bench(["0x36", "0x37"], limits: PlantLimits(dryPercent: 30))
    fresh.read(1, percent: 0, at: 1)
    fresh.step(.reading(PlantProbeReading(probe: 1, at: fresh.now, .failed(.notAMeasurement))))
    fresh.read(0, percent: 80, at: 2)
    #expect(fresh.condition.needsConfirmation && fresh.book[Self.plant]?.proof == nil && proved != nil)
  }

  @Test("never read: silent so long after the start")
  func neverRead() throws {
    var bench = try Bench()
    bench.review(at: 119)
    #expect(bench.condition.alerts == [] && bench.condition.moisturePercent == nil)
    bench.review(at: 120)
    #expect(bench.condition.alerts == [.silent])
    #expect(bench.monitor.nextDeadline(at: bench.now) == nil)
  }

  @Test("several sensors: their mean; one of them silent is told, the others still count")
  func several() throws {
    var bench = try Bench(["0x36", "adc-2"], limits: PlantLimits(dryPercent: 30))
    bench.read(0, percent: 20, at: 1)
    bench.read(2, percent: 60, celsius: nil, at: 2)
    #expect(bench.condition.moisturePercent == 40 && bench.condition.celsius == 21)
    #expect(bench.monitor.readings[PlantSensorID("adc-2")!]!.scale == 6)
    bench.read(0, percent: 20, at: 130)
    #expect(bench.condition.alerts == [.silent, .dry])
  }

  @Test(
    "proof: not dry by every probe, fresh, above a limit, by the calibrations of now; else a confirmation is needed")
  func proof() throws {
    var bench = try Bench(["0x36", "0x37"], limits: PlantLimits(dryPercent: 30))
    func needs() -> Bool { bench.condition.needsConfirmation }
    bench.read(0, percent: 80, at: 1)
    #expect(needs(), "one of two says too little")
    bench.read(1, percent: 0, at: 2)
    #expect(!needs() && bench.condition.moisturePercent == 40)
    bench.read(0, percent: 0, at: 11)
    #expect(bench.condition.alerts == [.dry] && !needs(), "it was seen not dry")
    _ = try bench.book.calibrate(PlantSensorID("0x37")!, PlantCalibration(dry: 200, wet: 1_900))
    bench.review(at: 12)
    #expect(needs())
    bench.read(1, percent: 90, at: 21)
    #expect(bench.condition.alerts.isEmpty && !needs())
    // Other sensors, which say nothing but dry.
    _ = try bench.book.apply(.edit(name: "Basil", PlantEdit(sensors: ["adc-2"])), for: Bench.user)
    bench.read(2, percent: 0, at: 31)
    #expect(bench.condition.alerts == [.dry] && needs())
    // Without a limit it is never dry, which says nothing.
    var edit = PlantEdit()
    edit.dryPercent = .some(nil)
    _ = try bench.book.apply(.edit(name: "Basil", edit), for: Bench.user)
    bench.read(2, percent: 0, at: 41)
    #expect(bench.condition.alerts.isEmpty && needs())
    _ = bench.book.prove(
      Self.plant, by: Bench.sensors.calibrations(of: bench.book[Self.plant]!, in: bench.book.records))
    bench.review(at: 42)
    #expect(!needs())
  }

  @Test("calibration: what was read before says something else at once, which is no watering")
  func recalibratedAtOnce() throws {
    var bench = try Bench(limits: PlantLimits(dryPercent: 30))
    bench.read(percent: 20, at: 1)
    _ = try bench.book.calibrate(PlantSensorID("0x36")!, PlantCalibration(dry: 200, wet: 600))
    bench.review(at: 2)
    #expect(bench.condition.moisturePercent == 90 && bench.condition.alerts == [])
    bench.read(percent: 20, at: 11)
    #expect(bench.book[Self.plant]?.lastWatered == nil)
  }

  @Test("calibration: the next reading is by the new points; a limit that is taken away takes its alert with it")
  func recalibrated() throws {
    var bench = try Bench(limits: PlantLimits(dryPercent: 30))
    bench.read(percent: 20, at: 1)
    #expect(bench.condition.alerts == [.dry])
    _ = try bench.book.calibrate(PlantSensorID("0x36")!, PlantCalibration(dry: 200, wet: 920))
    bench.read(percent: 20, at: 11)
    #expect(bench.condition.moisturePercent == 50 && bench.condition.alerts == [])
    bench.read(percent: 5, at: 21)
    #expect(bench.condition.alerts == [.dry])
    var edit = PlantEdit()
    edit.dryPercent = .some(nil)
    _ = try bench.book.apply(.edit(name: "Basil", edit), for: Bench.user)
    bench.review(at: 22)
    #expect(bench.condition.alerts == [])
  }

  @Test(
    "watering: a rise of ten points within half an hour is noted with every plant of the sensor; water that seeps is the same one"
  )
  func watered() throws {
    var bench = try Bench()
    _ = try bench.book.apply(.add(name: "Mint", sensors: ["0x36"]), for: Bench.user)
    bench.read(percent: 30, at: 0)
    bench.read(percent: 39.9, at: 600)
    #expect(bench.takeEvents() == [])
    bench.read(percent: 40, at: 610)
    #expect(bench.takeEvents() == [.watered(PlantID(1)), .watered(PlantID(2))])
    #expect(bench.book[PlantID(2)]!.lastWatered == PlantInstant(secondsSince1970: 1_000_610))
    // Each was proved before, and is noted as watered now.
    #expect(bench.changes.count == 4)
    for (second, percent) in [(620.0, 55.0), (640, 54), (700, 70)] { bench.read(percent: percent, at: second) }
    #expect(bench.takeEvents() == [])
    bench.read(percent: 40, at: 90_000)
    bench.read(percent: 55, at: 90_010)
    #expect(bench.takeEvents().count == 2)
  }

  @Test("a slow rise is no watering: nine points every half hour")
  func slowRise() {
    var detector = PlantRiseDetector()
    var found = 0
    for minute in 0..<300 where detector.step(Double(minute) * 0.3, at: .zero + .seconds(Int64(minute) * 60)) {
      found += 1
    }
    #expect(found == 0)
  }

  @Test("deleted plant: its condition is gone")
  func deleted() throws {
    var bench = try Bench()
    bench.read(percent: 10, at: 1)
    _ = try bench.book.apply(.delete(name: "Basil"), for: Bench.user)
    bench.review(at: 2)
    #expect(bench.monitor.conditions.isEmpty)
  }
}
