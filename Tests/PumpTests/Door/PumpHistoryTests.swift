import Foundation
import Logging
import Pump
import ServiceSupport
import Store
import Synchronization
import Tactus
import TestSupport
import Testing
import WallTime

@testable import PumpDaemon
@testable import Service

@Suite("the pump's sessions behind the door", .ownThread)
struct PumpHistoryTests {
  private final class Bench {
    private let folder: String
    let file: StoreFile
    let history: PumpHistory
    var store: PumpStore { PumpStore(file) }

    init() throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "tactus-pump-\(UUID().uuidString.prefix(8))").path
      (file, _) = try StoreFile.open(folder + "/store.sqlite", systems: [.pump], at: Bench.noon)
      history = PumpHistory(
        PumpStore(file), keepsDays: 30, zone: .utc, clock: Bench.clock,
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    deinit {
      try? file.close()
      try? FileManager.default.removeItem(atPath: folder)
    }

    static let noon = WallInstant(secondsSince1970: 1_790_000_000)
    static var clock: WatchedWallClock {
      WatchedWallClock(boot: nil) {
        WallWatch.Sample(microseconds: noon.secondsSince1970 * 1_000_000, bootTime: .zero, isSynchronised: true)
      }
    }
  }

  private static func at(_ seconds: Double) -> TickInstant { TickInstant(nanoseconds: Int64(seconds * 1e9)) }
  private static func sample(_ percent: Double?, _ skin: Double?) -> PumpHistory.Sample {
    .init(speedPercent: percent, waterCelsius: skin.map { $0 - 20 }, skinCelsius: skin)
  }

  @Test(
    "a session: open in the store at once, noted every ten seconds, closed with its end, mean speed and temperatures")
  func session() throws {
    let bench = try Bench()
    let history = bench.history
    #expect(history.record(PumpOperatorState.starting, by: .app, at: Self.at(1), Self.sample(nil, 36)) == nil)
    let begun = history.record(.on(since: Self.at(2)), by: .app, at: Self.at(2), Self.sample(nil, 36))
    #expect(begun?.type == "pump.session")
    #expect(try bench.store.sessions().sessions.first?.end == nil)
    for second in 3...31 {
      let skin = 36 - Double(second) / 10
      history.tick(Self.sample(second < 17 ? 60 : 80, skin), at: Self.at(Double(second)))
    }
    #expect(try bench.store.sessions().sessions.first?.seconds == 20)
    let ended = history.record(PumpOperatorState.off(.pending), by: .app, at: Self.at(32.5), Self.sample(80, 32.8))
    #expect(ended?.type == "pump.session")
    #expect(history.record(PumpOperatorState.off(.confirmed), by: .app, at: Self.at(33), Self.sample(nil, 32.8)) == nil)
    let kept = try #require(try bench.store.sessions().sessions.first)
    #expect(kept.number == 1 && kept.start == Bench.noon && kept.seconds == 30.5)
    #expect(kept.end == "off" && kept.startedBy == "app" && kept.endedBy == "app")
    let mean = try #require(kept.speedPercent)
    #expect(abs(mean - 2_040.0 / 29) < 0.01)
    #expect(kept.skin.first == 36 && kept.skin.last == 32.8 && kept.skin.highest == 36)
  }

  @Test("ends: faults by their names, the connection's loss, e-stop and the daemon's end; of the device side too")
  func ends() throws {
    let bench = try Bench()
    let ends: [(PumpOperatorState, String)] = [
      (.fault(.overheat(nil), .pending), "overheat"), (.fault(.runLimit, .confirmed), "run-limit"),
      (.unknown, "contact-lost"), (.emergencyStopped(.pending), "emergency-stop"), (.shutDown(.pending), "shut-down"),
    ]
    for (index, end) in ends.enumerated() {
      let (state, start) = (end.0, Double(index * 10))
      _ = bench.history.record(.on(since: Self.at(start)), by: .manual, at: Self.at(start), .init())
      _ = bench.history.record(state, by: .device, at: Self.at(start + 5), .init())
    }
    let device: [(PumpDeviceState, String)] = [
      (.error(.silence, .confirmed), "silence"), (.error(.sensor(.skin, nil), .pending), "sensor-fault"),
      (.off(.confirmed), "off"),
    ]
    for (index, end) in device.enumerated() {
      let (state, start) = (end.0, Double(100 + index * 10))
      _ = bench.history.record(.on(.standard), by: .app, at: Self.at(start), .init())
      _ = bench.history.record(state, by: .device, at: Self.at(start + 5), .init())
    }
    let kept = try bench.store.sessions(PumpSessionQuery(newestFirst: false)).sessions
    let expected: [String] = ends.map { $0.1 } + device.map { $0.1 }
    #expect(kept.compactMap { $0.end } == expected)
    #expect(kept.allSatisfy { $0.seconds == 5 })
  }

