import Foundation
import Testing

@testable import TactusClient

/// What models read when an app asks for it: previews, logs and histories.
@Suite("Readings")
@MainActor
struct ReadingTests {
  private let bench = Bench()
  private static let noon = Date(timeIntervalSince1970: 1_782_907_200)
  private static let draft = NewSchedule(
    name: "Roses", startTimes: ["06:00"], days: ["Mon"], zones: [Schedule.Step(zoneId: 1, minutes: 5)])
  private static let starts = """
    "timeZone":"Etc/UTC","starts":[{"scheduleId":3,"scheduleName":"Roses","startISO":"2026-12-07T06:00:00Z",
    "startLocal":"2026-12-07T07:00:00+01:00","inRainDelay":false,"runs":[{"zoneId":1,"startISO":"2026-12-07T06:00:00Z",
    "seconds":300,"litres":null,"skipped":"wetSoil","why":"a soil of 61 %"}]}],
    "sunless":[{"scheduleId":3,"date":"2026-12-21","start":"sunrise"}],"isCut":true
    """

  private func sprinkler() async throws -> SprinklerModel {
    await bench.connect(["sprinkler": json(SampleStates.sprinkler)])
    await eventually("a sprinkler") { bench.model.sprinkler != nil }
    return try #require(bench.model.sprinkler)
  }

  @Test("the preview has each start with its runs, and says whether more follow")
  func preview() async throws {
    let sprinkler = try await sprinkler()
    bench.daemon.answer("/api/schedules/preview?count=3", "{\"ok\":true,\(Self.starts)}")
    let preview = try await sprinkler.preview(count: 3)
    #expect(preview.isCut && preview.timeZone == "Etc/UTC" && preview.sunless.map(\.start) == ["sunrise"])
    #expect(preview.starts.map(\.scheduleId) == [3] && preview.starts[0].runs.map(\.skipped) == ["wetSoil"])
    #expect(bench.daemon.requests("/api/schedules/preview?count=3").map(\.method) == ["GET"])
  }

