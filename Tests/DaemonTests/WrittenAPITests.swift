import Foundation
import Testing

@testable import Service
@testable import TactusDaemon
@testable import TactusProgram

@Suite("openapi.json of the systems, beside what is made of their declarations")
struct WrittenAPITests {
  @Test(
    "nothing in it is made already, and nothing is about a member that no declaration has",
    arguments: DaemonProgram.tactus.kinds.map(\.name))
  func apart(_ name: String) throws {
    let documents = try #require(DaemonProgram.tactus.kinds.first { $0.name == name }?.documents)
    let made = try #require(try JSONSerialization.jsonObject(with: Data(documents.madeAPI)) as? [String: Any])
    let own = OpenAPIPart.plain(documents.api, name)
    let schemas = (own["components"] as? [String: Any])?["schemas"] as? [String: Any] ?? [:]
    let found = Self.complaints(of: own, over: made, at: "", schemas)
    #expect(found == [])
  }

  /// Returns a line for each member that is the same as the made one, and for each property that the made object lacks.
  private static func complaints(
    of own: [String: Any], over made: [String: Any], at path: String, _ schemas: [String: Any]
  ) -> [String] {
    if own["$ref"] != nil { return [] }
    var found: [String] = []
    if let name = own["as"] as? String, let named = schemas[name] as? [String: Any] {
      found += complaints(of: named, over: made, at: "\(path) as \(name)", schemas)
    }
    for (name, value) in own {
      let place = "\(path)/\(name)"
      guard let before = made[name] else {
        if path.hasSuffix("/properties"), !path.contains("/Status/") { found.append("\(place): no such member") }
        continue
      }
      if let value = value as? [String: Any], let before = before as? [String: Any] {
        found += complaints(of: value, over: before, at: place, schemas)
      } else if (value as? NSObject) == (before as? NSObject) {
        found.append("\(place): made already")
      }
    }
    return found
  }
}
