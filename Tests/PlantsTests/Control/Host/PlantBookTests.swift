import Devices
import Foundation
import Plants
import Testing

@Suite("Plants: the book") struct PlantBookTests {
  static let user = PlantUser(sender: "6F2A")
  var book = PlantBook(sensors: Set(HostBench.sensors))

  func refusal<Result>(_ body: () throws(PlantRefusal) -> Result) -> String? {
    do throws(PlantRefusal) {
      _ = try body()
      return nil
    } catch {
      return "\(error.tag) \(error.field ?? "-")"
    }
  }

  @Test(
    "user: a plain name is its own key; anything else, and whatever could be a path, is a hash",
    arguments: [
      ("6F2A-11.b_c", true), ("", false), (".", false), ("..", false), ("...", false), ("../etc/passwd", false),
      ("a/b", false), ("a b", false), ("é", false), ("a\0b", false), ("#0123456789abcdef", false),
      (String(repeating: "a", count: 64), true), (String(repeating: "a", count: 65), false),
    ])
  func users(sender: String, isPlain: Bool) {
    let user = PlantUser(sender: sender)
    #expect((user.key == sender) == isPlain)
    #expect(PlantUser(key: user.key) == user)
    if !isPlain {
      #expect(user.key.count == 17 && user.key.hasPrefix("#"))
      #expect(PlantUser(key: sender) == nil || sender == "#0123456789abcdef")
    }
  }

