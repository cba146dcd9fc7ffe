import DaemonSupport
import Foundation
import Logging
import Store
import Tactus
import TestSupport
import Testing
import WallTime

@testable import Service
@testable import TactusDaemon

@Suite("what is kept over a restart, and tables of a later release", .ownThread)
struct KeepsTests {
  private static let now = WallInstant(secondsSince1970: 1_790_000_000)

  private func open(_ folder: TemporaryFolder, _ systems: [StoreSystem]) throws -> (
    file: StoreFile, report: StoreReport
  ) {
    try StoreFile.open(folder.path("store.sqlite"), systems: systems, at: Self.now)
  }

  /// Does what its thread has to do.
  private func beat(_ kept: KeptProgress<Jar>, _ state: Jar.State, at second: Int64, _ thread: DeskThread) {
    kept.beat(published(state), at: .zero + .seconds(second), on: thread)
    thread.finish {}
  }

  private func published(_ state: Jar.State, at instant: TickInstant = .zero) -> Published<Jar.State> {
    Published(at: instant, isSafe: true, state: state)
  }

  @Test("a table `since: 2`: a store of the release before gets it, and keeps its rows")
  func since() throws {
    let folder = try TemporaryFolder()
    let step = StoreSystem.Migration(name: "jar.1") { database in
      for table in Jar.firstTables { try table.stored(true).make(database) }
    }
    let before = try open(folder, [StoreSystem(contents: [], migrations: [step], restore: { _ in })]).file
    let fills = Jar.firstTables[0].stored(true)
    try StoredRows(fills, in: before, of: "jar/left").write(Jar.Fill(at: Self.now, grams: 5).storedRow, by: .byPeople)
    try before.close()
    let (file, report) = try open(folder, [try #require(Jar.declaredKeeping).tables])
    #expect(report.migrated == ["jar.2", "jar.3", "jar.kept"] && !report.isLoss)
    #expect(try StoredRows(fills, in: file, of: "jar/left").row(1).map { Jar.Fill($0).grams } == 5)
    let notes = StoredRows(Jar.tables[1].stored(true), in: file, of: "jar/left")
    #expect(try notes.write(Jar.Note(isLoud: false, text: "new").storedRow, by: .byPeople) == 1)
    #expect(try notes.row(1).map { Jar.Note($0).isLoud } == false)
  }

  /// A row of a release before, and what became of it.
  private struct Narrow: Settings, Equatable {
    var number = 0
    var grams = 0.0
    static var keys: [Key<Narrow>] {
      Key.number(\.number)
      Key("grams", \.grams, in: 0...1_000, "How much.")
    }
  }

  private struct Wide: Settings, Equatable {
    var number = 0
    var layers = 1
    var note: String?
    var grams = 0.0
    var isSweet = true
    static var keys: [Key<Wide>] {
      Key.number(\.number)
      Key("layers", \.layers, in: 1...9, "How many.").since(3)
      Key("note", \.note, "What.").since(2)
      Key("grams", \.grams, in: 0...1_000, "How much.")
      Key("is_sweet", \.isSweet, "Whether it is.").since(3)
    }
  }

  @Test("columns of later releases: rows of before have the initial values and good seals, new ones stand beside them")
  func columns() throws {
    let folder = try TemporaryFolder()
    func system(_ table: StoredTable, _ steps: [Int]) -> StoreSystem {
      let migrations = steps.map { step in
        StoreSystem.Migration(name: "jar.\(step)") { database in
          if step == 1 { try table.make(database) } else { try table.widen(to: step, database) }
        }
      }
      return StoreSystem(contents: [], migrations: migrations, restore: { try table.restore($0) })
    }
    let narrow = Table<Jar.Wiring>("jar_rows", Narrow.self, since: 1, number: \.number).stored(true)
    let wide = Table<Jar.Wiring>("jar_rows", Wide.self, since: 1, number: \.number).stored(true)
    #expect(wide.laterSteps == [2, 3])
    let first = try open(folder, [system(narrow, [1])]).file
    for (name, grams) in [("jar/left", 5.0), ("jar/left", 6), ("jar/right", 7)] {
      try StoredRows(narrow, in: first, of: name).write(Narrow(grams: grams).storedRow, by: .byPeople)
    }
    try first.close()
    let (file, report) = try open(folder, [system(wide, [1, 2, 3])])
    #expect(report.migrated == ["jar.2", "jar.3"] && !report.isLoss)
    let left = StoredRows(wide, in: file, of: "jar/left")
    #expect(try left.write(Wide(layers: 4, note: "new", grams: 8, isSweet: false).storedRow, by: .byPeople) == 3)
    let rows = [
      Wide(number: 1, grams: 5), Wide(number: 2, grams: 6),
      Wide(number: 3, layers: 4, note: "new", grams: 8, isSweet: false),
    ]
    #expect(try left.page(.init(isNewestFirst: false)).rows.map { Wide($0) } == rows)
    try file.close()
    let (again, report2) = try open(folder, [system(wide, [1, 2, 3])])
    #expect(!report2.isLoss && report2.migrated.isEmpty, "every row has the seal of what it is now")
    let kept = try StoredRows(wide, in: again, of: "jar/left").page(.init(isNewestFirst: false)).rows
    #expect(kept.map { Wide($0) } == rows)
    #expect(try StoredRows(wide, in: again, of: "jar/right").row(1).map { Wide($0) } == Wide(number: 1, grams: 7))
  }

  @Test("settings in a request: in camel case as all of JSON, or as the file and the store spell them")
  func spelling() throws {
    func rules(_ body: String) throws -> Wide {
      let caller = Caller(scope: .admin, tokenID: nil, address: "", client: 1)
      return try APIRequest(caller: caller, body: Array(body.utf8)).decode { (body) throws(APIError) in
        try Wide(&body, over: Wide(grams: 7))
      }
    }
    #expect(try rules(#"{"isSweet":false}"#) == Wide(grams: 7, isSweet: false))
    #expect(try rules(#"{"is_sweet":false,"layers":2}"#) == Wide(layers: 2, grams: 7, isSweet: false))
    #expect(throws: APIError.self) { _ = try rules(#"{"is_sour":false}"#) }
  }

  @Test("kept fields: written at a change, every ten seconds at most, and at the end; given back before the first tick")
  func kept() throws {
    let folder = try TemporaryFolder()
    let systems = [try #require(Jar.declaredKeeping).tables]
    let file = try open(folder, systems).file
    let thread = DeskThread("jar")
    let values = KeptValues(of: "jar", instance: "jar/left", in: file)
    let kept = try #require(KeptProgress<Jar>(file, of: "jar/left", Logger(label: "test")))
    var state = kept.state
    #expect(state.fills == 0 && state.mode == .idle)
    beat(kept, state, at: 1, thread)
    #expect(try values.read().isEmpty, "nothing has changed")
    (state.fills, state.level, state.isOpen, state.mode) = (1, 0.5, true, .filled)
    beat(kept, state, at: 2, thread)
    #expect(try values.read()["fills"] == .integer(1))
    state.fills = 2
    beat(kept, state, at: 11, thread)
    #expect(try values.read()["fills"] == .integer(1), "ten seconds have not passed")
    beat(kept, state, at: 12, thread)
    #expect(try values.read()["fills"] == .integer(2))
    state.fills = 3
    kept.finish(state)
    let again = try #require(KeptProgress<Jar>(file, of: "jar/left", Logger(label: "test"))).state
    #expect((again.fills, again.level, again.isOpen, again.mode) == (3, 0.5, true, .filled))
    #expect(try #require(KeptProgress<Jar>(file, of: "jar/right", Logger(label: "test"))).state.fills == 0)
  }

  @Test(
    "what counts against a limit: stored at once, and said to be when it is on the disk, not before and not without one"
  )
  func atOnce() throws {
    let folder = try TemporaryFolder()
    let file = try open(folder, [try #require(Jar.declaredKeeping).tables]).file
    let thread = DeskThread("jar")
    let kept = try #require(KeptProgress<Jar>(file, of: "jar/left", Logger(label: "test")))
    let values = KeptValues(of: "jar", instance: "jar/left", in: file)
    let loops = try HostedDoor<Jar>.mailboxes(state: kept.state, rules: NoSettings(), takesRequests: false)
    let ends = loops.loopEnds()
    var state = kept.state
    func beat(_ milliseconds: Int64) {
      let now = TickInstant.zero + .milliseconds(milliseconds)
      kept.beat(published(state, at: now), at: now, on: thread) { loops.noteStored(upTo: $0) }
    }
    func storedMilliseconds() -> Int64 { ends.storedUpTo.nanoseconds / 1_000_000 }
    #expect(ends.storedUpTo < .zero)
    beat(100)
    #expect(storedMilliseconds() == 100, "nothing to be stored is as good as stored")
    // The disk hangs.
    let disk = DispatchSemaphore(value: 0)
    thread.run {
      disk.wait()
      return []
    }
    state.eaten = 3
    beat(200)
    beat(300)
    #expect(storedMilliseconds() == 100)
    disk.signal()
    thread.finish {}
    #expect(try storedMilliseconds() == 200 && values.read()["eaten"] == .integer(3))
    state.eaten = 4
    beat(400)
    thread.finish {}
    state.eaten = 5
    beat(500)
    thread.finish {}
    #expect(try storedMilliseconds() == 500 && values.read()["eaten"] == .integer(5), "no pause between two")
    try file.close()
    state.eaten = 6
    beat(60_000)
    thread.finish {}
    #expect(storedMilliseconds() < 60_000, "the store took nothing")
  }

  @Test(
    "a store that refuses: tried again a second later; one that could not be read is not written over before something changes"
  )
  func refused() throws {
    let folder = try TemporaryFolder()
    let systems = [try #require(Jar.declaredKeeping).tables]
    let file = try open(folder, systems).file
    let values = KeptValues(of: "jar", instance: "jar/left", in: file)
    try values.write(["fills": .integer(7)])
    try file.close()
    let thread = DeskThread("jar")
    let kept = try #require(KeptProgress<Jar>(file, of: "jar/left", Logger(label: "test")))
    var state = kept.state
    _ = try file.open(at: Self.now)
    beat(kept, state, at: 1, thread)
    kept.finish(state)
    #expect(try values.read()["fills"] == .integer(7))
    try file.close()
    state.fills = 8
    beat(kept, state, at: 20, thread)
    _ = try file.open(at: Self.now)
    beat(kept, state, at: 20, thread)
    #expect(try values.read()["fills"] == .integer(7), "a second has not passed")
    beat(kept, state, at: 21, thread)
    #expect(try values.read()["fills"] == .integer(8))
  }

  @Test("what is kept and is of another kind now is nothing")
  func kinds() {
    let kept = Kept(values: ["a": .integer(3), "b": .text("fig"), "c": .integer(1), "d": .nothing, "e": .real(2.5)])
    #expect(kept.value("a", as: Int.self) == 3 && kept.value("a", as: Double.self) == 3)
    #expect(kept.value("b", as: Jar.Fruit.self) == .fig && kept.value("b", as: Int.self) == nil)
    #expect(kept.value("c", as: Bool.self) == true && kept.value("e", as: Int.self) == nil)
    #expect(kept.value("d", as: Int.self) == nil && kept.value("z", as: Int.self) == nil)
    #expect(kept.value("a", as: Jar.Fruit.self) == nil && kept.value("a", as: UInt8.self) == 3)
  }
}
