import Foundation
import ServiceDocuments

/// The description of the API, built into the program.
public enum OpenAPIDocument {
  /// As written, without the program's version.
  public static var source: [UInt8] { ServiceDocuments.bytes("openapi.json") }

  /// With the program's version and its declared systems, and of the routes only those that the service has; keys sorted.
  ///
  /// - Parameter served: `GET /api/robot` and so on.
  static func bytes(version: String, served: Set<String>, _ additions: APIAdditions = APIAdditions()) -> [UInt8] {
    guard
      var document = try? JSONSerialization.jsonObject(with: Data(source)) as? [String: Any],
      var info = document["info"] as? [String: Any], let paths = document["paths"] as? [String: [String: Any]]
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
