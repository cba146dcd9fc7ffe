import DaemonSupport
import Foundation
import Service
import Sprinkler
import Testing
import WallTime
import Wire

@testable import LegDaemon
@testable import PlantsDaemon
@testable import PumpDaemon
@testable import RobotDaemon
@testable import SprinklerDaemon
@testable import TactusDaemon
@testable import TactusProgram
@testable import VideoDaemon

/// The list of systems is the only one: what it leads to is complete, and how many files outside a system's own folders still name it.
@Suite("The house: systems of the one list")
struct HouseTests {
  private static let kinds = DaemonProgram.tactus.kinds

  @Test("a section without keys: the system is there, under its name", arguments: kinds.map(\.name))
  func empty(_ name: String) throws {
    let kind = try #require(Self.kinds.first { $0.name == name })
    for section in kind.sections.prefix(1) {
      let list = kind.lists[section.name] == nil ? "" : " [{}]"
      let configuration = try read("\(section.name):\(list)\n")
      #expect(configuration.systems.all.map(\.name) == [name])
      #expect(configuration.summary.joined(separator: "\n").contains(name))
    }
  }

  @Test("no two scripts of the page declare one name, with which none of them would run")
  func scripts() throws {
    let files = try #require(FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil))
    var declared: [String: [String]] = [:]
    for case let file as URL in files where file.pathExtension == "js" && file.lastPathComponent != "worker.js" {
      let text = try String(contentsOf: file, encoding: .utf8)
      // A frame may have no storage, which then throws: only `keeper` names it.
      #expect(file.lastPathComponent == "early.js" || !text.contains(/(?:local|session)Storage/), "\(file.path)")
      for match in text.matches(of: /(?m)^(?:const|let|class|(?:async )?function\*?) ([A-Za-z_$][\w$]*)/) {
        declared[String(match.output.1), default: []].append(file.path)
      }
    }
    #expect(declared.count > 300)
    for (name, paths) in declared where paths.count > 1 { Issue.record("\(name): \(paths)") }
  }

