import Foundation
import GRDB
import Logging
import Pump
import ServiceSupport
import Synchronization
import Tactus
import TestSupport
import Testing
import WallTime

@testable import PumpDaemon
@testable import Service
@testable import Store

@Suite("the pump's readings by the minute behind the door", .ownThread)
struct PumpReadingsTests {
  /// A store, the readings before it, and the clock: the test passes the seconds.
  private final class Bench {
    static let noon = WallInstant(secondsSince1970: 1_790_000_040)

    private let folder: String
    private let wall: WallOfTest
    let file: StoreFile
    let readings: PumpReadings
    /// The loop's clock in seconds.
    private(set) var second: Int64 = 0
    var store: PumpStore { PumpStore(file) }

    /// - Parameter isOpen: whether the store is open from the beginning.
    init(isOpen: Bool = true) throws {
      folder = FileManager.default.temporaryDirectory.appending(path: "tactus-pump-\(UUID().uuidString.prefix(8))").path
      file = StoreFile(folder + "/store.sqlite", systems: [.pump], mounts: MountWatch(named: "/"))
      if isOpen { _ = try file.open(at: Bench.noon) }
      let wall = WallOfTest(Bench.noon.secondsSince1970)
      self.wall = wall
      readings = PumpReadings(
        PumpStore(file), clock: WatchedWallClock(boot: nil) { wall.sample },
        logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() }))
    }

    deinit {
      try? file.close()
      try? FileManager.default.removeItem(atPath: folder)
    }

    /// Passes seconds, with a sample in each; `nil`: the pump does not answer.
    func pass(_ seconds: Int64, _ sample: PumpHistory.Sample?, isOn: Bool = false, publishes: Bool = true) {
      for _ in 0..<seconds {
        let now = TickInstant.zero + .seconds(1 + second)
        readings.tick(sample, isOn: isOn, published: publishes ? now : .zero, at: now)
        second += 1
        wall.pass(1)
      }
    }

    /// Passes minutes with one sample in each.
    func pass(minutes: Int64, _ sample: PumpHistory.Sample?) {
      for _ in 0..<minutes {
        pass(1, sample)
        second += 59
        wall.pass(59)
      }
    }

    /// Makes the disk one that has room for so many pages more.
    func limitPages(toMore count: Int) throws {
      try file.pool.writeWithoutTransaction { database in
        let pages = try Int.fetchOne(database, sql: "PRAGMA page_count") ?? 0
        _ = try Int.fetchOne(database, sql: "PRAGMA max_page_count = \(pages + count)")
      }
    }

    func history(_ query: [String: String] = [:]) async throws -> [String: Any] {
      try await readings.routes.answer(.get, "/api/pump/history", query: query).object()
    }

    func rows(_ query: [String: String] = [:]) async throws -> [[String: Any]] {
      try #require(try await history(query)["rows"] as? [[String: Any]])
    }

    func stored() throws -> [PumpSpan] {
      let end = WallInstant(secondsSince1970: 4_000_000_000)
      return try store.spans(PumpRaster(from: end - 40_000 * 60_000, until: end, points: 80_000 * 1_000))
    }
  }

  /// The wall clock of a test and the boot's clock beside it.
  private final class WallOfTest: Sendable {
    private let seconds: Mutex<(wall: Int64, boot: Int64)>

    init(_ start: Int64) { seconds = Mutex((wall: start, boot: 1_000)) }

    func pass(_ span: Int64) { seconds.withLock { $0 = ($0.wall + span, $0.boot + span) } }

    var sample: WallWatch.Sample {
      seconds.withLock {
        WallWatch.Sample(microseconds: $0.wall * 1_000_000, bootTime: .zero + .seconds($0.boot), isSynchronised: true)
      }
    }
  }

  private static func sample(_ skin: Double, percent: Double? = nil) -> PumpHistory.Sample {
    PumpHistory.Sample(speedPercent: percent, waterCelsius: skin - 20, skinCelsius: skin)
  }

  @Test("a minute: least, mean and highest of its samples, stored when it is over; the present one is answered, too")
  func minute() async throws {
    let bench = try Bench()
    bench.pass(30, Self.sample(36))
    bench.pass(30, Self.sample(34, percent: 60), isOn: true)
    #expect(try bench.stored().isEmpty)
    bench.pass(10, Self.sample(30, percent: 80), isOn: true)
    let stored = try #require(try bench.stored().first)
    #expect(try bench.stored().count == 1)
    #expect(stored.start == Bench.noon && stored.samples == 60 && stored.running == 30)
    #expect(stored.skin?.least == 34 && stored.skin?.highest == 36 && stored.skin?.count == 60)
    #expect(stored.speed?.count == 30 && stored.speed?.highest == 60)
    let rows = try await bench.rows(["points": "2000"])
    #expect(rows.count == 2)
    #expect(rows.first?["startISO"] as? String == "2026-09-21T14:14:00Z")
    #expect(rows.first?["skinMeanCelsius"] as? Double == 35 && rows.first?["waterMeanCelsius"] as? Double == 15)
    #expect(rows.first?["runningSamples"] as? Int == 30 && rows.last?["runningSamples"] as? Int == 10)
    #expect(rows.last?["skinLeastCelsius"] as? Double == 30 && rows.last?["speedPercent"] as? Double == 80)
    bench.readings.finish()
    #expect(try bench.stored().map(\.samples) == [60, 10])
  }

  @Test("gaps: no row without the pump's answer, of an old publication, or if nothing is measured while it is off")
  func gaps() async throws {
    let bench = try Bench()
    bench.pass(60, Self.sample(36))
    bench.pass(60, nil)
    bench.pass(60, Self.sample(36), publishes: false)
    bench.pass(60, PumpHistory.Sample())
    bench.pass(60, PumpHistory.Sample(speedPercent: 70), isOn: true)
    bench.pass(1, nil)
    #expect(try bench.stored().map(\.start) == [Bench.noon, Bench.noon + 240])
    let rows = try await bench.rows(["points": "2000"])
    #expect(rows.count == 2 && rows.last?["skinMeanCelsius"] is NSNull && rows.last?["speedPercent"] as? Double == 70)
  }

  @Test("the same minute again, as after a restart: merged with what is stored")
  func merged() throws {
    let bench = try Bench()
    bench.pass(20, Self.sample(30))
    bench.readings.finish()
    bench.pass(20, Self.sample(36))
    bench.readings.finish()
    let stored = try #require(try bench.stored().first)
    #expect(try bench.stored().count == 1)
    #expect(stored.samples == 40 && stored.skin?.mean == 33 && stored.skin?.least == 30 && stored.skin?.highest == 36)
  }

  @Test("an answer is bounded: as many rows as asked for at most, of equal length, with every sample in them")
  func bounded() async throws {
    let bench = try Bench()
    bench.pass(minutes: 600, Self.sample(36))
    let since = "2026-09-21T14:14:30Z"
    for points in [1, 7, 200, 2_000] {
      let answer = try await bench.history(["since": since, "points": "\(points)"])
      let rows = try #require(answer["rows"] as? [[String: Any]])
      #expect(!rows.isEmpty && rows.count <= points, "\(points)")
      #expect(rows.compactMap { $0["samples"] as? Int }.reduce(0, +) == 600, "\(points)")
      let length = try #require(answer["spanSec"] as? Int)
      #expect(length % 60 == 0 && length * points >= 600 * 60 && (length - 60) * points < 601 * 60, "\(points)")
      #expect(answer["sinceISO"] as? String == "2026-09-21T14:14:00Z")
    }
    #expect(try await bench.rows(["since": since]).count == 150, "of four minutes each")
    #expect(try await bench.rows(["since": "0000-01-01T00:00:00Z"]).count == 1)
    let part = try await bench.rows([
      "since": "2026-09-21T14:20:00Z", "until": "2026-09-21T14:30:00Z", "points": "2000",
    ])
    #expect(part.count == 10 && part.first?["startISO"] as? String == "2026-09-21T14:20:00Z")
  }

  @Test("a query that is refused names its field")
  func refused() async throws {
    let bench = try Bench()
    let refusals: [([String: String], String)] = [
      (["since": "yesterday"], "since"), (["until": "2026-13-01T00:00:00Z"], "until"), (["points": "0"], "points"),
      (["points": "2001"], "points"), (["limit": "5"], "limit"),
      (["since": "2026-09-22T00:00:00Z", "until": "2026-09-21T00:00:00Z"], "since"),
    ]
    for (query, field) in refusals {
      var found: APIError?
      do { _ = try await bench.history(query) } catch { found = error as? APIError }
      #expect(found?.field == field && found?.code == "VALIDATION", "\(query): \(String(describing: found))")
    }
  }

  @Test("30 days are kept once the clock is sure; whatever it says, no more than a number")
  func retention() throws {
    let bench = try Bench()
    try bench.store.add([
      PumpSpan(start: Bench.noon - 31 * 86_400, samples: 1, running: 0, skin: PumpSpread(30)),
      PumpSpan(start: Bench.noon - 29 * 86_400, samples: 1, running: 0, skin: PumpSpread(31)),
    ])
    bench.pass(1, nil)
    #expect(try bench.stored().count == 2, "the clock is not sure yet")
    bench.pass(minutes: 12, nil)
    #expect(try bench.stored().map { $0.skin?.mean } == [31])
    try bench.store.add([PumpSpan(start: Bench.noon, samples: 1, running: 0, skin: PumpSpread(32))])
    #expect(try bench.store.pruneSpans(beyond: 1) == 1)
    #expect(try bench.store.pruneSpans(beyond: 1) == 0)
    #expect(try bench.stored().map { $0.skin?.mean } == [32])
  }

  @Test("a store that takes nothing: the newest day waits for it, and is there when it takes again; meanwhile 503")
  func refusedWrites() async throws {
    let bench = try Bench(isOpen: false)
    bench.pass(minutes: 1_500, Self.sample(36))
    var found: APIError?
    do { _ = try await bench.history() } catch { found = error as? APIError }
    #expect(found?.code == "STORE_FAILED")
    _ = try bench.file.open(at: Bench.noon)
    bench.pass(1, nil)
    let stored = try bench.stored()
    // Those that waited, and the minute that had not been tried yet.
    #expect(stored.count == PumpReadings.longestWait + 1)
    #expect(stored.last?.start == Bench.noon + 1_499 * 60)
  }

  @Test("a full disk: what it refuses waits, is answered all the same, and is stored when there is room")
  func fullDisk() async throws {
    let bench = try Bench()
    try bench.limitPages(toMore: 0)
    bench.pass(minutes: 400, Self.sample(36))
    #expect(try bench.stored().count < 399, "some have been refused")
    #expect(try await bench.rows(["points": "2000"]).count == 400)
    try bench.limitPages(toMore: 1 << 20)
    bench.pass(1, nil)
    #expect(try bench.stored().map(\.samples) == Array(repeating: 1, count: 400))
  }
}
