import Foundation
import GRDB
import Plants
import StoreSupport
import Tactus
import TestSupport
import Testing

@testable import PlantsDaemon
@testable import Store

@Suite("Plant store", .ownThread)
struct PlantStoreTests {
  private static let noon = PlantInstant(secondsSince1970: 1_790_000_000)
  private static let sensor = PlantSensorID("0x36")!

  private static func plant(_ number: UInt64, user: String = "6F2A", name: String? = nil) throws -> Plant {
    Plant(
      id: PlantID(number), user: PlantUser(sender: user), name: try PlantName(name ?? "Plant \(number)"),
      sensors: [sensor, PlantSensorID("adc-1")!],
      limits: PlantLimits(dryPercent: nil, wetPercent: 80.5, coldCelsius: -3, hotCelsius: nil),
      lastWatered: number % 2 == 0 ? nil : noon)
  }

  private static func row(
    _ percent: Double, at seconds: Int64 = 0, span: Int64 = 60, celsius: Double? = nil
  ) -> PlantHistoryRow {
    PlantHistoryRow(
      PlantHistorySample(sensor: sensor, at: noon + seconds, moisturePercent: percent, celsius: celsius),
      spanSeconds: span)
  }

  /// What the store must hold, kept in memory.
  private static func make(_ change: PlantChange, in records: inout PlantRecords) {
    switch change {
    case .plant(let plant):
      records.plants.removeAll { $0.id == plant.id }
      records.plants.append(plant)
      records.plants.sort { $0.id < $1.id }
    case .plantRemoved(let id):
      records.plants.removeAll { $0.id == id }
      records.waterings[id] = nil
    case .nextPlant(let next): records.nextPlant = next
    case .calibration(let sensor, let calibration): records.calibrations[sensor] = calibration
    case .watering(let id, let record): records.waterings[id] = record
    case .fileCalibrations(let all): records.fileCalibrations = all
    case .everything(let all):
      let next = max(records.nextPlant, all.nextPlant)
      records = all
      records.nextPlant = next
    }
  }

  private static func change(_ random: inout SplitMix64) throws -> PlantChange {
    let number = UInt64.random(in: 1...9, using: &random)
    switch Int.random(in: 0..<12, using: &random) {
    case 0...4:
      let users = ["6F2A", "../../etc/passwd", "ä; DROP TABLE plants_plant", "#00", ""]
      return .plant(
        try plant(
          number, user: users.randomElement(using: &random)!,
          name: ["Mint", "Ölbaum 🌱", "a%b"].randomElement(using: &random)))
    case 5: return .plantRemoved(PlantID(number))
    case 6: return .nextPlant(.random(in: 1...1_000, using: &random))
    case 7...8:
      let points = try PlantCalibration(dry: Double(number) / 3, wet: -1e6)
      return .calibration(sensor, Bool.random(using: &random) ? points : nil)
    case 9...10:
      return .watering(
        PlantID(number), PlantWateringRecord(last: noon + Int64(number), count: Int(number), day: -Int(number)))
    default:
      var records = PlantRecords()
      records.plants = [try plant(number)]
      records.nextPlant = .random(in: 1...20, using: &random)
      records.calibrations[sensor] = .seesaw
      return .everything(records)
    }
  }

  @Test("200 random lists of changes, reopened now and then: records are those of a model", arguments: [1, 2])
  func roundTrip(seed: UInt64) throws {
    let folder = try StoreFolder()
    var random = SplitMix64(seed: seed)
    var model = PlantRecords()
    for _ in 0..<20 {
      let (file, report) = try folder.open()
      #expect(!report.isLoss, "seed \(seed): \(report.lines)")
      let store = PlantStore(file)
      for _ in 0..<10 {
        let list = try (0..<Int.random(in: 1...5, using: &random)).map { _ in try Self.change(&random) }
        try store.apply(list)
        for change in list { Self.make(change, in: &model) }
        #expect(try store.records() == model, "seed \(seed), after \(list)")
      }
      try file.close()
    }
  }