  @Test("what moves, heats or opens something on real hardware has a safe state that the guard knows")
  func guarded() throws {
    var driving: [String] = []
    for kind in Self.kinds {
      let configuration = try read("\(kind.sections[0].name):\n")
      let system = try #require(configuration.systems.all.first)
      guard system.driven != nil else {
        #expect(SafeStatePlan.writes(for: configuration).isEmpty && SafeStatePlan.lines(of: configuration).isEmpty)
        continue
      }
      driving.append(system.name)
      #expect(
        !(SafeStatePlan.writes(for: configuration).isEmpty && SafeStatePlan.lines(of: configuration).isEmpty),
        "\(system.name) drives \(system.driven ?? "") and leaves the guard nothing to do")
    }
    #expect(driving.count > 3)
  }

  @Test("all at once: in the list's order, none asks for what another has")
  func together() throws {
    let text = Self.kinds.map { "\($0.sections[0].name):\n" }.joined()
    let names = try read(text).systems.all.map(\.name)
    #expect(names == Self.kinds.map(\.name))
  }

  /// The keys that a reload may change, and that give what the loop takes another value.
  private func taken<System: DeviceSystem>(_: System.Type, in configuration: Configuration) throws -> [String] {
    let (wiring, rules) = try #require(configuration.settings(of: System.self))
    let keys = taken(System.Rules.keys, rules) { "\(System.loopRules(wiring, $0))" }
    return keys.map { System.path(of: $0, at: System.onlyPlace) }
  }

  private func taken<Group: Settings>(
    _ keys: [Key<Group>], _ base: Group, _ rules: (Group) -> String
  ) -> [Key<Group>] {
    keys.filter { key in
      others(key.kind).contains { value in
        var changed = base
        key.take(value, &changed)
        return rules(changed) != rules(base)
      }
    }
  }

  private func others(_ kind: ConfigKind) -> [ConfigValue] {
    switch kind {
    case .integer(let range): [.integer(range.lowerBound), .integer(range.upperBound)]
    case .number(let range): [.number(range.lowerBound), .number(range.upperBound)]
    case .boolean: [.boolean(false), .boolean(true)]
    case .choice(let words): words.map { .text($0) }
    case .integers(let count, let range): [.integers(Array(repeating: range.upperBound, count: count))]
    case .text: [.text("another")]
    default: []
    }
  }

  @Test("what the reference says that a reload may change, a loop or a desk takes")
  func changeable() throws {
    // Everything is switched on that a key might need to do something.
    let configuration = try read(
      """
      motors: { speed_limit: 60 }
      safety: { safe_mode: true, safe_mode_speed_limit: 50 }
      leg: { battery: { sensor: ads1115, warn_mv: 65535, fault_mv: 0 } }
      legs: [{}]
      pump:
      sprinkler:
        latitude: 1
        longitude: 2
        weather: { provider: open-meteo, url: "http://a:1" }
        flow: { pin: 7, leak_l_per_min: 1, on_alarm: notice }
        rain_sensor: { pin: 8 }
      plants: { watering: [{ plant: 1, zone: 1 }] }
      video:
      """)
    let legs = try #require(configuration.legs)
    let (plants, plantRules) = try #require(configuration.settings(of: Plants.self))
    let zone = try ZoneRules(identifier: "Europe/Berlin")
    var found = ["logging.level"]
    found += try taken(Robot.self, in: configuration)
    found += taken(Legs.Rules.keys, legs.rules) { "\(Legs.loopRules(legs.wiring, $0).all)" }
      .map { Legs.path(of: $0, at: Legs.onlyPlace) }
    found += taken(Legs.OneRules.keys, legs.rules.legs[0]) { leg in
      var changed = legs.rules
      changed.legs[0] = leg
      return "\(Legs.loopRules(legs.wiring, changed).all)"
    }.map { "legs[].\($0.name)" }
    found += try taken(Pump.self, in: configuration)
    let (garden, gardenRules) = try #require(configuration.sprinkler)
    found += taken(Sprinkler.Rules.keys, gardenRules) { rules in
      let weather = garden.weather(rules, zone).map { "\($0)" } ?? ""
      let description = garden.description(rules, zone, isSimulated: true)
      return "\(garden.scheduler(rules, zone)) \(description) \(weather) \(Sprinkler.loopRules(garden, rules))"
    }.map(\.name)
    found += taken(Plants.Rules.keys.filter { $0.items == nil }, plantRules) { "\(Plants.host(plants, $0))" }.map(
      \.name)
    found += taken(PlantWateringRules.keys, plantRules.waterings[0]) { watering in
      var changed = plantRules
      changed.waterings[0] = watering
      return "\(Plants.links(plants, changed))"
    }.map { "plants.watering[].\($0.name)" }
    let video = try #require(configuration.video)
    found += taken(Video.Rules.keys, video.rules) { rules in
      let changed = VideoOfFile(wiring: video.wiring, rules: rules, address: video.address)
      return "\(changed.settings) \(rules.recordLimitBytes)"
    }.map { Video.path(of: $0, at: Video.onlyPlace) }
    // Of the messages to people their own desk takes all rules at once: Tests/Service/test_notify.py. Of clients'
    // certificates the door does: Tests/Service/tls/test_clients.py.
    let declared = ConfigTable.keys(of: .tactus).filter(\.mayChange).map(\.path).filter {
      !$0.hasPrefix("notify.rules[].") && !$0.hasPrefix("service.client_scopes[].")
    }
    #expect(Set(declared) == Set(found))
  }

  @Test(
    "page, API's description and dashboard: each system's part is about it, and built in as it is now",
    arguments: kinds.map(\.name))
  func described(_ name: String) throws {
    let documents = try #require(Self.kinds.first { $0.name == name }?.documents)
    func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }
    let declaration = try #require(Self.kinds.first { $0.name == name }).declaration
    let board = JSONValue.list(DashboardRow(declaration).json).indented
    #expect(
      board.contains("tactus_\(name)_") || board.contains("system=\\\"\(name)"), "no panel shows one of its metrics")
    #expect(text(documents.madeAPI).contains("\"/api/\(name)\""))
    #expect(text(documents.script).contains("addOwnCard(\"\(name)\","))
    let folder = Self.sources.appending(path: "Systems/\(name.capitalized)/Documents")
    let written = try FileManager.default.contentsOfDirectory(atPath: folder.path)
      .filter { !$0.hasSuffix(".c") && $0 != "include" }
    // The script is one of several files, in the order in which documents.c has them. What it says in German is served apart from it.
    let list = try String(contentsOf: folder.appending(path: "documents.c"), encoding: .utf8)
    let scripts = list.matches(of: /#embed "([a-z]+\.js)"/).map { String($0.output.1) }.filter { $0 != "german.js" }
    #expect((documents.files.map(\.name) + scripts.dropFirst()).sorted() == written.sorted())
    for (name, bytes) in documents.files {
      let parts = try (name == "card.js" ? scripts : [name]).map { try Data(contentsOf: folder.appending(path: $0)) }
      let isSame = parts.reduce(Data(), +) == Data(bytes)
      #expect(isSame, "\(name): what is built in is another file, or an older one")
    }
  }

  /// `tactus dashboard > config/grafana-dashboard.json` rewrites it.
  @Test("config/grafana-dashboard.json: the systems' rows in the list's order, then those of every program")
  func dashboard() throws {
    let file = Self.sources.deletingLastPathComponent().appending(path: "config/grafana-dashboard.json")
    #expect(try String(contentsOf: file, encoding: .utf8) == Dashboard(.tactus).text + "\n")
  }

  private static let sources = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../Sources")
    .standardized

  /// How many files in the folders of other systems have a system's name in their code. Plants have a link to the sprinkler, as their
  /// requirement says, the sprinkler's rules of the soil name plants (keys, rules, texts and scenarios), and the plants' pictures are of the video's camera.
  private static let files = ["robot": 0, "leg": 0, "sprinkler": 5, "pump": 0, "plants": 9, "video": 1]

  /// A name in code, such as `LegDoor` or `"leg"`, and not `legacy`; `plant` for plants.
  private func pattern(_ system: String) throws -> Regex<AnyRegexOutput> {
    let stem = system == "plants" ? "plant" : system
    return try Regex("(?:(?:^|[^A-Za-z])(?:\(stem)|\(stem.capitalized))|[a-z]\(stem.capitalized))s?(?![a-z])")
  }

  /// Files of `Sources`, by their path there, whose path or content names the system; `isOther` chooses among the paths.
  private func naming(_ system: String, _ isOther: (Substring) -> Bool) throws -> [String] {
    let pattern = try pattern(system)
    var found: [String] = []
    let files = try #require(FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil))
    for case let file as URL in files {
      let kind = file.pathExtension
      let path = file.path.dropFirst(Self.sources.path.count + 1)
      guard Self.kindsOfFiles.contains(kind), isOther(path) else { continue }
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      // A comment may take a system for its example.
      let text = lines.filter { !$0.drop { $0 == " " }.hasPrefix("//") }.joined(separator: "\n")
      if path.contains(pattern) || text.contains(pattern) { found.append(String(path)) }
    }
    return found.sorted()
  }

  private static let kindsOfFiles: Set = ["swift", "c", "h", "cpp", "json", "html", "js", "css"]

  @Test(
    "no floor names a system: in code, in the documents of every program, in the name of a file",
    arguments: files.keys.sorted())
  func floors(_ system: String) throws {
    // The client is no floor: it has a model of each system for apps, and nothing here stands on it.
    let lists = ["Systems/", "TactusProgram/", "TactusSwarmProgram/", "TactusClient/"]
    let found = try naming(system) { path in !lists.contains { path.hasPrefix($0) } }
    #expect(found.isEmpty, "\(system): \(found)")
  }

  @Test("nothing imports the client, which names the systems")
  func client() throws {
    let files = try #require(FileManager.default.enumerator(at: Self.sources, includingPropertiesForKeys: nil))
    var count = 0
    for case let file as URL in files where file.pathExtension == "swift" {
      let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
      count += 1
      #expect(!lines.contains { $0.hasSuffix("import TactusClient") }, "\(file.path)")
    }
    #expect(count > 500)
  }

  @Test(
    "files of a system that name another one: those of the links between plants and the sprinkler, and of plants to the camera",
    arguments: files.keys.sorted())
  func named(_ system: String) throws {
    let found = try naming(system) { path in
      path.hasPrefix("Systems/") && !path.hasPrefix("Systems/\(system.capitalized)/") && path.hasSuffix(".swift")
    }
    let most = try #require(Self.files[system])
    #expect(found.count == most, "\(system): \(found.count) files\n\(found.joined(separator: "\n"))")
  }

  @Test("a name in code is found, and another word with its letters is not")
  func patterns() throws {
    let pattern = try pattern("leg")
    for text in ["LegDoor", "legs: 2", "\"leg\"", "someLeg", "Client/LegDoorClient.swift", "leg"] {
      #expect(text.contains(pattern), "\(text)")
    }
    for text in ["legacy", "Legend", "privilege", "elegant"] { #expect(!text.contains(pattern), "\(text)") }
  }

  @Test("the count has a number for every system")
  func counted() { #expect(Set(Self.files.keys) == Set(Self.kinds.map(\.name))) }
}
