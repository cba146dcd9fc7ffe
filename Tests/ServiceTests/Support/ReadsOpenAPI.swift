import Foundation
import Testing

@testable import Service

/// A suite that looks into the API's description.
protocol ReadsOpenAPI {}

extension ReadsOpenAPI {
  /// The members of a schema, or of a part of it.
  func member(_ document: [String: Any], _ path: String...) -> Any? {
    var value: Any? = document
    for name in path { value = (value as? [String: Any])?[name] }
    return value
  }

  func described(_ additions: APIAdditions) throws -> [String: Any] {
    let served: Set<String> = ["GET /api/sim/fault", "POST /api/sim/fault"]
    let bytes = OpenAPIDocument.bytes(version: "1.2.3", served: served, additions)
    return try #require(try JSONSerialization.jsonObject(with: Data(bytes)) as? [String: Any])
  }

  /// Faults that may be asked for, with `fan: ` before those of a declared system.
  func requests(_ document: [String: Any]) throws -> [[String]] {
    let variants = member(document, "components", "schemas", "FaultRequest", "oneOf")
    return try #require(variants as? [[String: Any]]).map { variant in
      let faults = member(variant, "properties", "fault", "enum") as? [String] ?? []
      let system = (member(variant, "properties", "system", "enum") as? [String])?.first
      return faults.map { (system.map { "\($0): " } ?? "") + $0 }
    }
  }
}
