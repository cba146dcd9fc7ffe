import Foundation
import Plants
import Sprinkler
import StoreSupport
import TestSupport
import Testing
import WallTime

@testable import PlantsDaemon
@testable import SprinklerDaemon
@testable import Store

@Suite("Backup and restore in parts", .ownThread)
struct BackupPartsTests {
  /// A whole minute, at which a reading begins.
  private static let noon = WallInstant(secondsSince1970: 1_790_000_040)
  private static let sensor = PlantSensorID("0x36")!
  let folder: StoreFolder
  let file: StoreFile
  let sprinkler: SprinklerStore
  let plants: PlantStore

  init() throws {
    folder = try StoreFolder()
    file = try folder.open().file
    (sprinkler, plants) = (SprinklerStore(file), PlantStore(file))
    try sprinkler.apply([.zones([Zone(id: ZoneID(index: 0), name: "Lawn", gpioPin: 17)])])
    try add(plant: 1, "Basil")
    try plants.add([Self.reading(at: 0)])
  }

  private func add(plant number: UInt64, _ name: String) throws {
    let plant = Plant(
      id: PlantID(number), user: PlantUser(sender: "6F2A"), name: try PlantName(name), sensors: [Self.sensor])
    try plants.apply([.plant(plant), .nextPlant(number + 1)])
  }

  private static func reading(at seconds: Int64) -> PlantHistoryRow {
    PlantHistoryRow(
      PlantHistorySample(
        sensor: sensor, at: PlantInstant(secondsSince1970: noon.secondsSince1970 + seconds), moisturePercent: 40,
        celsius: nil), spanSeconds: 60)
  }

  private func zoneNames() throws -> [String] { try sprinkler.records().zones.map(\.name) }
  private func plantNames() throws -> [String] { try plants.records().plants.map(\.name.text) }
  private func rename(_ name: String) throws {
    try sprinkler.apply([.zones([Zone(id: ZoneID(index: 0), name: name, gpioPin: 17)])])
  }

  /// Restores as a running daemon does.
  private func restore(_ backup: CheckedBackup) throws {
    guard backup.parts.contains("sprinkler") else {
      #expect(try file.restore(backup) { _ in true })
      return
    }
    try sprinkler.restore(backup)
  }

  @Test("a backup with its contents: what is in these bytes, and nothing is left behind")
  func contents() throws {
    let backup = try file.backupWithContents()
    let held = try file.held()
    #expect(backup.contents == held && held.map(\.name).contains("plants"))
    let left = try FileManager.default.contentsOfDirectory(atPath: file.shelf.folder)
    #expect(!left.contains { $0.hasPrefix("unfinished") })
    _ = try file.check(backup.bytes, at: Self.noon)
  }

