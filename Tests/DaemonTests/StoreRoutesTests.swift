import DaemonSupport
import Foundation
import Plants
import Sprinkler
import Store
import Synchronization
import TestSupport
import Testing
import WallTime

@testable import PlantsDaemon
@testable import Service
@testable import SprinklerDaemon
@testable import TactusDaemon

@Suite("routes of the store", .ownThread)
struct StoreRoutesTests {
  private let folder: TemporaryFolder
  private let file: StoreFile
  private let plants: PlantStore
  /// How many backups the sprinkler's desk has taken.
  private let taken = Counter()
  private let routes: [Route]

  private final class Counter: Sendable { let count = Atomic(0) }

  init() throws {
    folder = try TemporaryFolder()
    let file = try StoreFile.open(
      folder.path("store.sqlite"), systems: [.sprinkler, .plants], at: WallInstant(secondsSince1970: 1_790_000_000)
    ).file
    self.file = file
    plants = PlantStore(file)
    let plant = Plant(
      id: PlantID(1), user: PlantUser(sender: "6F2A"), name: try PlantName("Basil"), sensors: [PlantSensorID("0x36")!])
    try plants.apply([.plant(plant), .nextPlant(2)])
    let live = LiveRestore(part: "sprinkler") { [taken] backup, _ in
      let isDone = try SprinklerStore(file).restore(backup) { [.everything($0)] }
      #expect(isDone)
      taken.count.add(1, ordering: .relaxed)
    }
    routes =
      StoreRoutes(
        file: file, configuration: try folder.write("motors: {backend: sim}\n", to: "c.yaml"),
        tokens: folder.path("tokens.json"), environment: [:], live: live
      ).routes
  }

  private func ask(
    _ method: String, _ path: String, query: [String: String] = [:], body: [UInt8] = []
  ) async throws -> APIResponse {
    let route = try #require(routes.first { "\($0.method) \($0.path)" == "\(method) \(path)" })
    guard case .handler(let handler) = route.handling else { preconditionFailure("a prepared document") }
    let caller = Caller(scope: .admin, tokenID: nil, address: "192.0.2.1", client: 1)
    return try await handler(APIRequest(caller: caller, query: query, body: body))
  }

  private func refusal(
    _ method: String, _ path: String, query: [String: String] = [:], body: [UInt8] = []
  ) async -> APIError? {
    await #expect(throws: APIError.self) { _ = try await ask(method, path, query: query, body: body) }
  }

  private func names() throws -> [String] { try plants.records().plants.map(\.name.text) }

  @Test("GET /api/store: the parts with their rows; after a restore, when that was which undo takes back")
  func held() async throws {
    let first = try JSONDecoder().decode(StoreHeld.self, from: Data(try await ask("GET", "/api/store").body))
    #expect(first.parts.map(\.part) == ["sprinkler", "plants"] && first.undoISO == nil)
    #expect(first.parts[1].contents.first.map { "\($0.rows) \($0.count)" } == "plants 1")
    _ = try await ask("POST", "/api/restore", body: try file.backup())
    let second = try JSONDecoder().decode(StoreHeld.self, from: Data(try await ask("GET", "/api/store").body))
    #expect(second.undoISO != nil)
  }

  @Test("a restore of a part: the others stay, and the desk of another part hears nothing; undone by its route")
  func parts() async throws {
    let backup = try await ask("GET", "/api/backup").body
    try plants.apply([.plantRemoved(PlantID(1))])
    let sprinkler = try await ask("POST", "/api/restore", query: ["parts": "sprinkler"], body: backup)
    #expect(String(decoding: sprinkler.body, as: UTF8.self).contains(#""parts":["sprinkler"]"#))
    #expect(try names() == [] && taken.count.load(ordering: .relaxed) == 1)
    _ = try await ask("POST", "/api/restore", query: ["parts": "plants"], body: backup)
    #expect(try names() == ["Basil"] && taken.count.load(ordering: .relaxed) == 1)
    _ = try await ask("POST", "/api/restore/undo")
    #expect(try names() == [] && taken.count.load(ordering: .relaxed) == 1)
    _ = try await ask("POST", "/api/restore", body: backup)
    #expect(try names() == ["Basil"] && taken.count.load(ordering: .relaxed) == 2)
  }