  @Test("pictures: one a day, newest first, the oldest go by number and by bytes, the newest stays")
  func pictures() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PlantStore(file)
    for day in [3, 1, 2, 2] {
      try store.keep([UInt8](repeating: UInt8(day), count: 1_000 * day), day: day, at: Int64(day) * 86_400)
    }
    #expect(try store.pictures(before: .max, limit: 10).map(\.day) == [3, 2, 1])
    #expect(try store.pictures(before: 3, limit: 1).map(\.length) == [2_000])
    #expect(try store.pictures(before: .max, limit: 1).map(\.date) == ["1970-01-04"])
    #expect(try store.picture(of: 2) == [UInt8](repeating: 2, count: 2_000))
    #expect(try store.picture(of: 4) == nil)
    #expect(try store.hasPicture(of: 1) && !store.hasPicture(of: 0))
    try store.prunePictures(count: 10, bytes: 5_999)
    #expect(try store.pictures(before: .max, limit: 10).map(\.day) == [3, 2])
    try store.prunePictures(count: 1, bytes: 10_000)
    #expect(try store.pictures(before: .max, limit: 10).map(\.day) == [3])
    try store.prunePictures(count: 1, bytes: 1)
    #expect(try store.hasPicture(of: 3))
    // A clock that was wrong has made one of a day to come, which would be the newest for ever.
    try store.keep([1], day: 40_000, at: 40_000 * 86_400)
    try store.prunePictures(after: 4)
    #expect(try store.pictures(before: .max, limit: 10).map(\.day) == [3])
    try file.close()
  }

  @Test("a file as plants.1 left it: opened, every plant, reading and line as they were written")
  func fixture() throws {
    let folder = try StoreFolder()
    try folder.put(fixture: "plants-1.sql")
    let (file, report) = try folder.open()
    #expect(report.origin == .found && !report.isLoss, "\(report.lines)")
    #expect(
      report.migrated == [
        "sprinkler.1", "sprinkler.2", "sprinkler.3", "sprinkler.4", "plants.2", "pump.1", "pump.2", "pump.3", "pump.4",
      ])
    let store = PlantStore(file)
    let (records, rows, events) = try Self.fixtureContents
    #expect(try store.records() == records)
    for span: Int64 in [60, 900, 21_600] {
      let kept = try store.readings(
        of: Self.sensor, spanSeconds: span, from: Self.noon - 86_400, until: Self.noon + 86_400)
      #expect(kept == rows.filter { $0.spanSeconds == span }, "\(span)")
    }
    #expect(try store.events() == events.reversed())
    try file.close()
  }

  /// What `fixtures/plants-1.sql` holds: `sqlite3 STORE .dump` of a store of `plants.1` alone to which these were given.
  private static var fixtureContents: (PlantRecords, [PlantHistoryRow], [PlantLogLine]) {
    get throws {
      var records = PlantRecords()
      records.plants = [
        Plant(
          id: PlantID(1), user: PlantUser(sender: "6F2A-iPhone"), name: try PlantName("Basil"), sensors: [sensor],
          limits: PlantLimits(dryPercent: 25.5, wetPercent: 90, coldCelsius: -3, hotCelsius: 38.5), lastWatered: noon),
        Plant(
          id: PlantID(3), user: PlantUser(sender: "../../etc/passwd"), name: try PlantName("Ölbaum 🌱"),
          sensors: [sensor, PlantSensorID("spi-0")!], limits: PlantLimits(dryPercent: nil)),
      ]
      records.nextPlant = 8
      records.calibrations = [sensor: .seesaw, PlantSensorID("spi-0")!: try PlantCalibration(dry: 812.25, wet: 340)]
      records.waterings = [PlantID(3): PlantWateringRecord(last: noon - 60, count: 2, day: 20_717)]
      let rows = [
        row(10, celsius: 20.5), row(40, at: 60), row(70.125, span: 900, celsius: -1), row(33, span: 21_600),
      ]
      let events = PlantLogLine.Kind.allCases.filter { $0 != .calibrated }.enumerated().map { number, kind in
        PlantLogLine(
          at: noon + Int64(number), plant: PlantID(3), plantName: "Ölbaum 🌱", kind, detail: "zone 2: \"\(number)\"")
      }
      return (records, rows, events)
    }
  }

  @Test("whatever a sender calls itself: a value in a row, and no file but the store's own")
  func names() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PlantStore(file)
    for (number, name) in ["../../x", "/etc/passwd", "..", "a/b", "~root", "nul\0l"].enumerated() {
      try store.apply([.plant(try Self.plant(UInt64(number + 1), user: name))])
    }
    #expect(try store.records().plants.allSatisfy { $0.user.key.hasPrefix("#") })
    try file.close()
    #expect(try folder.names().allSatisfy { $0.hasPrefix("store.sqlite") })
    #expect(try folder.names(".").sorted() == ["data"])
  }

  @Test(
    "readings: a row of the same span is merged, whenever it comes; the newest of many; each span forgotten by its age")
  func readings() throws {
    let folder = try StoreFolder()
    var (file, _) = try folder.open()
    try PlantStore(file).add([
      Self.row(10, celsius: 20), Self.row(40, at: 5), Self.row(70, at: 60), Self.row(10, span: 900),
    ])
    try file.close()
    file = try folder.open().file
    let store = PlantStore(file)
    try store.add([Self.row(40, at: 30, celsius: 26)])
    let start = PlantHistoryRow(
      PlantHistorySample(sensor: Self.sensor, at: Self.noon, moisturePercent: 0), spanSeconds: 60
    ).start
    let rows = try store.readings(of: Self.sensor, spanSeconds: 60, from: start, until: start + 3_600)
    #expect(rows.map(\.start) == [start, start + 60])
    #expect(
      rows[0].count == 3 && rows[0].meanPercent == 30 && rows[0].leastPercent == 10 && rows[0].greatestPercent == 40)
    #expect(rows[0].celsiusCount == 2 && rows[0].meanCelsius == 23 && rows[1].meanCelsius == nil)
    #expect(
      try store.readings(of: Self.sensor, spanSeconds: 60, from: start, until: start + 3_600, limit: 1).map(\.start)
        == [start + 60])
    #expect(try store.readings(of: Self.sensor, spanSeconds: 60, from: start + 1, until: start + 60).isEmpty)
    #expect(try store.readings(of: PlantSensorID("0x37")!, spanSeconds: 60, from: start, until: start + 60).isEmpty)
    try store.pruneBeyond(readings: [(60, 2), (900, 1)], events: 5)
    #expect(try store.readings(of: Self.sensor, spanSeconds: 60, from: start, until: start + 3_600).count == 2)
    #expect(try store.pruneReadings([(60, start + 60), (900, start - 1_000)]) == 1)
    #expect(try store.readings(of: Self.sensor, spanSeconds: 60, from: start, until: start + 3_600).count == 1)
    #expect(try store.readings(of: Self.sensor, spanSeconds: 900, from: start - 900, until: start + 900).count == 1)
    try file.close()
  }

  @Test("events: newest first, of one plant, so many; gone with their plant and by their age")
  func events() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PlantStore(file)
    let lines = (0..<6).map { number in
      PlantLogLine(
        at: Self.noon + Int64(number), plant: PlantID(UInt64(number % 2 + 1)), plantName: "P;\(number)",
        PlantLogLine.Kind.allCases[number % 5], detail: "zone 2, \(number) s")
    }
    try store.add(lines)
    // The same once more is the same.
    try store.add([lines[3]])
    #expect(try store.events() == lines.reversed())
    #expect(try store.events(of: PlantID(1), limit: 2) == [lines[4], lines[2]])
    try store.pruneBeyond(readings: [], events: 5)
    #expect(try store.events() == lines.dropFirst().reversed())
    #expect(try store.pruneEvents(before: Self.noon + 2) == 1)
    try store.apply([.plantRemoved(PlantID(1))])
    #expect(try store.events() == [lines[5], lines[3]])
    try file.close()
  }

  @Test("a digit of a reading changed behind the store's back: seen when it is opened, the snapshot takes its place")
  func seal() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    try PlantStore(file).add([Self.row(10)])
    try file.snapshot(at: StoreFolder.noon)
    try file.close()
    let queue = try DatabaseQueue(path: folder.store)
    try queue.write { try $0.execute(sql: "UPDATE plants_reading SET mean = 11") }
    try queue.close()
    let (reopened, report) = try folder.open()
    #expect(report.isLoss && report.lines.contains { $0.contains("plants_reading") }, "\(report.lines)")
    let rows = try PlantStore(reopened).readings(
      of: Self.sensor, spanSeconds: 60, from: Self.noon - 60, until: Self.noon + 60)
    #expect(rows.map(\.meanPercent) == [10])
    try reopened.close()
  }

  @Test(
    "restored: the backup's plants and calibrations, both's readings; what links asked for stays, numbers never go back"
  )
  func restore() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PlantStore(file)
    let (one, two) = (try Self.plant(1), try Self.plant(2))
    let (early, late) = (
      PlantWateringRecord(last: Self.noon, count: 1, day: 5),
      PlantWateringRecord(last: Self.noon + 60, count: 2, day: 5)
    )
    try store.apply([.plant(one), .nextPlant(2), .watering(one.id, early), .calibration(Self.sensor, .seesaw)])
    try store.add([Self.row(10)])
    let backup = try file.backup()
    #expect(file.restoreCount == 0)
    try store.apply([
      .plant(two), .nextPlant(3), .watering(one.id, late), .watering(two.id, early), .calibration(Self.sensor, nil),
    ])
    try store.add([Self.row(20, at: 60)])
    #expect(try file.restore(try file.check(backup, at: StoreFolder.noon)) { _ in true })
    let records = try store.records()
    #expect(records.plants == [one] && records.nextPlant == 3 && records.calibrations == [Self.sensor: .seesaw])
    #expect(records.waterings == [one.id: late] && file.restoreCount == 1)
    let overtaken = StoreError.restored(file: file.path, doing: "keeping a plant")
    #expect(throws: overtaken) { try store.apply([.plant(two)], after: 0) }
    #expect(try store.records() == records && file.trouble == nil)
    try store.apply([.nextPlant(3)], after: 1)
    let rows = try store.readings(of: Self.sensor, spanSeconds: 60, from: Self.noon - 60, until: Self.noon + 120)
    #expect(rows.map(\.meanPercent) == [10, 20])
    try file.close()
  }

  @Test("a backup whose rows are sealed and make no sense: refused, and what is here stays")
  func nonsense() throws {
    let folder = try StoreFolder()
    let (file, _) = try folder.open()
    let store = PlantStore(file)
    try store.apply([.plant(try Self.plant(1)), .nextPlant(2)])
    func row(_ change: (inout PlantHistoryRow) -> Void) -> PlantHistoryRow {
      var row = Self.row(10)
      change(&row)
      return row
    }
    let writes: [(PlantStore) throws -> Void] =
      [
        row { $0.count = .max }, row { $0.celsiusCount = -1 }, row { $0.start = PlantInstant(secondsSince1970: .min) },
        row { $0.spanSeconds = 0 }, row { $0.meanPercent = .infinity }, row { $0.meanCelsius = -1e300 },
      ].map { row in { try $0.add([row]) } }
      + [{ try $0.apply([.nextPlant(.max)]) }, { try $0.apply([.plant(try Self.plant(.max, name: "Basil"))]) }]
    for (index, write) in writes.enumerated() {
      let place = try StoreFolder()
      defer { withExtendedLifetime(place) {} }
      let (other, _) = try place.open()
      try write(PlantStore(other))
      let backup = try other.backup()
      try other.close()
      #expect(throws: StoreError.self, "\(index)") {
        try file.restore(file.check(backup, at: StoreFolder.noon)) { _ in true }
      }
    }
    let records = try store.records()
    #expect(records.plants == [try Self.plant(1)] && records.nextPlant == 2)
    try file.close()
  }

  @Test("100 kills while plants are written: the file is sound and all that was acknowledged is there, whole")
  func kills() throws {
    let folder = try StoreFolder()
    var random = SplitMix64(seed: 11)
    var acknowledged: UInt64 = 0
    for round in 0..<100 {
      let probe = try ProbeProcess([folder.store, "plants"])
      let target = acknowledged + UInt64.random(in: 0...8, using: &random)
      while acknowledged < target, let line = probe.line() {
        if let number = UInt64(line) { acknowledged = number } else { #expect(!line.contains("lost"), "\(line)") }
      }
      probe.kill()
      while let line = probe.line() { if let number = UInt64(line) { acknowledged = number } }
      let (file, report) = try folder.open()
      let store = PlantStore(file)
      #expect(report.setAside.isEmpty && !report.isLoss, "round \(round): \(report.lines)")
      let records = try store.records()
      let kept = records.nextPlant - 1
      #expect(kept == acknowledged || kept == acknowledged + 1, "round \(round)")
      if kept > 0 {
        #expect(records.plants.map(\.id.number) == [kept], "round \(round)")
        #expect(
          records.waterings == [
            PlantID(kept): PlantWateringRecord(
              last: Self.noon + Int64(kept), count: Int(kept), day: 1)
          ], "round \(round)")
        // Older events are gone with their plants; one more may have been written ahead of its plant.
        #expect(try store.events().contains { $0.plant.number == kept }, "round \(round)")
        let rows = try store.readings(
          of: Self.sensor, spanSeconds: 60, from: Self.noon - 60, until: Self.noon + 10_000_000)
        let count = rows.map(\.count).reduce(0, +)
        #expect(count >= Int(kept), "round \(round)")
      }
      try file.close()
      acknowledged = kept
    }
    #expect(acknowledged > 100)
  }
}
