import Foundation
import Plants
import ServiceSupport
import Store
import Synchronization
import Tactus
import TestSupport
import Testing

@testable import PlantsDaemon
@testable import PumpDaemon
@testable import Service
@testable import SprinklerDaemon

@Suite("the plants behind the door", .ownThread) struct PlantDoorTests {
  private static let basil = #"{"name":"Basil","sensors":["0x36"]}"#

  @Test("a plant: added, listed, changed, watered, removed; its number never again")
  func plants() async throws {
    let bench = try PlantDoorBench()
    let made = try await bench.ask("POST", "/api/plants", #"{"name":"Basil","sensors":["0x36"],"hotCelsius":35}"#)
    #expect(made.status == .created)
    let plant = try #require(try made.object()["plant"] as? [String: Any])
    #expect(plant["id"] as? Int == 1 && plant["user"] as? String == "tactus" && plant["dryPercent"] as? Double == 20)
    #expect(plant["hotCelsius"] as? Double == 35 && plant["moisturePercent"] is NSNull && plant["watering"] is NSNull)
    let changed = try await bench.plant(
      "PUT", "/api/plants/1", #"{"name":"Mint","sensors":["adc-0","0x36"],"hotCelsius":null,"dryPercent":30}"#)
    #expect(changed["name"] as? String == "Mint" && changed["hotCelsius"] is NSNull)
    #expect(changed["sensors"] as? [String] == ["adc-0", "0x36"] && changed["dryPercent"] as? Double == 30)
    // What GET gives, PUT takes.
    let given = try await bench.ask("GET", "/api/plants/1").object()
    let body = try JSONSerialization.data(withJSONObject: try #require(given["plant"]))
    #expect(
      try await bench.plant("PUT", "/api/plants/1", String(decoding: body, as: UTF8.self))["name"] as? String == "Mint")
    let watered = try await bench.plant("POST", "/api/plants/1/watered")
    #expect(watered["lastWateredISO"] as? String == bench.clock.wall.text)
    #expect(bench.edges() == ["plant.added", "plant.changed", "plant.watered"])
    #expect(try await bench.json("DELETE", "/api/plants/1")["ok"] as? Bool == true)
    #expect(await bench.refusal("GET", "/api/plants/1")?.status == .notFound)
    #expect(try await bench.plant("POST", "/api/plants", Self.basil)["id"] as? Int == 2)
    #expect(bench.edges() == ["plant.removed", "plant.added"])
  }

  @Test("a backup restored: nothing that is decided right afterwards undoes it", arguments: ["reading", "API", "app"])
  func restored(first: String) async throws {
    let bench = try PlantDoorBench()
    _ = try await bench.ask("POST", "/api/plants", Self.basil)
    let backup = try bench.file.backup()
    #expect(try await bench.plant("PUT", "/api/plants/1", #"{"name":"Mint"}"#)["name"] as? String == "Mint")
    #expect(try bench.file.restore(bench.file.check(backup, at: .now)) { _ in true })
    switch first {
    // A first reading that is not dry proves the probe, which is written into the plant.
    case "reading": bench.read(0, 1_100, celsius: 20)
    case "API": _ = try await bench.ask("POST", "/api/plants/1/watered")
    default: #expect(bench.app("REQ_addNewPlant", #"Fern--["0x36"]"#) == ["RES_addNewPlant Fern"])
    }
    let stored = try PlantStore(bench.file).records().plants
    #expect(stored.map(\.name.text) == (first == "app" ? ["Basil", "Fern"] : ["Basil"]))
    #expect(bench.desk.view.records.plants.map(\.name.text) == stored.map(\.name.text))
    #expect(first != "API" || stored[0].lastWatered == bench.clock.wall)
    #expect(first != "reading" || stored[0].proof != nil)
  }

  @Test("refusals: the field, what was expected and what came; nothing is changed")
  func refusals() async throws {
    let bench = try PlantDoorBench()
    _ = try await bench.ask("POST", "/api/plants", Self.basil)
    for (body, status, field) in [
      (#"{"name":"Basil","sensors":["0x36"]}"#, 409, "name"), (#"{"name":"A:B","sensors":["0x36"]}"#, 422, "name"),
      (#"{"name":"Sixteen letters!","sensors":["0x36"]}"#, 422, "name"),
      (#"{"name":"Mint","sensors":["0x99"]}"#, 422, "sensors"), (#"{"name":"Mint","sensors":[]}"#, 422, "sensors"),
      (#"{"name":"Mint","sensors":["0x36","0x36"]}"#, 422, "sensors"), (#"{"sensors":["0x36"]}"#, 422, "name"),
      (#"{"name":"Mint","sensors":["0x36"],"dryPercent":80,"wetPercent":20}"#, 422, "wetPercent"),
      (#"{"name":"Mint","sensors":["0x36"],"dryPercent":101}"#, 422, "dryPercent"),
      (#"{"name":"Mint","sensors":["0x36"],"colour":"red"}"#, 422, "colour"),
    ] {
      let error = await bench.refusal("POST", "/api/plants", body)
      #expect(error?.status.code == status && error?.field == field, "\(body): \(String(describing: error))")
    }
    for number in 2...7 {
      _ = try await bench.ask("POST", "/api/plants", #"{"name":"P\#(number)","sensors":["0x36"]}"#)
    }
    #expect(await bench.refusal("POST", "/api/plants", #"{"name":"P8","sensors":["0x36"]}"#)?.code == "TOO_MANY_PLANTS")
    #expect(await bench.refusal("PUT", "/api/plants/1", #"{"name":"P2"}"#)?.code == "NAME_TAKEN")
    for id in ["0", "8", "x", "-1", "18446744073709551616"] {
      #expect(await bench.refusal("DELETE", "/api/plants/\(id)")?.status == .notFound, "\(id)")
    }
    for query in [["usr": "x"], ["user": ""], ["user": String(repeating: "a", count: 65)]] {
      #expect(await bench.refusal("GET", "/api/plants", query: query)?.status.code == 422, "\(query)")
    }
    #expect(bench.desk.view.records.plants.count == 7)
  }

  @Test("the app and the API share the plants; what one adds the other shows, and a restart keeps them")
  func shared() async throws {
    let bench = try PlantDoorBench()
    #expect(bench.app("REQ_addNewPlant", #"Basil--["0x36"]"#) == ["RES_addNewPlant Basil"])
    #expect(bench.app("REQ_addNewPlant", #"Fern--["0x36"]"#, sender: "../etc") == ["RES_addNewPlant Fern"])
    _ = try await bench.ask("POST", "/api/plants", #"{"name":"Mint","sensors":["adc-0"],"user":"6F2A"}"#)
    #expect(bench.app("REQ_numPlants", "") == ["RES_numPlants 2"])
    let all = try await bench.json("GET", "/api/plants")
    #expect(all["plantCount"] as? Int == 3 && all["userCount"] as? Int == 2)
    let own = try await bench.json("GET", "/api/plants", query: ["user": "6F2A"])
    #expect((own["plants"] as? [[String: Any]])?.map { $0["name"] as? String } == ["Basil", "Mint"])
    let hashed = try await bench.json("GET", "/api/plants", query: ["user": "../etc"])
    let user = try #require((hashed["plants"] as? [[String: Any]])?.first?["user"] as? String)
    #expect(user.hasPrefix("#") && user.count == 17)
    let key = try await bench.json("GET", "/api/plants", query: ["user": user])
    #expect(key["plantCount"] as? Int == 1)
    let again = try PlantDoorBench(folder: try bench.handOver())
    #expect(again.app("REQ_numPlants", "") == ["RES_numPlants 2"])
    #expect(again.app("REQ_deletePlant", "Mint") == ["RES_deletePlant Mint"])
  }

  @Test("an original host's file: taken whole or not at all, given back as it was")
  func file() async throws {
    let bench = try PlantDoorBench()
    let text = #"[{"Name": "Basil", "Sensors": "[\"0x36\", \"adc-0\"]"}, {"Name": "Fern", "Sensors": "[\"0x36\"]"}]"#
    let taken = try await bench.json("POST", "/api/plants/file", text, query: ["user": "6F2A"])
    #expect(taken["plantCount"] as? Int == 2)
    #expect(bench.app("REQ_numPlants", "") == ["RES_numPlants 2"])
    let given = try await bench.ask("GET", "/api/plants/file", query: ["user": "6F2A"])
    #expect(String(decoding: given.body, as: UTF8.self) == text)
    let mixed = #"[{"Name": "Sage", "Sensors": "[\"0x36\"]"}, {"Name": "Basil", "Sensors": "[\"0x36\"]"}]"#
    #expect(await bench.refusal("POST", "/api/plants/file", mixed, query: ["user": "6F2A"])?.code == "NAME_TAKEN")
    #expect(await bench.refusal("POST", "/api/plants/file", "{}", query: ["user": "6F2A"])?.field == "body")
    #expect(await bench.refusal("POST", "/api/plants/file", text)?.field == "user")
    #expect(bench.desk.view.records.plants.count == 2)
  }

  @Test("messages behind a change: answered in the order in which they came")
  func order() throws {
    let bench = try PlantDoorBench(host: Self.withoutSpamLimit)
    let heard = Mutex<[String]>([])
    let done = DispatchSemaphore(value: 0)
    func send(_ operation: String, _ payload: String) {
      let text = "ID:0;sender:6F2A;receiver:all;payload:\(payload);operation:\(operation)"
      bench.desk.receive(Array(text.utf8)) { messages in
        heard.withLock { $0 += messages.map { "\($0.operation) \($0.payload)" } }
        done.signal()
      }
    }
    for number in 0..<50 {
      send("REQ_addNewPlant", "P\(number)--[\"0x36\"]")
      send("REQ_numPlants", "")
      send("REQ_deletePlant", "P\(number)")
      send("REQ_numPlants", "")
    }
    for _ in 0..<200 { done.wait() }
    let expected = (0..<50).flatMap { number in
      ["RES_addNewPlant P\(number)", "RES_numPlants 1", "RES_deletePlant P\(number)", "RES_numPlants 0"]
    }
    #expect(heard.withLock { $0 } == expected)
    // What the broker had kept is counted only.
    bench.desk.receive(Array("ID:0;sender:x;receiver:all;payload:;operation:REQ_numPlants".utf8), isOld: true) { _ in
      Issue.record("answered")
    }
    #expect(bench.desk.messages(bench.desk.view)["old"] == 1)
  }

  private static var withoutSpamLimit: PlantHostSettings {
    var settings = PlantHostSettings()
    settings.spamLimit = nil
    return settings
  }

  @Test("a store that refuses: nothing was changed, the app and the API are told so; taken again, all is well")
  func storeRefuses() async throws {
    let bench = try PlantDoorBench()
    _ = try await bench.ask("POST", "/api/plants", Self.basil)
    // Rows that cannot be written any more.
    try bench.sql("ALTER TABLE plants_plant RENAME TO elsewhere")
    let replies = bench.app("REQ_addNewPlant", #"Fern--["0x36"]"#)
    #expect(replies.count == 1 && replies[0].hasPrefix("ERR_invalidOpTag ID:7;sender:6F2A"), "\(replies)")
    let error = await bench.refusal("DELETE", "/api/plants/1")
    #expect(error?.status == .serviceUnavailable && error?.code == "STORE_FAILED")
    #expect(bench.app("REQ_numPlants", "") == ["RES_numPlants 0"])
    #expect(bench.desk.view.records.plants.map(\.name.text) == ["Basil"] && bench.desk.view.storeFailure != nil)
    #expect(bench.desk.messages(bench.desk.view)["notKept"] == 1)
    try bench.sql("ALTER TABLE elsewhere RENAME TO plants_plant")
    #expect(bench.app("REQ_addNewPlant", #"Fern--["0x36"]"#) == ["RES_addNewPlant Fern"])
    #expect(bench.desk.view.storeFailure == nil)
    #expect(try bench.desk.store.records() == bench.desk.view.records)
  }

  @Test("a client that reports an error: never answered, counted every time, told once a second")
  func clientErrors() throws {
    let bench = try PlantDoorBench()
    for _ in 0..<3 { #expect(bench.app("ERR_invalidOpTag", "x") == []) }
    #expect(bench.desk.takeNews() == [.clientError(operation: "ERR_invalidOpTag", payload: "x")])
    bench.run(seconds: 1)
    #expect(bench.desk.messages(bench.desk.view)["peer-error"] == 3)
    #expect(bench.app("ERR_" + String(repeating: "y", count: 99), String(repeating: "z", count: 999)) == [])
    guard case .clientError(let operation, let payload)? = bench.desk.takeNews().last else {
      Issue.record("not told")
      return
    }
    #expect(operation.count == 64 && payload.count == 200)
  }

  @Test("dry, watered, silent: alerts in the state, as events and in the log, which a restart keeps")
  func alerts() async throws {
    let bench = try PlantDoorBench()
    _ = try await bench.ask("POST", "/api/plants", Self.basil)
    bench.run(seconds: 30, moisture: 15)
    var plant = try await bench.plant("GET", "/api/plants/1")
    #expect(plant["alerts"] as? [String] == ["dry"] && plant["moisturePercent"] as? Double == 15)
    #expect(plant["temperatureCelsius"] as? Double == 21.3)
    bench.run(seconds: 60, moisture: 60)
    plant = try await bench.plant("GET", "/api/plants/1")
    #expect(plant["alerts"] as? [String] == [] && plant["lastWateredISO"] is String)
    bench.run(seconds: 150)
    let answer = try await bench.json("GET", "/api/plants/alerts")
    #expect((answer["active"] as? [[String: Any]])?.map { $0["alert"] as? String } == ["silent"])
    let kinds = (answer["events"] as? [[String: Any]])?.map { "\($0["kind"]!) \($0["detail"]!)" }
    #expect(kinds?.first == "raised silent" && kinds?.last == "raised dry")
    #expect(Set(kinds?.dropFirst().dropLast() ?? []) == ["cleared dry", "watered moisture rose"])
    #expect(bench.edges() == ["plant.added", "plant.alert", "plant.watered", "plant.alert", "plant.alert"])
    let again = try PlantDoorBench(folder: try bench.handOver())
    let kept = try await again.json("GET", "/api/plants/alerts", query: ["plant": "1", "limit": "2"])
    #expect((kept["events"] as? [Any])?.count == 2)
    #expect(await again.refusal("GET", "/api/plants/alerts", query: ["limit": "0"])?.field == "limit")
  }

  @Test(
    "history: minutes while they are kept, what is still gathered with what is stored, as CSV, too; a restart joins on")
  func history() async throws {
    let bench = try PlantDoorBench()
    _ = try await bench.ask("POST", "/api/plants", Self.basil)
    bench.run(seconds: 200, moisture: 40)
    let history = try await bench.json("GET", "/api/plants/1/history")
    let sensor = try #require((history["sensors"] as? [[String: Any]])?.first)
    let rows = try #require(sensor["rows"] as? [[String: Any]])
    #expect(sensor["sensor"] as? String == "0x36" && rows.map { $0["samples"] as! Int }.reduce(0, +) == 20)
    #expect(rows.allSatisfy { $0["spanSec"] as? Int == 60 && $0["meanPercent"] as? Double == 40 })
    let few = try await bench.json("GET", "/api/plants/1/history", query: ["points": "2"])
    let merged = try #require((few["sensors"] as? [[String: Any]])?.first?["rows"] as? [[String: Any]])
    #expect(merged.count == 2 && merged.map { $0["samples"] as! Int }.reduce(0, +) == 20)
    let since = PlantDoorBench.start.text
    let fine = try await bench.json("GET", "/api/plants/1/history", query: ["since": since, "points": "2000"])
    let minutes = try #require((fine["sensors"] as? [[String: Any]])?.first?["rows"] as? [[String: Any]])
    #expect(minutes.count >= 4 && minutes.allSatisfy { $0["spanSec"] as? Int == 60 })
    #expect(minutes.map { $0["samples"] as! Int }.reduce(0, +) == 20)
    let csv = try await bench.ask("GET", "/api/plants/1/history.csv", query: ["since": since])
    let lines = String(decoding: csv.body, as: UTF8.self).split(separator: "\r\n")
    #expect(csv.contentType.hasPrefix("text/csv") && lines[0].hasPrefix("start,sensor,span_s,samples"))
    #expect(
      lines.count == minutes.count + 1 && lines[1].contains(",0x36,60,") && lines[1].hasSuffix(",40.0,40.0,40.0,21.3"))
    bench.desk.finish()
    let again = try PlantDoorBench(folder: try bench.handOver())
    again.clock.seconds.store(300, ordering: .releasing)
    again.run(seconds: 100, moisture: 80)
    let joined = try await again.json("GET", "/api/plants/1/history", query: ["since": since, "points": "2000"])
    let both = try #require((joined["sensors"] as? [[String: Any]])?.first?["rows"] as? [[String: Any]])
    #expect(both.map { $0["samples"] as! Int }.reduce(0, +) == 30)
    for (query, field) in [
      (["since": "yesterday"], "since"), (["points": "0"], "points"), (["until": since, "since": since], "since"),
    ] {
      #expect(await again.refusal("GET", "/api/plants/1/history", query: query)?.field == field, "\(query)")
    }
  }

  @Test("calibration: by what the probe reads now, by two numbers, forgotten; a silent probe has nothing to say")
  func calibration() async throws {
    let bench = try PlantDoorBench()
    let path = "/api/plants/sensors/adc-0/calibrate"
    #expect(await bench.refusal("POST", path, #"{"point":"dry"}"#)?.code == "SENSOR_SILENT")
    bench.read(1, 2_300_000)
    let dry = try #require(try await bench.json("POST", path, #"{"point":"dry"}"#)["sensor"] as? [String: Any])
    let points = try #require(dry["calibration"] as? [String: Any])
    #expect(points["dry"] as? Double == 2_300 && points["wet"] as? Double == 1_100 && points["isSet"] as? Bool == true)
    #expect(dry["moisturePercent"] as? Double == 0 && dry["raw"] as? Double == 2_300 && dry["unit"] as? String == "mV")
    bench.read(1, 1_700_000)
    let sensors = try #require(try await bench.json("GET", "/api/plants/sensors")["sensors"] as? [[String: Any]])
    #expect(sensors.map { $0["id"] as? String } == ["0x36", "adc-0"] && sensors[1]["moisturePercent"] as? Double == 50)
    #expect(sensors[0]["raw"] is NSNull && sensors[0]["isFresh"] as? Bool == false)
    let both = try #require(try await bench.json("POST", path, #"{"dry":2000,"wet":1500}"#)["sensor"] as? [String: Any])
    #expect(both["moisturePercent"] as? Double == 60)
    for body in [#"{"point":"damp"}"#, #"{"dry":5}"#, #"{"dry":5,"wet":5}"#, #"{"point":"dry","wet":5}"#, "{}"] {
      #expect(await bench.refusal("POST", path, body)?.status.code == 422, "\(body)")
    }
    // What the probe trembles by in one soil is no calibration: neither by two numbers nor by what it reads now.
    let twice = await bench.refusal("POST", path, #"{"dry":2157.6,"wet":2158.75}"#)
    #expect(twice?.status.code == 422 && twice?.field == "wet")
    #expect(
      twice?.message.hasPrefix("wet: expected wet at least 100 mV away from dry, got dry 2157.6 and wet 2158.75 mV")
        == true)
    bench.read(1, 2_000_500)
    #expect(await bench.refusal("POST", path, #"{"point":"wet"}"#)?.field == "wet")
    let kept = try #require(try await bench.json("GET", "/api/plants/sensors")["sensors"] as? [[String: Any]])
    #expect((kept[1]["calibration"] as? [String: Any])?["wet"] as? Double == 1_500)
    let own = try #require(try await bench.json("DELETE", path)["sensor"] as? [String: Any])
    #expect((own["calibration"] as? [String: Any])?["isSet"] as? Bool == false)
    #expect(await bench.refusal("DELETE", "/api/plants/sensors/0x99/calibrate")?.status == .notFound)
    #expect(bench.edges() == [])
  }

  @Test("a backup is restored: the desk has its plants within a second")
  func restored() async throws {
    let bench = try PlantDoorBench()
    _ = try await bench.ask("POST", "/api/plants", Self.basil)
    let backup = try bench.file.backup()
    _ = try await bench.ask("DELETE", "/api/plants/1")
    #expect(try SprinklerStore(bench.file).restore(try bench.file.check(backup, at: .now)) { _ in [] })
    #expect(bench.desk.view.records.plants.isEmpty)
    bench.run(seconds: 1)
    #expect(bench.desk.view.records.plants.map(\.name.text) == ["Basil"] && bench.desk.view.records.nextPlant == 2)
  }

  @Test("the event of a second shows the first hundred plants, the document all")
  func many() async throws {
    let bench = try PlantDoorBench()
    for number in 0..<105 {
      _ = try await bench.ask(
        "POST", "/api/plants", #"{"name":"P\#(number)","sensors":["0x36"],"user":"u\#(number / 7)"}"#)
    }
    let event = try #require(bench.door.events(at: bench.clock.now, second: true).first)
    let body = try #require(try JSONSerialization.jsonObject(with: Data(event.body)) as? [String: Any])
    #expect((body["plants"] as? [Any])?.count == 100 && body["plantCount"] as? Int == 105)
    #expect((try await bench.json("GET", "/api/plants")["plants"] as? [Any])?.count == 105)
    #expect(bench.door.events(at: bench.clock.now, second: false).isEmpty)
  }
}
