import Sprinkler
import Testing

@Suite("Sprinkler: what a file says of zones that the store has, too") struct SprinklerFileTests {
  private static let lawn = Zone(id: ZoneID(1)!, name: "Lawn", gpioPin: 17)
  private static let beds = Zone(id: ZoneID(2)!, name: "Beds", gpioPin: 27)
  private let last = SprinklerFile(zones: [lawn, beds], seasonalPercent: 100)

  private var records: SprinklerRecords {
    var records = SprinklerRecords()
    records.zones = last.zones
    records.levels.seasonalPercent = 100
    return records
  }

  private func taken(
    _ records: inout SprinklerRecords, _ change: (inout SprinklerFile) -> Void
  ) throws -> (words: [String], changes: [SprinklerChange]) {
    var file = last
    change(&file)
    return try records.merge(file, since: last, pins: [17, 27, 22], masterPin: nil)
  }

  /// What somebody changes of zone 1 in the file.
  struct Change: Sendable, CustomTestStringConvertible {
    let words: String
    let make: @Sendable (inout Zone) -> Void
    var testDescription: String { words }

    init(_ words: String, _ make: @escaping @Sendable (inout Zone) -> Void) { (self.words, self.make) = (words, make) }
  }

  @Test(
    "each property that the file has changed is taken, and nothing else: what people have changed stays",
    arguments: [
      Change("name Lawn → Front") { $0.name = "Front" }, Change("pin 17 → 22") { $0.gpioPin = 22 },
      Change("enabled true → false") { $0.isEnabled = false },
      Change("default seconds 600 → 300") { $0.defaultSeconds = 300 },
      Change("most seconds 7200 → 900") { $0.maximumSeconds = 900 },
      Change("most seconds a day none → 1800") { $0.maximumSecondsPerDay = 1_800 },
      Change("group none → 2") { $0.group = 2 }, Change("ignores rain false → true") { $0.ignoresRain = true },
      Change("uses master true → false") { $0.usesMaster = false },
    ])
  func properties(change: Change) throws {
    var records = records
    records.zones[1].name = "Vegetables"
    let taken = try taken(&records) { change.make(&$0.zones[0]) }
    var expected = last.zones
    change.make(&expected[0])
    expected[1].name = "Vegetables"
    #expect(
      taken.words == ["zone 1: \(change.words)"] && records.zones == expected && taken.changes == [.zones(expected)])
  }

  @Test("nothing has changed in the file: nothing is taken, whatever people have set, even what the file could not say")
  func unchanged() throws {
    var records = records
    records.zones[0].name = "Front"
    records.zones[1].gpioPin = 5
    records.levels.seasonalPercent = 40
    let before = records
    let taken = try taken(&records) { _ in }
    #expect(taken.words.isEmpty && taken.changes.isEmpty && records == before)
  }

  @Test("a zone that is new in the file, one that is gone, the level; one that people removed stays away")
  func lists() throws {
    var records = records
    records.zones.removeAll { $0.id == ZoneID(1)! }
    let taken = try taken(&records) {
      $0.zones = [Self.lawn, Zone(id: ZoneID(3)!, name: "Pots", gpioPin: 22)]
      $0.seasonalPercent = 80
    }
    #expect(taken.words == ["zone 2: Beds is gone", "zone 3: Pots is new", "seasonal level 100 → 80 %"])
    #expect(records.zones.map(\.name) == ["Pots"] && records.levels.seasonalPercent == 80)
  }

  @Test("what cannot be: a pin that another zone has by now, a zone that a schedule waters; nothing at all is taken")
  func refused() throws {
    var records = records
    records.zones[1].gpioPin = 22
    let before = records
    #expect(throws: SprinklerRefusal.self) {
      try taken(&records) {
        $0.zones[0].name = "Front"
        $0.zones[0].gpioPin = 22
      }
    }
    #expect(records == before)
    records = self.records
    records.programs = [
      Program(
        id: 4, name: "Mornings", days: .odd, starts: [.clock(minute: 60)],
        steps: [Program.Step(zone: ZoneID(2)!, seconds: 60)])
    ]
    #expect(
      throws: SprinklerRefusal.invalid(
        field: "zones", expected: "zone 2, which schedule 4 (Mornings) waters", got: "none")
    ) { try taken(&records) { $0.zones.removeLast() } }
  }
}