  @Test("a backup of the sprinkler's part: nothing of the plants is in it, and its restore leaves the plants alone")
  func part() throws {
    let bytes = try file.backup(parts: ["sprinkler"])
    #expect(bytes.firstRange(of: Array("Basil".utf8)) == nil && bytes.firstRange(of: Array("Lawn".utf8)) != nil)
    #expect(try file.backup().firstRange(of: Array("Basil".utf8)) != nil)
    try rename("Beds")
    try add(plant: 2, "Mint")
    let backup = try file.check(bytes, at: Self.noon)
    #expect(backup.parts == ["sprinkler"])
    try restore(backup)
    #expect(try zoneNames() == ["Lawn"] && plantNames() == ["Basil", "Mint"])
    #expect(
      throws: StoreError.lacksPart(file: "the backup", part: "plants", held: ["sprinkler"])
    ) { try file.check(bytes, parts: ["plants", "sprinkler"], at: Self.noon) }
    // As the store of a daemon that is stopped takes it.
    try rename("Beds")
    try file.replace(with: try file.check(bytes, at: Self.noon))
    #expect(try zoneNames() == ["Lawn"] && plantNames() == ["Basil", "Mint"])
  }

  @Test("a whole backup, as every daemon has made it, restored in part: the other parts stay")
  func partOfWhole() throws {
    let bytes = try file.backup()
    try rename("Beds")
    try add(plant: 2, "Mint")
    try restore(try file.check(bytes, parts: ["sprinkler"], at: Self.noon))
    #expect(try zoneNames() == ["Lawn"] && plantNames() == ["Basil", "Mint"])
    try rename("Beds")
    try restore(try file.check(bytes, parts: ["plants"], at: Self.noon))
    #expect(try zoneNames() == ["Beds"] && plantNames() == ["Basil"])
    try add(plant: 2, "Mint")
    try restore(try file.check(bytes, at: Self.noon))
    #expect(try zoneNames() == ["Lawn"] && plantNames() == ["Basil"])
  }

  @Test("a backup of before there were plants: restored whole, the plants stay")
  func older() throws {
    let old = try StoreFolder()
    try old.put(fixture: "sprinkler-1.sql")
    let backup = try file.check(try old.bytes(old.store), at: Self.noon)
    #expect(backup.parts == ["sprinkler"])
    try restore(backup)
    #expect(try plantNames() == ["Basil"] && zoneNames() == MigrationTests.fixtureContents.0.zones.map(\.name))
  }

  @Test(
    "looked into: what would be lost, overwritten and added, with dates, by the way it is restored; nothing changes")
  func looked() throws {
    let bytes = try file.backup()
    try rename("Beds")
    try add(plant: 2, "Mint")
    try plants.apply([.plantRemoved(PlantID(1))])
    try plants.add([Self.reading(at: 600)])
    func rows(_ name: String, isWhole: Bool) throws -> ChangedRows {
      let parts = try file.inspect(bytes, isWhole: isWhole, at: Self.noon)
      return try #require(parts.flatMap { $0.contents ?? [] }.first { $0.now.rows == name })
    }
    func numbers(_ rows: ChangedRows) -> [Int] {
      [rows.now.count, rows.backup.count, rows.lost, rows.overwritten, rows.added]
    }
    #expect(try numbers(rows("zones", isWhole: false)) == [1, 1, 0, 1, 0])
    #expect(try numbers(rows("plants", isWhole: false)) == [1, 1, 1, 0, 1])
    // A running daemon joins them, a stopped one's are replaced.
    #expect(try numbers(rows("readings", isWhole: false)) == [2, 1, 0, 0, 0])
    let readings = try rows("readings", isWhole: true)
    #expect(numbers(readings) == [2, 1, 1, 0, 0])
    #expect(readings.now.newest == Self.noon + 600 && readings.backup.newest == Self.noon)
    #expect(try rows("plants", isWhole: false).now.newest == nil)
    let part = try file.inspect(try file.backup(parts: ["pump"]), isWhole: false, at: Self.noon)
    #expect(
      part.map(\.name) == ["sprinkler", "plants", "pump"] && part.map { $0.contents == nil } == [true, true, false])
    #expect(try zoneNames() == ["Beds"] && plantNames() == ["Mint"] && file.restoreCount == 0)
    #expect(try file.replaced().isEmpty && file.snapshots().isEmpty)
  }

  @Test("what the store and a backup hold: parts, kinds of rows, numbers, dates")
  func held() throws {
    func texts(_ parts: [HeldPart]) -> [String] {
      parts.flatMap { part in part.contents.map { "\(part.name) \($0.rows) \($0.count)" } }
    }
    let all = try file.held()
    #expect(
      texts(all) == [
        "sprinkler zones 1", "sprinkler schedules 0", "sprinkler lines of the watering log 0",
        "plants plants 1", "plants calibrations 0", "plants readings 1", "plants events 0", "plants pictures 0",
        "pump sessions 0", "pump minutes of readings 0",
      ])
    #expect(all[1].contents[2].newest == Self.noon)
    let path = folder.path + "/plants.sqlite"
    try folder.put(try file.backup(parts: ["plants"]), in: path)
    #expect(try StoreFile.held(inBackup: path, systems: StoreSystem.all) == [all[1]])
    // One of an older format has no table of pictures.
    let old = try StoreFolder()
    defer { withExtendedLifetime(old) {} }
    try old.put(fixture: "plants-1.sql")
    let names = try StoreFile.held(inBackup: old.store, systems: StoreSystem.all).map(\.name)
    #expect(names.contains("plants") && !names.contains("pump"))
  }

  @Test("undone: what the restore replaced is back, and what has changed since in other parts stays; undone again, too")
  func undone() throws {
    let bytes = try file.backup()
    try rename("Beds")
    #expect(try file.checkReplaced(at: Self.noon) == nil)
    try restore(try file.check(bytes, parts: ["sprinkler"], at: Self.noon + 5))
    #expect(try zoneNames() == ["Lawn"] && file.replaced().map(\.made) == [Self.noon + 5])
    try add(plant: 2, "Mint")
    let replaced = try #require(try file.checkReplaced(at: Self.noon + 6))
    #expect(replaced.parts == ["sprinkler"])
    try restore(replaced)
    #expect(try zoneNames() == ["Beds"] && plantNames() == ["Basil", "Mint"])
    try restore(try #require(try file.checkReplaced(at: Self.noon + 7)))
    #expect(try zoneNames() == ["Lawn"] && plantNames() == ["Basil", "Mint"])
    // In the store of a daemon that is stopped, after another start.
    try file.close()
    let (again, _) = try folder.open()
    try again.replace(with: try #require(try again.checkReplaced(at: Self.noon + 8)))
    #expect(try SprinklerStore(again).records().zones.map(\.name) == ["Beds"])
    try again.close()
  }

  @Test(
    "what was replaced is kept five times, beside the store; a restore that fails keeps nothing and removes nothing")
  func bounded() throws {
    let bytes = try file.backup()
    for second in 1...6 { try restore(try file.check(bytes, at: Self.noon + Int64(second))) }
    let kept = try file.replaced()
    #expect(kept.map(\.number) == [2, 3, 4, 5, 6])
    #expect(kept.allSatisfy { $0.path.hasPrefix(folder.store + ".replaced/") })
    for _ in 0..<3 { #expect(try !sprinkler.restore(try file.check(bytes, at: Self.noon + 9)) { _ in nil }) }
    #expect(throws: StoreError.self) {
      try file.restore(try file.check(bytes, at: Self.noon + 9)) { _ in
        throw StoreError.damaged(file: "the backup", reason: "as a desk finds")
      }
    }
    #expect(try file.replaced() == kept)
    #expect(try folder.names("data/store.sqlite.replaced").allSatisfy { $0.hasSuffix(".sqlite") })
    // Of a process that was killed.
    try folder.put([1], in: folder.store + ".replaced/unfinished-7")
    try file.close()
    try folder.open().file.close()
    #expect(try folder.names("data/store.sqlite.replaced").allSatisfy { $0.hasSuffix(".sqlite") })
  }

  @Test("a list of parts: an unknown one is refused with those that there are")
  func names() throws {
    #expect(try file.parts(in: "plants,sprinkler") == ["plants", "sprinkler"])
    for (list, got) in [
      ("zones", "\"zones\""), ("plants, pump", "\" pump\""), ("", "an empty name"), ("pump,", "an empty name"),
    ] {
      let refusal = #expect(throws: PartRefusal.self) { try file.parts(in: list) }
      #expect(refusal?.expected == "parts of the store with commas between them, of plants, pump, sprinkler")
      #expect(refusal?.got == got)
    }
  }

  @Test("a plant's name of before the rule for names: restored as it is")
  func oldName() throws {
    let other = try StoreFolder()
    defer { withExtendedLifetime(other) {} }
    let (old, _) = try other.open()
    let plant = Plant(
      id: PlantID(1), user: PlantUser(sender: "6F2A"), name: try PlantName("Ba\u{202E}sil"), sensors: [Self.sensor])
    try PlantStore(old).apply([.plant(plant), .nextPlant(2)])
    try restore(try file.check(try old.backup(parts: ["plants"]), at: Self.noon))
    #expect(try plants.records().plants == [plant])
  }
}
