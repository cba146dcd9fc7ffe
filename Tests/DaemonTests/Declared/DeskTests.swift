import DaemonSupport
import Foundation
import Logging
import Store
import Synchronization
import Tactus
import TestSupport
import Testing
import WallTime
import Wire

@testable import Service
@testable import TactusDaemon

/// A desk of a jar with a store of its own.
private struct JarWithDesk {
  let folder = try! TemporaryFolder()
  let file: StoreFile
  let desk: HostedDesk<Jar>
  let opened: OpenedTables
  let offers = SystemSurroundings.Offers()

  /// - Parameters:
  ///   - isSure: whether the clock has been watched for long enough.
  ///   - prepare: what an earlier program did with the store.
  init(days: Int = 10, isSure: Bool = false, prepare: (StoreFile) throws -> Void = { _ in }) throws {
    let systems = [Jar.declaredKeeping!.tables]
    file = try StoreFile.open(
      folder.path("store.sqlite"), systems: systems, at: WallInstant(secondsSince1970: 1_790_000_000)
    ).file
    try prepare(file)
    var wiring = Jar.Wiring()
    wiring.days = days
    opened = OpenedTables(OpenedTables.shapes(of: Jar.self, wiring), in: file, of: "jar/left")
    desk = try HostedDesk(
      DeskMaterial<Jar>(
        name: "jar/left", wiring: wiring, newest: { Published(at: .zero, isSafe: true, state: Jar.State()) },
        rules: { NoSettings() }, clock: Self.clock(isSure), zone: .utc, logger: Logger(label: "test"), tell: { _ in },
        offers: offers, file: file, opened: opened))
  }

  /// 21 September 2026; sure from the second look on, between which an hour passes, or never.
  static func clock(_ isSure: Bool) -> WatchedWallClock {
    let hours = Mutex<Int64>(0)
    return WatchedWallClock(boot: nil) {
      let hour = hours.withLock { hours in
        if isSure { hours += 1 }
        return hours
      }
      return WallWatch.Sample(
        microseconds: 1_790_000_000_000_000 + hour * 3_600_000_000, bootTime: .zero + .seconds(hour * 3_600),
        isSynchronised: true)
    }
  }

  func ask(
    _ method: String, _ path: String, _ body: String = "", query: [String: String] = [:],
    parameters: [String: String] = [:]
  ) async throws -> (json: JSONValue, response: APIResponse) {
    let route = try #require(desk.routes.first { $0.path == "/api/jar/left/\(path)" && "\($0.method)" == method })
    guard case .handler(let handle) = route.handling else { preconditionFailure("no handler") }
    let caller = Caller(scope: .control, tokenID: nil, address: "", client: 1)
    let response = try await handle(
      APIRequest(caller: caller, parameters: parameters, query: query, body: Array(body.utf8)))
    return (JSONValue(json: response.body) ?? .null, response)
  }

  /// What a request that is refused is answered.
  func refusal(
    _ method: String, _ path: String, _ body: String = "", query: [String: String] = [:],
    parameters: [String: String] = [:]
  ) async throws -> APIError? {
    do {
      _ = try await ask(method, path, body, query: query, parameters: parameters)
      return nil
    } catch let error as APIError {
      return error
    }
  }

  func keep(_ grams: Double, at second: Int64 = 1_789_999_000) {
    desk.thread.finish {
      let table = opened.retried[0] as! RowTable<Jar.Fill>
      table.keep(Jar.Fill(at: WallInstant(secondsSince1970: second), grams: grams, fruit: .fig, isLast: true))
    }
  }
}