  @Test("a draft is sent whole, with the schedule in whose place it is looked at, and nothing is saved")
  func draft() async throws {
    let sprinkler = try await sprinkler()
    let path = "/api/schedules/preview?count=5&only=draft"
    let schedule = json(SampleStates.schedules[0])
    bench.daemon.answer(path, "{\"ok\":true,\(Self.starts),\"schedule\":\(schedule)}")
    let preview = try await sprinkler.preview(of: Self.draft, inPlaceOf: 3, count: 5, onlyDraft: true)
    #expect(preview.schedule == SampleStates.schedules[0] && preview.starts.count == 1 && preview.isCut)
    let request = try #require(bench.daemon.requests(path).first)
    let sent = try JSONDecoder().decode(JSONValue.self, from: try #require(request.body))
    #expect(request.method == "POST" && request.kind == .look && sent["id"] == .number(3))
    let plain = try JSONDecoder().decode(NewSchedule.self, from: try #require(request.body))
    #expect(plain == Self.draft && bench.daemon.requests("/api/schedules").allSatisfy { $0.method == "GET" })
    bench.daemon.answer("/api/schedules/preview?count=20", "{\"ok\":true,\(Self.starts),\"schedule\":\(schedule)}")
    _ = try await sprinkler.preview(of: Self.draft)
    let beside = bench.daemon.requests("/api/schedules/preview?count=20").last { $0.method == "POST" }
    let body = try JSONDecoder().decode(JSONValue.self, from: try #require(beside?.body))
    #expect(body["id"] == nil && body["name"] == .string("Roses"))
  }

  @Test("the log is asked for by span, zone and page; its runs say what became of them")
  func log() async throws {
    let sprinkler = try await sprinkler()
    let path = "/api/log?since=2026-07-01T12%3A00%3A00Z&zone=2&limit=1&after=5-6"
    bench.daemon.answer(
      path,
      """
      {"ok":true,"runs":[{"runId":1,"zoneId":2,"zoneName":"Roses","scheduleId":null,"scheduleName":null,
      "isScheduled":false,"startISO":"2026-12-01T02:24:48Z","askedSec":60,"ranSec":1.051,"askedLitres":null,"litres":2.5,
      "outcome":"aWordOfLater","caller":"127.0.0.1","why":null}],"next":"7-8"}
      """)
    let page = try await sprinkler.log(since: Self.noon, zone: 2, limit: 1, after: "5-6")
    #expect(page.next == "7-8" && page.runs.map(\.ranSec) == [1.051] && page.runs[0].litres == 2.5)
    #expect(page.runs[0].outcome.rawValue == "aWordOfLater")
    bench.daemon.answer("/api/seasonal", #"{"ok":true,"percent":90,"monthlyPercent":[],"effectivePercent":80}"#)
    #expect(try await sprinkler.seasonalLevel().effectivePercent == 80)
  }

  @Test("the pump's history has gaps where it did not answer; a temperature that nobody measured is none")
  func pump() async throws {
    await bench.connect(["pump": json(SampleStates.pump)])
    await eventually("a pump") { bench.model.pump != nil }
    let pump = try #require(bench.model.pump)
    let path = "/api/pump/history?since=2026-07-01T12%3A00%3A00Z&until=2026-07-01T13%3A00%3A00Z&points=60"
    bench.daemon.answer(
      path,
      """
      {"ok":true,"sinceISO":"2026-07-01T12:00:00Z","untilISO":"2026-07-01T13:00:00Z","spanSec":60,"rows":[
      {"startISO":"2026-07-01T12:08:00Z","samples":20,"runningSamples":0,"speedPercent":null,"waterLeastCelsius":12,
      "waterMeanCelsius":12.5,"waterHighestCelsius":13,"skinLeastCelsius":null,"skinMeanCelsius":null,
      "skinHighestCelsius":null}]}
      """)
    let history = try await pump.history(since: Self.noon, until: Self.noon.addingTimeInterval(3_600), points: 60)
    #expect(history.spanSec == 60 && history.rows.map(\.waterMeanCelsius) == [12.5])
    #expect(history.rows[0].skinHighestCelsius == nil && history.rows[0].speedPercent == nil)
    bench.daemon.answer(
      "/api/pump/sessions",
      #"{"ok":true,"next":null,"sessions":[{"number":1,"start":"2026-07-01T12:00:00Z","seconds":9,"note":"knee"}]}"#)
    #expect(try await pump.sessions().map(\.note) == ["knee"])
  }

  @Test("plants: alerts with what happened, pictures with their days, and a history of a span")
  func plants() async throws {
    await bench.connect(["plants": json(SampleStates.plants)])
    await eventually("plants") { bench.model.plants != nil }
    let plants = try #require(bench.model.plants)
    bench.daemon.answer(
      "/api/plants/alerts?plant=2&limit=5",
      """
      {"ok":true,"active":[{"plantId":2,"name":"Mint","alert":"dry"}],"events":[
      {"atISO":"2026-07-01T12:00:00Z","plantId":2,"name":"Mint","kind":"raised","detail":"dry"}]}
      """)
    let alerts = try await plants.alerts(of: 2, limit: 5)
    #expect(alerts.active.map(\.alert) == ["dry"] && alerts.events.map(\.kind) == ["raised"])
    bench.daemon.answer(
      "/api/plants/pictures?limit=400",
      #"{"ok":true,"isTaken":true,"failure":null,"pictures":[{"day":"2026-07-01","takenISO":"2026-07-01T12:00:00Z","bytes":9}]}"#
    )
    bench.daemon.answer("/api/plants/pictures/2026-07-01", "a picture")
    let pictures = try await plants.pictures()
    #expect(pictures.isTaken && pictures.pictures.map(\.id) == ["2026-07-01"])
    #expect(try await plants.picture(of: pictures.pictures[0].day) == Data("a picture".utf8))
    bench.daemon.answer(
      "/api/plants/2/history?until=2026-07-01T12%3A00%3A00Z&points=1",
      #"{"ok":true,"plantId":2,"sinceISO":"2026-06-30T12:00:00Z","untilISO":"2026-07-01T12:00:00Z","sensors":[]}"#)
    let history = try await plants.history(2, until: Self.noon, points: 1)
    #expect(history.sinceISO == "2026-06-30T12:00:00Z" && history.sensors.isEmpty)
  }

  @Test("health: what does not work, and what lies outside; a system without a state; a refusal for a restart")
  func health() async throws {
    bench.daemon.answer(
      "/api/health",
      """
      {"ok":true,"status":"degraded","code":"STORE_LOST","message":"the store was made anew","version":"1",
      "systems":{"robot":"stopped","video":null},"guard":{"state":"watching","replacements":0,"madeSafe":1,
      "madeSafeISO":"2026-07-01T12:00:00Z"}}
      """)
    let health = try await bench.model.health()
    #expect(health.status == .degraded && health.code == "STORE_LOST" && health.guard.madeSafe == 1)
    #expect(health.systems["video"] == .some(nil) && health.systems["robot"] == .some("stopped"))
    // A daemon that is older reports no warnings.
    #expect(health.warnings.isEmpty)
    bench.daemon.answer(
      "/api/health",
      """
      {"ok":true,"status":"ok","version":"1","systems":{},"guard":{"state":"none","replacements":0,"madeSafe":0},
      "warnings":[{"code":"BROKER_GONE","message":"no connection to the broker"}]}
      """)
    let warned = try await bench.model.health()
    #expect(warned.status == .ok && warned.code == nil && warned.message == nil)
    #expect(warned.warnings.map(\.code) == ["BROKER_GONE"])
    #expect(warned.warnings.map(\.message) == ["no connection to the broker"])
    bench.daemon.answer("/api/health", 503, #"{"ok":false,"status":"degraded","code":"STALLED","message":"robot"}"#)
    await #expect(throws: ClientError.refused(Refusal(status: 503, code: "STALLED", message: "robot"))) {
      try await bench.model.health()
    }
  }
}
