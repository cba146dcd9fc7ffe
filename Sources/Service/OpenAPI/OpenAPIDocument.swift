import Foundation
import ServiceDocuments

/// The OpenAPI description of the API, which is built into the program.
public enum OpenAPIDocument {
  /// Returns the document in its written form with the parts of the given systems, but without the program's version.
  static func written(_ systems: [SystemDocuments]) -> [String: Any] {
    let first = OpenAPIPart.plain(ServiceDocuments.bytes("openapi.json"), "openapi.json")
    var document = systems.reduce(first) { document, system in
      let own = OpenAPIPart.plain(system.api, "\(system.name)'s openapi.json")
      let made = object(system.madeAPI, "what is made of \(system.name)")
      return merged(document, OpenAPIShorthand.written(own, over: made))
    }
    document["paths"] = OpenAPIShorthand.paths(document["paths"] as? [String: Any] ?? [:])
    var components = document["components"] as? [String: Any] ?? [:]
    components["schemas"] = OpenAPIShorthand.schemas(components["schemas"] as? [String: Any] ?? [:])
    document["components"] = components
    return document
  }

  /// Reads the parts that systems have written, so that one which is written wrongly traps when the program starts and
  /// not when somebody first asks for the document.
  public static func check(_ systems: [SystemDocuments]) {
    for system in systems { _ = OpenAPIPart.plain(system.api, "\(system.name)'s openapi.json") }
  }

  private static func object(_ bytes: [UInt8], _ name: String) -> [String: Any] {
    guard let object = try? JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any] else {
      preconditionFailure("\(name) is no JSON object")
    }
    return object
  }

  /// Returns the members of both objects: objects are merged member by member, lists are joined.
  private static func merged(_ one: [String: Any], _ other: [String: Any]) -> [String: Any] {
    one.merging(other) { mine, others in
      switch (mine, others) {
      case (let mine as [String: Any], let others as [String: Any]): merged(mine, others)
      case (let mine as [Any], let others as [Any]): mine + others
      default: preconditionFailure("a part of openapi.json says otherwise than another part: \(mine), \(others)")
      }
    }
  }

  /// Returns the document with the program's version and its systems, limited to the routes that the service has; the keys are sorted.
  ///
  /// - Parameter served: the routes that the service has, in the form `GET /api/robot`.
  static func bytes(version: String, served: Set<String>, _ additions: APIAdditions = APIAdditions()) -> [UInt8] {
    var document = written(additions.documents)
    guard var info = document["info"] as? [String: Any], let paths = document["paths"] as? [String: [String: Any]]
    else { preconditionFailure("openapi.json is no OpenAPI document") }
    info["version"] = version
    document["info"] = info
    document["paths"] = self.paths(paths, served: served)
    document = additions.apply(to: document)
    do {
      return Array(
        try JSONSerialization.data(withJSONObject: document, options: [.sortedKeys, .withoutEscapingSlashes]))
    } catch {
      preconditionFailure("what was read as JSON cannot be written: \(error)")
    }
  }

  private static let methods: Set<String> = ["get", "put", "post", "delete", "patch", "head", "options"]

  private static func paths(_ paths: [String: [String: Any]], served: Set<String>) -> [String: [String: Any]] {
    var result: [String: [String: Any]] = [:]
    for (path, item) in paths {
      let left = item.filter { !methods.contains($0.key) || served.contains("\($0.key.uppercased()) \(path)") }
      if left.contains(where: { methods.contains($0.key) }) { result[path] = left }
    }
    return result
  }
}