@Suite("what is declared beside the loops: desk, routes, tables", .ownThread)
struct DeskTests {
  @Test(
    "a query: in camel case, with its defaults; what is missing, unknown, of another kind or out of range is 422 with its name"
  )
  func query() async throws {
    let jar = try JarWithDesk()
    #expect(try await jar.ask("GET", "sum", query: ["firstPart": "3"]).json["sum"] == .number("8"))
    #expect(try await jar.ask("GET", "sum", query: ["firstPart": "3", "second": "0"]).json["sum"] == .number("3"))
    for (query, field) in [
      ([:], "firstPart"), (["firstPart": "11"], "firstPart"), (["firstPart": "x"], "firstPart"),
      (["firstPart": "1", "third": "1"], "third"), (["firstPart": "1", "second": "-1"], "second"),
    ] as [([String: String], String)] {
      let refusal = try await jar.refusal("GET", "sum", query: query)
      #expect(refusal?.status == .unprocessableContent && refusal?.field == field, "\(query): \(refusal as Any)")
    }
  }

  @Test("a body with a list: read, and answered as the same struct; what is wrong is 422 with its item and its name")
  func body() async throws {
    let jar = try JarWithDesk()
    let plan = #"{"start":"2026-05-01T02:00:00+02:00","layers":[{"grams":5},{"fruit":"fig"}]}"#
    let (json, _) = try await jar.ask("PUT", "plan", plan)
    #expect(
      String(decoding: json.bytes, as: UTF8.self)
        == #"{"ok":true,"start":"2026-05-01T00:00:00Z","layers":[{"grams":5,"fruit":"plum"},{"grams":100,"fruit":"fig"}]}"#
    )
    let start = #""start":"2026-05-01T00:00:00Z""#
    for (body, field) in [
      ("{}", "start"), (#"{"start":"yesterday"}"#, "start"), ("{\(start),\"layers\":7}", "layers"),
      ("{\(start),\"layers\":[{\"grams\":0}]}", "layers[0].grams"),
      ("{\(start),\"layers\":[{},{\"grms\":1}]}", "layers[1].grms"), ("{\(start),\"layers\":[{},{},{}]}", "layers"),
      ("{\(start),\"more\":1}", "more"),
      ("{\(start),\"layers\":[{\"fruit\":\"fig\",\"grams\":501}]}", "layers[0].grams"),
    ] {
      let refusal = try await jar.refusal("PUT", "plan", body)
      #expect(refusal?.status == .unprocessableContent && refusal?.field == field, "\(body): \(refusal as Any)")
    }
    #expect(try await jar.refusal("PUT", "plan", "{")?.status == .badRequest)
    #expect(try await jar.ask("DELETE", "plan").json == .object([.init(name: "ok", value: .boolean(true))]))
    #expect(try await jar.refusal("DELETE", "plan")?.status == .notFound)
    let (_, picture) = try await jar.ask("GET", "picture")
    #expect(picture.body == [1, 2, 3] && picture.contentType == "image/x-dots")
  }

