import Tactus
import TestSupport
import Testing
import Wire

@testable import Plants

@Suite("Plant-Tracker host", .ownThread) struct PlantHostTests {
  @Test("golden: a session as the original host has it, with acknowledgements")
  func session() {
    var bench = HostBench()
    #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 0"])
    #expect(bench.ask("REQ_addNewPlant", "Basil--[\"0x36\", \"0x37\"]") == ["RES_addNewPlant Basil"])
    #expect(bench.ask("REQ_addNewPlant", "Mint--[\"0x38\"]") == ["RES_addNewPlant Mint"])
    #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 2"])
    #expect(
      bench.ask("REQ_plantInfoOnStartup", "0") == [
        #"RES_plantInfoOnStartup {"Name"-- "Basil", "Sensors"-- "[\"0x36\", \"0x37\"]"}"#
      ])
    #expect(
      bench.ask("REQ_plantInfoOnStatup", "1") == [
        #"RES_plantInfoOnStartup {"Name"-- "Mint", "Sensors"-- "[\"0x38\"]"}"#
      ])
    bench.read("0x36", raw: 650, celsius: 22.2)
    bench.read("0x37", raw: 200)
    bench.read("0x38", raw: 2000)
    #expect(
      bench.ask("REQ_plantSensorData", "all") == [
        "RES_plantSensorData {'moisture'-- 5, 'temperature'-- 71, 'plant'-- 'Basil', 'sensor'-- '0x36'}",
        "RES_plantSensorData {'moisture'-- 0, 'temperature'-- 71, 'plant'-- 'Basil', 'sensor'-- '0x37'}",
        "RES_plantSensorData {'moisture'-- 10, 'temperature'-- 71, 'plant'-- 'Mint', 'sensor'-- '0x38'}",
      ])
    #expect(
      bench.ask("REQ_plantSensorData", "Mint") == [
        "RES_plantSensorData {'moisture'-- 10, 'temperature'-- 71, 'plant'-- 'Mint', 'sensor'-- '0x38'}"
      ])
    #expect(bench.ask("REQ_editPlant", "Mint,Peppermint") == ["RES_editPlant Peppermint"])
    #expect(bench.ask("REQ_deletePlant", "Basil") == ["RES_deletePlant Basil"])
    #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 1"])
  }

  @Test("golden: what the app makes of a sensor's payload is JSON")
  func appReadsSensorData() throws {
    var bench = HostBench()
    bench.add("Basil")
    bench.read("0x36", raw: 650, celsius: 22.2)
    let reply = bench.ask("REQ_plantSensorData", "all")[0].dropFirst("RES_plantSensorData ".count)
    // ViewController.swift: '--' to ':', ''' to '"'.
    let text = PlantPayload.unescaped(String(reply)).map { $0 == "'" ? "\"" : $0 }
    #expect(
      try JSONParser.parse(Array(String(text).utf8))
        == .object([
          .init(name: "moisture", value: .number("5")), .init(name: "temperature", value: .number("71")),
          .init(name: "plant", value: .text("Basil")), .init(name: "sensor", value: .text("0x36")),
        ]))
  }

  @Test("quiet: add, delete and edit change the book and say nothing; errors are still told")
  func quiet() {
    var settings = PlantHostSettings()
    settings.legacyQuiet = true
    var bench = HostBench(settings)
    #expect(bench.ask("REQ_addNewPlant", "Basil--[\"0x36\"]") == [])
    #expect(bench.ask("REQ_editPlant", "Basil,Mint") == [])
    #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 1"])
    #expect(bench.ask("REQ_addNewPlant", "Mint--[\"0x36\"]").first?.hasPrefix("ERR_plantNameTaken") == true)
    #expect(bench.ask("REQ_deletePlant", "Mint") == [])
    #expect(bench.ask("REQ_numPlants", "") == ["RES_numPlants 0"])
  }

  enum State: CaseIterable { case empty, onePlant, sevenPlants, otherUsersPlants }

  /// The first word of each reply, by state: no plant, "Basil" alone, seven with "Basil", "Basil" of another user.
  static let table: [(String, String, [String])] = [
    ("REQ_numPlants", "", ["RES_numPlants 0", "RES_numPlants 1", "RES_numPlants 7", "RES_numPlants 0"]),
    (
      "REQ_plantInfoOnStartup", "0",
      ["ERR_noPlantDataToRequest", "RES_plantInfoOnStartup", "RES_plantInfoOnStartup", "ERR_noPlantDataToRequest"]
    ),
    (
      "REQ_plantInfoOnStartup", "6",
      ["ERR_noPlantDataToRequest", "ERR_noPlantDataToRequest", "RES_plantInfoOnStartup", "ERR_noPlantDataToRequest"]
    ),
    ("REQ_plantInfoOnStartup", "-1", Array(repeating: "ERR_noPlantDataToRequest", count: 4)),
    ("REQ_plantInfoOnStartup", "x", Array(repeating: "ERR_noPlantDataToRequest", count: 4)),
    ("REQ_plantInfoOnStartup", "", Array(repeating: "ERR_noPlantDataToRequest", count: 4)),
    (
      "REQ_plantSensorData", "all",
      ["ERR_noPlantDataToRequest", "RES_plantSensorData", "RES_plantSensorData", "ERR_noPlantDataToRequest"]
    ),
    (
      "REQ_plantSensorData", "Basil",
      ["ERR_noPlantDataToRequest", "RES_plantSensorData", "RES_plantSensorData", "ERR_noPlantDataToRequest"]
    ),
    ("REQ_plantSensorData", "", Array(repeating: "ERR_noPlantDataToRequest", count: 4)),
    (
      "REQ_addNewPlant", "Rose--[\"0x39\"]",
      ["RES_addNewPlant Rose", "RES_addNewPlant Rose", "ERR_tooManyPlants", "RES_addNewPlant Rose"]
    ),
    (
      "REQ_addNewPlant", "Basil--[\"0x39\"]",
      ["RES_addNewPlant Basil", "ERR_plantNameTaken", "ERR_tooManyPlants", "RES_addNewPlant Basil"]
    ),
    (
      "REQ_deletePlant", "Basil",
      ["ERR_cannotDeletePlant", "RES_deletePlant Basil", "RES_deletePlant Basil", "ERR_cannotDeletePlant"]
    ),
    ("REQ_deletePlant", "", Array(repeating: "ERR_cannotDeletePlant", count: 4)),
    (
      "REQ_editPlant", "Basil,Rose",
      ["ERR_cannotDeletePlant", "RES_editPlant Rose", "RES_editPlant Rose", "ERR_cannotDeletePlant"]
    ),
    (
      "REQ_editPlant", "Basil,Plant 2",
      ["ERR_cannotDeletePlant", "RES_editPlant Plant 2", "ERR_plantNameTaken", "ERR_cannotDeletePlant"]
    ),
    (
      "REQ_editPlant", "Basil,Basil",
      ["ERR_cannotDeletePlant", "RES_editPlant Basil", "RES_editPlant Basil", "ERR_cannotDeletePlant"]
    ),
    ("REQ_nothing", "x", Array(repeating: "ERR_invalidOpTag", count: 4)),
    ("RES_numPlants", "1", Array(repeating: "ERR_invalidOpTag", count: 4)),
    ("ERR_invalidOpTag", "x", Array(repeating: "", count: 4)),
  ]

  @Test("every operation in every state: the reply of the table", arguments: State.allCases)
  func everyOperation(state: State) {
    for (operation, payload, expected) in Self.table {
      var bench = HostBench()
      bench.read("0x36", raw: 650)
      switch state {
      case .empty: break
      case .onePlant: bench.add("Basil")
      case .sevenPlants:
        bench.add("Basil")
        for number in 2...7 { bench.add("Plant \(number)") }
      case .otherUsersPlants: bench.add("Basil", from: "other")
      }
      let replies = bench.ask(operation, payload)
      let wanted = expected[State.allCases.firstIndex(of: state)!]
      if wanted.isEmpty {
        #expect(replies == [], "\(operation) \(payload)")
      } else {
        #expect(replies.first?.hasPrefix(wanted) == true, "\(operation) \(payload): \(replies)")
      }
      #expect(replies.allSatisfy { !$0.hasPrefix("empty payload") })
    }
  }

  @Test(
    "add: names and sensors that are refused, and why",
    arguments: [
      ("Sixteen letters.--[\"0x36\"]", "plantNameTooLong"),
      // A name that is none has the nearest tag that the app knows.
      ("--[\"0x36\"]", "plantNameTaken"), ("a||b--[\"0x36\"]", "plantNameTaken"),
      ("a|b--[\"0x36\"]", "plantNameTaken"), ("a\\b--[\"0x36\"]", "plantNameTaken"),
      ("all--[\"0x36\"]", "plantNameTaken"), ("-a--[\"0x36\"]", "plantNameTaken"),
      ("a\u{7}--[\"0x36\"]", "plantNameTaken"), ("Basil", "addPlantSensorNumIssue"),
      ("Basil--[]", "addPlantSensorNumIssue"),
      ("Basil--[\"0x36\",\"0x37\",\"0x38\",\"0x39\",\"0x36\"]", "addPlantSensorNumIssue"),
      ("Basil--[\"0x40\"]", "invalidPlantSensorID"), ("Basil--[\"54\"]", "invalidPlantSensorID"),
      ("Basil--[\"0x36\",\"36\"]", "invalidPlantSensorID"), ("Basil--[\"0x136\"]", "invalidPlantSensorID"),
      ("Basil--[\"0x36\",\"0x36\"]", "invalidPlantSensorID"),
      ("Basil--[0x36", "invalidPlantSensorID"), ("Basil--[54]", "invalidPlantSensorID"),
      ("a--b--[\"0x36\"]", "invalidPlantSensorID"),
    ])
  func refusedAdds(payload: String, tag: String) {
    var bench = HostBench()
    let request = "ID:1;sender:6F2A;receiver:Host-RPI3B+;payload:\(payload);operation:REQ_addNewPlant"
    let replies = bench.ask("REQ_addNewPlant", payload)
    #expect(replies == ["ERR_\(tag) \(PlantPayload.escaped(request))"])
    #expect(bench.host.book.records.plants.isEmpty)
  }

  @Test(
    "add: fifteen characters, four sensors, spaces at an end, and the other ways to write it",
    arguments: [
      ("Fifteen letters--[\"0x36\",\"0x37\",\"0x38\",\"0x39\"]", "Fifteen letters", 4),
      (" Basil --[\"0X36\"]", "Basil", 1), ("Basil--['0x36', '0x37']", "Basil", 2), ("Basil--0x36", "Basil", 1),
      ("{\"Sensors\"-- \"0x36\", \"Name\"-- \"Basil\"}", "Basil", 1),
      ("[{\"Sensors\"-- \"[\\\"0x36\\\"]\", \"Name\"-- \"Basil\"}]", "Basil", 1),
      ("Grünkohl 🌱--[\"0x36\"]", "Grünkohl 🌱", 1), ("Basil--[\"36\", \"0x037\"]", "Basil", 2),
      ("O'Brien--[\"0x36\"]", "O’Brien", 1), ("My \"Ivy\"--[\"0x36\"]", "My ”Ivy”", 1),
      ("Rose, red--[\"0x36\"]", "Rose, red", 1),
    ])
  func adds(payload: String, name: String, sensors: Int) throws {
    var bench = HostBench()
    #expect(bench.ask("REQ_addNewPlant", payload) == ["RES_addNewPlant \(name)"])
    let plant = try #require(bench.host.book.records.plants.first)
    #expect(plant.name.text == name)
    #expect(plant.sensors.count == sensors)
  }

  @Test("edit by object: name, sensors and limits, null takes a limit away, faults are told and change nothing")
  func edits() throws {
    var bench = HostBench()
    bench.add("Basil")
    let payload = #"{"name"--"Basil","newName"--"Mint","sensors"--["0x37"],"dryPercent"--35,"wetPercent"--80.5}"#
    #expect(bench.ask("REQ_editPlant", payload) == ["RES_editPlant Mint"])
    var plant = try #require(bench.host.book.records.plants.first)
    #expect(plant.sensors == [HostBench.sensors[1]])
    #expect(plant.limits == PlantLimits(dryPercent: 35, wetPercent: 80.5))
    #expect(bench.ask("REQ_editPlant", #"{"name"--"Mint","wetPercent"--null}"#) == ["RES_editPlant Mint"])
    plant = try #require(bench.host.book.records.plants.first)
    #expect(plant.limits == PlantLimits(dryPercent: 35))
    for (fault, tag) in [
      (#"{"name"--"Mint","dryPercent"--101}"#, "invalidPlantSettings"),
      (#"{"name"--"Mint","wetPercent"--30}"#, "invalidPlantSettings"),
      (#"{"name"--"Mint","wet"--30}"#, "invalidPlantSettings"), (#"{"dryPercent"--30}"#, "invalidPlantSettings"),
      (#"{"name"--"Mint","sensors"--[]}"#, "addPlantSensorNumIssue"),
      (#"{"name"--"Mint","newName"--"Sixteen letters."}"#, "plantNameTooLong"), ("Mint", "plantNameTaken"),
      ("Mint,a|b", "plantNameTaken"),
    ] {
      #expect(bench.ask("REQ_editPlant", fault).first?.hasPrefix("ERR_\(tag) ") == true, "\(fault)")
    }
    #expect(bench.host.book.records.plants == [plant])
  }

  @Test(
    "sensor data: a stale reading is none, a sensor without a thermometer has no temperature, nothing fresh is an error"
  )
  func readings() {
    var bench = HostBench()
    bench.add("Basil", "[\"0x36\",\"0x37\"]")
    #expect(bench.ask("REQ_plantSensorData", "all").first?.hasPrefix("ERR_noPlantDataToRequest ") == true)
    bench.read("0x36", raw: 650)
    bench.now = TickInstant.zero + .seconds(120)
    bench.read("0x37", raw: 1000, celsius: nil)
    #expect(bench.ask("REQ_plantSensorData", "Basil").count == 2)
    bench.now = bench.now + .nanoseconds(1)
    #expect(
      bench.ask("REQ_plantSensorData", "Basil") == [
        "RES_plantSensorData {'moisture'-- 10, 'plant'-- 'Basil', 'sensor'-- '0x37'}"
      ])
  }

  @Test("broken message: the error's tag, the message as its payload, the sender as its receiver, its own ID")
  func broken() {
    var bench = HostBench()
    func error(_ text: String) -> [String] { bench.step(text).replies.map(\.encoded) }
    #expect(
      error("ID:9;sender:6F2A;receiver:Host-RPI3B+;payload;operation:REQ_numPlants") == [
        "ID:9;sender:Host-RPI3B+;receiver:6F2A;payload:ID--9||sender--6F2A||receiver--Host-RPI3B+||payload||"
          + "operation--REQ_numPlants;operation:ERR_missingVals"
      ])
    #expect(error("payload:a:b;sender:6F2A;ID:9")[0].hasSuffix(";operation:ERR_missingKeys"))
    #expect(error("ID:9;sender:6F2A")[0].hasSuffix(";operation:ERR_hashLength"))
    #expect(error("id:9;sender:6F2A;receiver:all;payload:;operation:REQ_numPlants")[0].hasSuffix("ERR_missingKeys"))
  }

  @Test("not answered: our own, for others, reports of errors, no sender; each counted by its name")
  func ignored() {
    var bench = HostBench()
    for (text, outcome) in [
      ("ID:0;sender:Host-RPI3B+;receiver:all;payload:x;operation:REQ_numPlants", "own"),
      ("ID:0;sender:Host-RPI3B+;receiver:all", "own"),
      ("ID:0;sender:a;receiver:Host-2;payload:x;operation:REQ_numPlants", "not-for-us"),
      ("ID:0;sender:a;receiver:Host-2;payload", "not-for-us"),
      ("ID:0;sender:a;receiver:;payload:x;operation:REQ_numPlants", "not-for-us"),
      ("ID:0;sender:a;receiver:all;payload:x;operation:ERR_invalidOpTag", "peer-error"),
      ("ID:0;sender:a;receiver:all;payload;operation:ERR_invalidOpTag", "peer-error"),
      ("ID:0;sender:;receiver:all;payload:x;operation:REQ_numPlants", "missing-value"),
      ("", "missing-value"), ("ID:0;receiver:all", "wrong-part-count"),
      ("ID:0;sender:a;receiver:all;payload:" + String(repeating: "x", count: 5_000), "too-long"),
    ] {
      let action = bench.step(text)
      #expect(action.replies.isEmpty && action.changes.isEmpty)
      #expect(action.outcome.name == outcome, "\(text.prefix(80))")
    }
    #expect(bench.host.outcomes.values.reduce(0, +) == 11)
    #expect(bench.host.outcomes["own"] == 2)
  }

  @Test("everybody: a request to \"all\" is answered")
  func everybody() {
    var bench = HostBench()
    let action = bench.step("ID:0;sender:a;receiver:all;payload:;operation:REQ_numPlants")
    #expect(action.replies.map(\.operation) == ["RES_numPlants"])
    #expect(action.outcome == .answered(.numPlants))
  }

  @Test("names with commas and apostrophes: the app adds, renames and removes them, and reads what it is shown")
  func oddNames() {
    var bench = HostBench()
    bench.read("0x36", raw: 650)
    bench.add("Rose")
    #expect(bench.ask("REQ_addNewPlant", "Rose, red--[\"36\"]") == ["RES_addNewPlant Rose, red"])
    #expect(bench.ask("REQ_editPlant", "Rose, red,O'Brien") == ["RES_editPlant O’Brien"])
    // As the app shows it, and as a person writes it.
    #expect(bench.ask("REQ_editPlant", "O’Brien,O'Brien, old") == ["RES_editPlant O’Brien, old"])
    #expect(bench.ask("REQ_editPlant", "Rose,Ivy, the big") == ["RES_editPlant Ivy, the big"])
    #expect(bench.ask("REQ_editPlant", "Nobody,Ivy,x").first?.hasPrefix("ERR_cannotDeletePlant") == true)
    let data = bench.ask("REQ_plantSensorData", "all")
    #expect(
      data.last
        == "RES_plantSensorData {'moisture'-- 5, 'temperature'-- 71, 'plant'-- 'O’Brien, old', 'sensor'-- '0x36'}")
    #expect(bench.ask("REQ_deletePlant", "O'Brien, old") == ["RES_deletePlant O’Brien, old"])
  }

  @Test(
    "temperature: degrees without their fraction, as the original",
    arguments: [
      (22.0, 71), (21.0, 69), (20.0, 68), (21.1, 69), (-17.0, 1), (-18.0, 0), (-20.0, -4), (37.77, 99),
    ])
  func fahrenheit(celsius: Double, expected: Int) {
    let reading = PlantReading(raw: 0, moisturePercent: 0, scale: 0, celsius: celsius, at: .zero)
    #expect(reading.fahrenheit == expected)
  }

  @Test("random bytes: an outcome with a name for each, and a reply parses with a payload, unless too much was echoed")
  func fuzz() throws {
    let seed: UInt64 = 77
    var random = SplitMix64(seed: seed)
    var bench = HostBench()
    bench.add("Basil")
    bench.read("0x36", raw: 650)
    let requests = PlantHostTests.table.map { operation, payload, _ in
      "ID:1;sender:6F2A;receiver:Host-RPI3B+;payload:\(payload);operation:\(operation)"
    }
    for round in 0..<20_000 {
      var bytes = Array(requests[Int(random.below(UInt64(requests.count)))].utf8)
      for _ in 0..<random.below(4) {
        let at = Int(random.below(UInt64(bytes.count)))
        switch random.below(3) {
        case 0: bytes[at] = UInt8(truncatingIfNeeded: random.next())
        case 1: bytes.remove(at: at)
        default: bytes.insert(UInt8(ascii: random.below(2) == 0 ? ":" : ";"), at: at)
        }
        if bytes.isEmpty { bytes = [0x3B] }
      }
      let action = bytes.withUnsafeBytes { bench.host.step($0, at: bench.now, readings: bench.readings) }
      #expect(!action.outcome.name.isEmpty)
      for reply in action.replies {
        let back = try PlantMessage.parse(Array(reply.encoded.utf8))
        #expect(!back.payload.isEmpty && back.sender == "Host-RPI3B+", "seed \(seed), round \(round)")
      }
    }
    #expect(bench.host.outcomes.values.reduce(0, +) == 20_001)
  }
}