  @Test("a name with a letter that is not seen is refused with the letter; one of before is kept")
  func unseenNames() throws {
    var book = book
    #expect(throws: PlantRefusal(.invalidPlantName, field: "name", "expected letters that are seen, got U+202E")) {
      try book.apply(.add(name: "Ba\u{202E}sil", sensors: ["0x36"]), for: Self.user)
    }
    var records = PlantRecords()
    records.plants = [
      Plant(id: PlantID(1), user: Self.user, name: try PlantName("Ba\u{200B}sil"), sensors: [HostBench.sensors[0]])
    ]
    var old = PlantBook(sensors: Set(HostBench.sensors), records: records)
    _ = try old.apply(.edit(name: "Ba\u{200B}sil", PlantEdit(name: "Ba\u{200B}sil")), for: Self.user)
    #expect(old.records.plants[0].name.text == "Ba\u{200B}sil" && old.records.plants[0].name.flaw == "U+200B")
  }

  @Test("changes: what is returned, applied in order, gives the records")
  mutating func changes() throws {
    var kept = PlantRecords()
    func keep(_ changes: [PlantChange]) {
      for change in changes {
        switch change {
        case .plant(let plant):
          if let index = kept.plants.firstIndex(where: { $0.id == plant.id }) {
            kept.plants[index] = plant
          } else {
            kept.plants.append(plant)
          }
        case .plantRemoved(let id): kept.plants.removeAll { $0.id == id }
        case .nextPlant(let number): kept.nextPlant = number
        case .calibration(let sensor, let calibration): kept.calibrations[sensor] = calibration
        case .watering(let id, let watering): kept.waterings[id] = watering
        case .fileCalibrations(let all): kept.fileCalibrations = all
        case .everything(let records): kept = records
        }
      }
    }
    keep(try book.apply(.add(name: "Basil", sensors: ["0x36"]), for: Self.user))
    keep(try book.apply(.add(name: "Mint", sensors: ["0x37"]), for: PlantUser(sender: "other")))
    keep(try book.apply(.edit(name: "Basil", PlantEdit(name: "Rose")), for: Self.user))
    keep(try book.apply(.watered(name: "Rose", at: PlantInstant(secondsSince1970: 5)), for: Self.user))
    keep(try book.calibrate(HostBench.sensors[0], PlantCalibration(dry: 300, wet: 900)))
    keep(book.keep(PlantWateringRecord(last: PlantInstant(secondsSince1970: 9), count: 1, day: 0), of: PlantID(1)))
    keep(book.noteWatered(PlantID(2), at: PlantInstant(secondsSince1970: 7)))
    #expect(kept == book.records)
    // What changes nothing is nothing to store.
    #expect(try book.apply(.edit(name: "Rose", PlantEdit(name: "Rose")), for: Self.user) == [])
    #expect(try book.calibrate(HostBench.sensors[0], PlantCalibration(dry: 300, wet: 900)) == [])
    keep(try book.apply(.delete(name: "Rose"), for: Self.user))
    #expect(kept.plants == book.records.plants)
    #expect(try JSONDecoder().decode(PlantRecords.self, from: JSONEncoder().encode(book.records)) == book.records)
    let text = String(decoding: try JSONEncoder().encode(book.records), as: UTF8.self)
    #expect(text.contains(#""calibrations":{"0x36":{"#) || text.contains(#""calibrations":{}"#))
    #expect(PlantBook(sensors: Set(HostBench.sensors), records: book.records) == book)
  }

  @Test("numbers are given once: a deleted plant's is not used again, not even by a store that forgot the next one")
  mutating func numbers() throws {
    _ = try book.apply(.add(name: "a", sensors: ["0x36"]), for: Self.user)
    _ = try book.apply(.delete(name: "a"), for: Self.user)
    _ = try book.apply(.add(name: "a", sensors: ["0x36"]), for: Self.user)
    #expect(book.records.plants.map(\.id) == [PlantID(2)])
    var records = book.records
    records.nextPlant = 1
    #expect(PlantBook(sensors: [], records: records).records.nextPlant == 3)
  }

  @Test("users: 256 with plants, and no more; one without any makes room")
  mutating func bounded() throws {
    for number in 0..<PlantBookRules().users {
      _ = try book.apply(.add(name: "a", sensors: ["0x36"]), for: PlantUser(sender: "u\(number)"))
    }
    let add = PlantCommand.add(name: "a", sensors: ["0x36"])
    #expect(refusal { () throws(PlantRefusal) in try book.apply(add, for: Self.user) } == "tooManyPlants -")
    _ = try book.apply(.add(name: "b", sensors: ["0x36"]), for: PlantUser(sender: "u0"))
    _ = try book.apply(.delete(name: "a"), for: PlantUser(sender: "u1"))
    _ = try book.apply(add, for: Self.user)
  }

  @Test("user file: read and written as the original host does; added whole or not at all")
  mutating func userFile() throws {
    let text = #"[{"Name": "Basil", "Sensors": "[\"0x36\", \"0x37\"]"}, {"Name": "Mint", "Sensors": "[\"0x38\"]"}]"#
    let file = try #require(PlantUserFile(json: text))
    #expect(file.json == text)
    _ = try book.add(file, for: Self.user)
    #expect(book.plants(of: Self.user).map(\.name.text) == ["Basil", "Mint"])
    let before = book
    let second = PlantUserFile([.init(name: "Rose", sensors: ["0x36"]), .init(name: "Mint", sensors: ["0x36"])])
    #expect(refusal { () throws(PlantRefusal) in try book.add(second, for: Self.user) } == "plantNameTaken name")
    #expect(book == before)
    #expect(PlantUserFile(json: "[1]") == nil)
    #expect(PlantUserFile(json: "[{\"Name\": 1, \"Sensors\": \"x\"}]") == nil)
  }

  @Test("limits: ranges and order, the field named")
  mutating func limits() throws {
    for (limits, field) in [
      (PlantLimits(dryPercent: -1), "dryPercent"), (PlantLimits(dryPercent: .nan), "dryPercent"),
      (PlantLimits(dryPercent: 50, wetPercent: 50), "wetPercent"), (PlantLimits(coldCelsius: -41), "coldCelsius"),
      (PlantLimits(coldCelsius: 20, hotCelsius: 10), "hotCelsius"),
    ] {
      let add = PlantCommand.add(name: "a", sensors: ["0x36"], limits: limits)
      #expect(
        refusal { () throws(PlantRefusal) in try book.apply(add, for: Self.user) } == "invalidPlantSettings \(field)")
    }
    #expect(refusal { () throws(PlantRefusal) in try PlantCalibration(dry: 3, wet: 3) } == "invalidPlantSettings wet")
  }

  @Test(
    "a probe's calibration: a span that noise could make is refused with both values, and a seesaw's the wrong way round",
    arguments: [
      (PlantProbe.ads1115(ADS1115(), channel: 0), 2_157.6, 2_158.75, "got dry 2157.6 and wet 2158.75 mV"),
      (.ads1115(ADS1115(), channel: 0), 2_600, 2_500.1, "at least 100 mV away"),
      (.ads1115(ADS1115(), channel: 0), 1_100, 2_600, nil), (.ads1115(ADS1115(), channel: 0), 2_600, 2_500, nil),
      (.mcp3008(channel: 1), 700, 670, "at least 31 counts away"), (.mcp3008(channel: 1), 700, 669, nil),
      (.seesaw(SeesawSoil()), 320, 419, "at least 100 counts above"), (.seesaw(SeesawSoil()), 320, 420, nil),
      (.seesaw(SeesawSoil()), 1_015, 320, "a seesaw probe counts more in wet soil"),
      (.seesaw(SeesawSoil()), .nan, 320, "expected wet at least"),
      (.mcp3008(channel: 1), 1, .infinity, "two different numbers"),
    ] as [(PlantProbe, Double, Double, String?)])
  func spans(probe: PlantProbe, dry: Double, wet: Double, refusal: String?) {
    do {
      let points = try probe.calibration(dry: dry, wet: wet)
      #expect(refusal == nil && points.dry == dry && points.wet == wet)
    } catch {
      #expect(error.field == "wet" && refusal.map { error.message.contains($0) } == true, "\(error.message)")
    }
  }

  @Test("calibration: linear between two points, clamped, either way round; the original scale, half to even")
  func calibration() throws {
    let inverted = try PlantCalibration(dry: 20_000, wet: 10_000)
    #expect(inverted.percent(15_000) == 50)
    #expect(inverted.percent(25_000) == 0)
    #expect(inverted.percent(0) == 100)
    #expect(inverted.percent(.nan) == 0)
    #expect(PlantCalibration.seesaw.percent(200) == 0)
    #expect(PlantCalibration.seesaw.percent(2000) == 100)
    // Python: round((335 - 300) * 10 / 700) == 0, round((405 - 300) * 10 / 700) == 2.
    #expect([230.0, 335, 405, 650, 1000, 1980].map(PlantCalibration.originalScale) == [0, 0, 2, 5, 10, 10])
  }
}
