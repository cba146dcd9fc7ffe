import DaemonSupport
import Foundation
import Testing
import Yams

@testable import LegDaemon
@testable import RobotDaemon
@testable import SprinklerDaemon
@testable import TactusDaemon
@testable import TactusProgram

@Suite("configuration table")
struct ConfigTableTests {
  @Test("every default: of its key's kind and within its range", arguments: ConfigTable.keys.map(\.path))
  func defaults(path: String) throws {
    let key = try #require(ConfigTable.byPath[path])
    guard let standard = key.standard else { return }
    if case .integers(let count, let range) = key.kind, case .integers(let values) = standard {
      #expect(values.count == count && values.allSatisfy(range.contains))
    } else if case .integerList(let range, let most) = key.kind, case .integers(let values) = standard {
      #expect(values.count <= most && values.allSatisfy(range.contains))
    } else if case .texts = key.kind {
      #expect(standard == .texts([]))
    } else {
      let text = if case .text(let text) = standard { text } else { standard.description }
      #expect(ScalarReader.value(text, as: key.kind) == standard)
    }
  }

  @Test(
    "a text as it is printed reads back as the same text",
    arguments: [
      "off", "it's", "", "null", "~", "a: b", "# a", "-x", "x\"y", "\\", "videotestsrc ! a='b c'", "/dev/video0", "12",
    ])
  func printed(text: String) throws {
    let node = try #require(try Yams.compose(yaml: "key: \(ConfigValue.text(text))"))["key"]
    #expect(node?.scalar?.string == text)
    // Bare, it would be nothing.
    #expect(node?.isNothing == false)
  }

  @Test("every key: in a section that the reference introduces, with a sentence of its own")
  func sections() {
    let sections = Set(ConfigTable.sections.map(\.name))
    for key in ConfigTable.keys {
      #expect(sections.contains(String(key.path.prefix { $0 != "." && $0 != "[" })), "\(key.path)")
      #expect(key.doc.hasSuffix(".") || key.doc.hasSuffix(")."), "\(key.path)")
    }
  }

  /// `tactus check --reference > config/reference.yaml` rewrites it.
  @Test("config/reference.yaml: what the table says, word for word")
  func referenceIsCurrent() throws {
    let file = try String(contentsOf: repository.appending(path: "config/reference.yaml"), encoding: .utf8)
    #expect(file == ConfigReference.text, "run: tactus check --reference > config/reference.yaml")
  }

  @Test("the reference: reads as a file that gives every default")
  func referenceReads() throws {
    let file = try YAMLFile(text: ConfigReference.text, name: "reference.yaml")
    let found = try ConfigReader.read(file, environment: [:])
    for key in ConfigTable.keys {
      #expect(found.values[key.path.replacing("[]", with: "[0]")] == key.standard, "\(key.path)")
    }
  }

  @Test(
    "the files in config/: read without an error",
    arguments: ["simulated.yaml", "tactus.yaml", "rider-pi.yaml", "leg.yaml", "sprinkler.yaml", "reference.yaml"])
  func shipped(name: String) throws {
    let configuration = try Configuration.read(
      path: repository.appending(path: "config/\(name)").path(percentEncoded: false), environment: [:])
    #expect((configuration.motors != nil) == !["leg.yaml", "sprinkler.yaml"].contains(name))
    #expect((configuration.legs != nil) == !["rider-pi.yaml", "sprinkler.yaml"].contains(name))
    #expect((configuration.sprinkler != nil) == !["rider-pi.yaml", "leg.yaml"].contains(name))
    #expect(
      (configuration.bindAddress == "0.0.0.0") == !["simulated.yaml", "tactus.yaml", "reference.yaml"].contains(name))
  }

  // MARK: a program of declared systems alone

  /// What every program has. The other sections belong to systems of `tactus`.
  private static let general = ["network", "service", "mqtt", "notify", "safety", "runtime", "logging", "performance"]
  private static let ofSystems = [
    "motors": "robot", "leg": "leg", "legs": "leg", "sprinkler": "sprinkler", "pump": "pump", "plants": "plants",
    "camera": "video", "video": "video",
    // Of those that keep something: sprinkler, plants, pump. No declared system does.
    "store": "sprinkler",
  ]

  private static let stranger = DaemonProgram(name: "stranger", version: "1.0.0", summary: "", systems: [])

  @Test("every section of the table: a general one, or named as that of a system")
  func eachSectionBelongs() {
    let sections = ConfigTable.sections(of: .tactus).map(\.name)
    #expect(Set(sections) == Set(Self.general).union(Self.ofSystems.keys))
    #expect(Set(sections).count == sections.count && Self.ofSystems.keys.allSatisfy { !Self.general.contains($0) })
  }

  @Test("a program without systems of tactus: the general sections, in the table's order")
  func sectionsOfAStranger() {
    #expect(ConfigTable.sections(of: Self.stranger).map(\.name) == Self.general)
  }

  @Test("a program without systems of tactus: of the general sections the keys that no system of tactus owns")
  func keysOfAStranger() {
    let keys = ConfigTable.keys(of: Self.stranger).map(\.path)
    func names(_ section: String) -> [String] {
      keys.filter { $0.hasPrefix(section + ".") }.map { String($0.dropFirst(section.count + 1)) }
    }
    #expect(keys.allSatisfy { Self.general.contains(String($0.prefix { $0 != "." && $0 != "[" })) })
    // Sections that systems have keys in: a new key has to be put down here, or to go with its system.
    #expect(names("network") == ["bind_address", "http_port"])
    #expect(names("safety") == ["emergency_stop_enabled", "watchdog_enabled", "watchdog_timeout"])
    #expect(
      names("runtime") == [
        "strict", "confine", "user", "lock_memory", "recorder_kilobytes", "watchdog", "watchdog_timeout_s",
      ])
    #expect(names("performance") == ["worker_threads", "enable_monitoring"])
    // The others are the same in every program.
    for section in ["service", "mqtt", "logging"] {
      let all = ConfigTable.keys(of: .tactus).map(\.path).filter { $0.hasPrefix(section + ".") }
      #expect(names(section).map { "\(section).\($0)" } == all)
    }
  }
}