  @Test("a whole backup: an archive with configuration, tokens and store; a file with an error is said, parts come")
  func whole() async throws {
    let answer = try await ask("GET", "/api/backup")
    #expect(answer.contentType == "application/x-tar")
    let archive = try BackupArchive(answer.body)
    #expect(archive.configuration == "motors: {backend: sim}\n" && archive.tokens == nil)
    #expect(archive.manifest.parts.map(\.part) == ["sprinkler", "plants"])
    #expect(archive.manifest.parts[1].contents.first?.count == 1)
    _ = try folder.write("{\"tokens\": []}", to: "tokens.json")
    #expect(try BackupArchive(try await ask("GET", "/api/backup").body).tokens == Array("{\"tokens\": []}".utf8))
    _ = try folder.write("{", to: "tokens.json")
    #expect(await refusal("GET", "/api/backup")?.code == "STORE_FAILED")
    _ = try folder.write("nonsense: 1\n", to: "c.yaml")
    let error = await refusal("GET", "/api/backup")
    #expect(error?.code == "BAD_CONFIG" && error?.message.contains("c.yaml:1:1: nonsense") == true)
    let part = try await ask("GET", "/api/backup", query: ["parts": "plants"])
    #expect(part.contentType == "application/vnd.sqlite3" && part.body.starts(with: Array("SQLite format 3".utf8)))
    var damaged = answer.body
    damaged[damaged.count - 3000] ^= 1
    for path in ["/api/restore", "/api/restore/look"] {
      let error = await refusal("POST", path, body: damaged)
      #expect(error?.message.hasPrefix("the backup: damaged: store.sqlite: expected ") == true, "\(path)")
    }
  }

  @Test("a look: what would be lost and added; nothing has changed, and there is nothing to undo")
  func look() async throws {
    let backup = try await ask("GET", "/api/backup", query: ["parts": "plants"]).body
    try plants.apply([.plantRemoved(PlantID(1))])
    let answer = try await ask("POST", "/api/restore/look", body: backup)
    let look = try JSONDecoder().decode(StoreLook.self, from: Data(answer.body))
    #expect(look.parts.map(\.isInBackup) == [false, true] && look.parts[0].contents.isEmpty)
    let rows = try #require(look.parts[1].contents.first)
    let numbers: [Int] = [rows.now, rows.inBackup, rows.lost, rows.overwritten, rows.added]
    #expect(numbers == [0, 1, 0, 0, 1])
    #expect(
      look.text.hasPrefix(
        """
        sprinkler: not in the backup, stays as it is
        plants
          plants: 0 now, 1 in the backup: 0 lost, 0 overwritten, 1 added
        """))
    #expect(try names() == [])
    #expect(await refusal("POST", "/api/restore/undo")?.code == "NOTHING_TO_UNDO")
  }

  @Test("what only looks waits behind what changes something: store, backup and the look at a backup that is sent")
  func order() {
    let looks = routes.filter { $0.diskThreads === DiskThreads.looks }.map(\.path)
    #expect(Set(looks) == ["/api/store", "/api/backup", "/api/restore/look"])
    let commands = routes.filter { $0.diskThreads === DiskThreads.shared }.map(\.path)
    #expect(Set(commands) == ["/api/restore", "/api/restore/undo"])
  }

  @Test("refused: parts that nobody knows, by those that there are; parts that the backup lacks; no file, no backup")
  func refused() async throws {
    let backup = try await ask("GET", "/api/backup", query: ["parts": "plants"]).body
    for (method, path) in [("GET", "/api/backup"), ("POST", "/api/restore")] {
      let error = await refusal(method, path, query: ["parts": "plants,zones"], body: backup)
      #expect(error?.code == "VALIDATION" && error?.field == "parts")
      #expect(
        error?.message
          == "parts: expected parts of the store with commas between them, of plants, sprinkler, got \"zones\"")
      #expect(await refusal(method, path, query: ["part": "plants"], body: backup)?.field == "part")
    }
    let missing = await refusal("POST", "/api/restore", query: ["parts": "sprinkler"], body: backup)
    #expect(missing?.code == "VALIDATION" && missing?.field == "parts")
    #expect(
      missing?.message
        == "the backup: expected one that holds the part sprinkler, got one that holds plants")
    for path in ["/api/restore", "/api/restore/look"] {
      #expect(await refusal("POST", path)?.code == "BODY_MISSING")
      #expect(await refusal("POST", path, body: Array("no backup".utf8))?.field == "body")
    }
    #expect(try names() == ["Basil"] && file.replaced().isEmpty)
  }
}
