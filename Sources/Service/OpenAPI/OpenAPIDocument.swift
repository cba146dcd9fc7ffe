import Foundation
import ServiceDocuments

/// The description of the API, built into the program.
public enum OpenAPIDocument {
  /// As written, without the program's version.
  public static var source: [UInt8] { ServiceDocuments.bytes("openapi.json") }

  /// With the program's version and its declared systems; keys sorted.
  static func bytes(version: String, _ additions: APIAdditions = APIAdditions()) -> [UInt8] {
    guard
      var document = try? JSONSerialization.jsonObject(with: Data(source)) as? [String: Any],
      var info = document["info"] as? [String: Any]
    else { preconditionFailure("openapi.json is no OpenAPI document") }
    info["version"] = version
    document["info"] = info
    document = additions.apply(to: document)
    do {
      return Array(
        try JSONSerialization.data(withJSONObject: document, options: [.sortedKeys, .withoutEscapingSlashes]))
    } catch {
      preconditionFailure("what was read as JSON cannot be written: \(error)")
    }
  }
}