  @Test("routes: pages, a range, a wrong query is 422; CSV with the right type and name")
  func routes() async throws {
    let bench = try Bench()
    for index in 0..<5 {
      try bench.store.keep(PumpSession(start: Bench.noon + Int64(index) * 3_600, seconds: Double(index), end: "off"))
    }
    let routes = bench.history.routes
    func list(_ query: [String: String]) async throws -> [String: Any] {
      try await routes.answer(.get, "/api/pump/sessions", query: query).object()
    }
    let first = try await list(["limit": "2"])
    func numbers(_ page: [String: Any]) -> [Int] {
      (page["sessions"] as? [[String: Any]] ?? []).compactMap { $0["number"] as? Int }
    }
    #expect(numbers(first) == [5, 4])
    #expect(first["next"] as? Int == 4)
    let rest = try await list(["after": "4", "since": "2026-09-21T15:13:20Z"])
    #expect(numbers(rest) == [3, 2])
    #expect(rest["next"] is NSNull)
    for query in [["limit": "0"], ["order": "random"], ["since": "yesterday"], ["page": "1"]] {
      await #expect(throws: APIError.self) { try await list(query) }
    }
    let csv = try await routes.answer(.get, "/api/pump/sessions.csv")
    #expect(csv.contentType == "text/csv; charset=utf-8")
    var text = ""
    while let piece = try await csv.pieces?() { text += String(decoding: piece, as: UTF8.self) }
    #expect(text.components(separatedBy: "\r\n").count == 7 && text.contains("\r\n1,2026-09-21T14:13:20Z,0.0,"))
  }

  @Test("the clock is set while the pump runs: its session moves with it; years ahead it deletes none")
  func wrongClock() throws {
    let bench = try Bench()
    let seconds = Mutex<(wall: Int64, boot: Int64)>((Bench.noon.secondsSince1970 + 10 * 31_536_000, 1_000))
    func pass(_ span: Int64, jump: Int64 = 0) { seconds.withLock { $0 = ($0.wall + span + jump, $0.boot + span) } }
    let history = PumpHistory(
      bench.store, keepsDays: 30, zone: .utc,
      clock: WatchedWallClock(boot: nil) {
        seconds.withLock {
          WallWatch.Sample(
            microseconds: $0.wall * 1_000_000, bootTime: .zero + .seconds($0.boot), isSynchronised: true)
        }
      }, logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    for _ in 0..<2 { try bench.store.keep(PumpSession(start: Bench.noon - 60, seconds: 5, end: "off")) }
    _ = history.record(.on(since: Self.at(1)), by: .app, at: Self.at(1), .init())
    pass(20)
    history.tick(.init(), at: Self.at(21))
    pass(1, jump: -10 * 31_536_000)
    history.tick(.init(), at: Self.at(22))
    _ = history.record(PumpOperatorState.off(.confirmed), by: .app, at: Self.at(22), .init())
    let sessions = try bench.store.sessions(PumpSessionQuery(newestFirst: false)).sessions
    #expect(sessions.count == 3 && sessions.last?.start == Bench.noon && sessions.last?.seconds == 21)
    // Once a clock that is years ahead is sure, what is old by it goes.
    pass(1, jump: 10 * 31_536_000)
    history.tick(.init(), at: Self.at(4_000))
    #expect(try bench.store.sessions().sessions.count == 3)
    pass(601)
    history.tick(.init(), at: Self.at(4_601))
    #expect(try bench.store.sessions().sessions.count == 1)
    try bench.store.keep(PumpSession(start: Bench.noon, end: "off"))
    #expect(try bench.store.prune(beyond: 1) == 1)
    #expect(try bench.store.sessions().sessions.map(\.number) == [4])
  }

  @Test("a store that opens later: the sessions since are in it, and what an earlier program left open is ended")
  func opensLater() throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: "tactus-pump-\(UUID().uuidString.prefix(8))")
      .path
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let before = try StoreFile.open(folder + "/store.sqlite", systems: [.pump], at: Bench.noon).file
    try PumpStore(before).keep(PumpSession(start: Bench.noon))
    try before.close()
    let file = StoreFile(folder + "/store.sqlite", systems: [.pump], mounts: MountWatch(named: "/"))
    let history = PumpHistory(
      PumpStore(file), keepsDays: 30, zone: .utc, clock: Bench.clock,
      logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    _ = history.record(.on(since: Self.at(1)), by: .app, at: Self.at(1), .init())
    _ = history.record(PumpOperatorState.off(.confirmed), by: .app, at: Self.at(5), .init())
    _ = history.record(.on(since: Self.at(6)), by: .app, at: Self.at(6), .init())
    history.tick(.init(), at: Self.at(7))
    _ = try file.open(at: Bench.noon)
    history.tick(.init(), at: Self.at(8))
    let sessions = try PumpStore(file).sessions(PumpSessionQuery(newestFirst: false)).sessions
    #expect(sessions.first?.end == "power-cut")
    #expect(sessions.dropFirst().contains { $0.end == "off" && $0.seconds == 4 })
    #expect(sessions.count == 3 && sessions.count { $0.end == nil } == 1)
    try file.close()
  }
}
