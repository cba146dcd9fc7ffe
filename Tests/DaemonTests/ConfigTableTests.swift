import Foundation
import Testing

@testable import TactusDaemon

/// The repository's root.
let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
  .deletingLastPathComponent()

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
}