  @Test("a row: written by the desk, changed by a person, read in pages and as CSV")
  func rows() async throws {
    let jar = try JarWithDesk()
    for grams in [1.0, 2.5, 3] { jar.keep(grams) }
    let changed = try await jar.ask("POST", "fills/{number}/kind", #"{"kind":"=1+1"}"#, parameters: ["number": "2"])
    #expect(changed.json["kind"] == .text("=1+1") && changed.json["grams"] == .number("2.5"))
    for (number, body, status, field) in [
      ("9", #"{"kind":"a"}"#, 404, nil), ("0", #"{"kind":"a"}"#, 422, "number"), ("x", #"{"kind":"a"}"#, 422, "number"),
      ("2", "{}", 422, "kind"), ("2", #"{"kind":""}"#, 422, "kind"), ("2", #"{"kind":7}"#, 422, "kind"),
    ] as [(String, String, Int, String?)] {
      let refusal = try await jar.refusal("POST", "fills/{number}/kind", body, parameters: ["number": number])
      #expect(refusal?.status.code == status && refusal?.field == field, "\(number) \(body): \(refusal as Any)")
    }
    let page = try await jar.ask("GET", "fills", query: ["limit": "2"]).json
    #expect(page["rows"]?.items.map { $0["number"] } == [.number("3"), .number("2")] && page["next"] == .number("2"))
    let last = try await jar.ask("GET", "fills", query: ["after": "2"]).json
    #expect(last["rows"]?.items.count == 1 && last["next"] == .null)
    #expect(
      last["rows"]?.items.first.map { String(decoding: $0.bytes, as: UTF8.self) }
        == #"{"number":1,"filledAt":"2026-09-21T13:56:40Z","grams":1,"kind":null,"fruit":"fig","isLast":true}"#)
    #expect(try await jar.refusal("GET", "fills", query: ["limit": "0"])?.field == "limit")
    let response = try await jar.ask("GET", "fills.csv").response
    var csv = ""
    while let piece = try await response.pieces?() { csv += String(decoding: piece, as: UTF8.self) }
    #expect(csv.hasPrefix("number,filledAt,grams,kind,fruit,isLast\r\n1,2026-09-21T13:56:40Z,1,,fig,true\r\n2,"))
    #expect(csv.contains(",'=1+1,"))
  }

  @Test(
    "pruned by number whatever the clock says, and by age only while it is sure", arguments: [(false, 5), (true, 4)])
  func pruning(isSure: Bool, left: Int) async throws {
    let jar = try JarWithDesk(days: 1, isSure: isSure)
    // Five at most: the first three go for that. The next is more than a day old.
    for index in 0..<8 { jar.keep(Double(index), at: 1_790_000_000 - (index == 3 ? 100_000 : 0)) }
    let newest = Published(at: .zero, isSafe: true, state: Jar.State())
    for second in [0, 70] as [Int64] {
      jar.desk.beat(newest, at: .zero + .seconds(second))
      jar.desk.thread.finish {}
    }
    #expect(try await jar.ask("GET", "fills").json["rows"]?.items.count == left)
  }

  @Test("a store that takes nothing for a while: nothing is lost, a person is told 503, and the health shows it")
  func locked() async throws {
    let jar = try JarWithDesk()
    jar.keep(1)
    try jar.file.close()
    for grams in [2.0, 3, 4] { jar.keep(grams) }
    let refusal = try await jar.refusal("POST", "fills/{number}/kind", #"{"kind":"a"}"#, parameters: ["number": "1"])
    #expect(refusal?.status == .serviceUnavailable && refusal?.code == APIError.storeFailedCode)
    _ = try jar.file.open(at: WallInstant(secondsSince1970: 1_790_000_000))
    jar.desk.beat(Published(at: .zero, isSafe: true, state: Jar.State()), at: .zero)
    jar.desk.thread.finish {}
    let page = try await jar.ask("GET", "fills", query: ["order": "oldest"]).json
    #expect(page["rows"]?.items.map { $0["grams"] } == [.number("1"), .number("2"), .number("3"), .number("4")])
  }

  @Test(
    "rows that a killed program left open: its own are closed before anybody looks, or as soon as the store is open, before a new one",
    arguments: [true, false])
  func leftOpen(isOpen: Bool) throws {
    func rows(_ file: StoreFile, _ name: String) -> StoredRows {
      StoredRows(Jar.tables[1].stored(true), in: file, of: name)
    }
    func texts(_ rows: StoredRows) throws -> [String?] {
      try rows.page(.init(isNewestFirst: false)).rows.map { Jar.Note($0).text }
    }
    let jar = try JarWithDesk { file in
      for name in ["jar/left", "jar/right"] {
        try rows(file, name).write(Jar.Note(text: "told").storedRow, by: .byMachine)
        try rows(file, name).write(Jar.Note().storedRow, by: .byMachine)
      }
      if !isOpen { try file.close() }
    }
    let (left, right) = (rows(jar.file, "jar/left"), rows(jar.file, "jar/right"))
    if isOpen { #expect(try texts(left) == ["told", "lost"]) }
    let place = jar.desk.desk.notes.keep(Jar.Note())
    if !isOpen {
      _ = try jar.file.open(at: WallInstant(secondsSince1970: 1_790_000_100))
      #expect(try texts(left) == ["told", nil])
      jar.desk.desk.notes.retry()
    }
    #expect(try texts(left) == ["told", "lost", nil] && texts(right) == ["told", nil])
    jar.desk.desk.notes.keep(Jar.Note(isLoud: false), at: place)
    #expect(try texts(left) == ["told", "lost", nil], "what goes on now is not closed")
  }

  @Test("a row that goes on keeps its number, whether the store has taken it first or not")
  func goingOn() throws {
    let jar = try JarWithDesk()
    let table = jar.opened.retried[0] as! RowTable<Jar.Fill>
    let place = table.keep(Jar.Fill(at: WallInstant(secondsSince1970: 10), grams: 1))
    #expect(place.number == 1)
    table.keep(Jar.Fill(at: WallInstant(secondsSince1970: 10), grams: 2), at: place)
    try jar.file.close()
    let late = table.keep(Jar.Fill(at: WallInstant(secondsSince1970: 20), grams: 3))
    table.keep(Jar.Fill(at: WallInstant(secondsSince1970: 20), grams: 4), at: late)
    #expect(late.number == nil && table.isWaiting)
    _ = try jar.file.open(at: WallInstant(secondsSince1970: 1_790_000_000))
    table.retry()
    #expect(late.number == 2 && !table.isWaiting)
    #expect(try table.newest(10).map(\.grams) == [4, 2])
    #expect(try table.row(3) == nil)
  }

  @Test("a desk hears notices, beats and the end, in their order")
  func heard() throws {
    let jar = try JarWithDesk()
    let newest = Published(at: .zero, isSafe: true, state: Jar.State())
    jar.desk.told(Told(at: .zero, notice: Jar.Notice.filled))
    jar.desk.beat(newest, at: .zero)
    #expect(jar.desk.finish(newest) == .known)
    #expect(jar.desk.desk.heard == ["filled", "beat", "finish"])
  }

  @Test("a desk says what the store knows of the end, and offers something to other systems")
  func outcome() throws {
    let jar = try JarWithDesk()
    #expect(jar.offers.find(JarSupply.self)?.jar == "jar/left")
    jar.desk.desk.outcome = .unknown
    #expect(jar.desk.finish(Published(at: .zero, isSafe: true, state: Jar.State())) == .unknown)
  }

  @Test("every route of the desk is described, with what it takes, what it answers and its errors")
  func described() throws {
    let jar = try JarWithDesk()
    let loops = try HostedDoor<Jar>.Loops(state: Jar.initialState, rules: NoSettings())
    let door = HostedDoor<Jar>(loops, at: SystemPlace("left", of: "jar", at: "jars[0]"), beside: jar.desk)
    let api = door.api
    let described = Set(
      api.paths.members.flatMap { path in path.value.members.map { "\($0.name.uppercased()) \(path.name)" } })
    #expect(Set(door.routes.map { "\($0.method) \($0.path)" }) == described)
    let put = api.paths["/api/jar/left/plan"]?["put"]
    #expect(put?["operationId"] == .text("putJarLeftPlan"))
    let body = put?["requestBody"]?["content"]?["application/json"]?["schema"]
    #expect(body?["required"] == .list([.text("start")]) && body?["properties"]?["layers"]?["maxItems"] == .number("2"))
    #expect(put?["errors"] == .list([.text("409"), .text("503")]) && put?["scope"] == .text("control"))
    let path = api.paths["/api/jar/left/fills/{number}/kind"]?["post"]?["parameters"]?.items.first
    #expect(path?["in"] == .text("path") && path?["required"] == .boolean(true))
    #expect(api.paths["/api/jar/left/fills"]?["get"]?["parameters"]?.items.count == 5)
  }
}
