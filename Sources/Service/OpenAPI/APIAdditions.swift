import Foundation
import ServiceDocuments
import Wire

/// The parts that a program's systems add to the description of the API and to the page.
public struct APIAdditions: Sendable {
  /// The description of one system that runs.
  public struct System: Sendable {
    /// The tag of its routes in the document, and its key in `systems` of `GET /api/status`.
    public let name: String
    /// A description of the system in one sentence.
    public let summary: String
    /// JSON objects: the path items by path, and the schemas by name, in the shorthand of `OpenAPIShorthand`.
    public let paths, schemas: JSONValue
    /// The name of the schema of the system's state.
    public let stateSchema: String

    /// Makes the description of a system.
    ///
    /// - Parameters:
    ///   - paths: the path items as a JSON object. Any other value traps when the document is made.
    ///   - schemas: the schemas as a JSON object, which contains the schema named `stateSchema`.
    public init(
      name: String, summary: String, paths: JSONValue, schemas: JSONValue, stateSchema: String
    ) {
      (self.name, self.summary, self.paths, self.schemas) = (name, summary, paths, schemas)
      self.stateSchema = stateSchema
    }
  }

  /// The program's name, which is the title of the document and of the page.
  public var title: String
  /// The declared systems that run.
  public var systems: [System]
  /// The documents of the program's systems that have written their own, whether they run or not.
  public var documents: [SystemDocuments]
  /// The names of the faults that the simulated buses can have, or `nil` if the document is to list all faults.
  public var busFaults: Set<String>?

  /// The IANA time zone by which the page shows times of day: a system's, or the machine's unless set.
  public var timeZone = TimeZone.current.identifier
  /// The cards of those `systems` that have written their own, one for each kind.
  public var cards: [OwnCard] = []
  /// The faults that each simulated bus can have, by the bus's name; the examples of the document use one of these. If
  /// empty, the examples stay as written.
  public var buses: [String: Set<String>] = [:]

  /// The names of the faults that simulated systems have declared, by the system's name; no list is empty.
  public var faults: [String: [String]] = [:]

  /// Makes the additions. By default nothing is added to the document, and its title is `tactus`.
  public init(
    title: String = "tactus", systems: [System] = [], documents: [SystemDocuments] = [],
    busFaults: Set<String>? = nil
  ) {
    (self.title, self.systems, self.documents) = (title, systems, documents)
    self.busFaults = busFaults
  }

  /// Returns the document with the title and the parts of these systems added, and without tags and schemas that are no longer used.
  func apply(to document: [String: Any]) -> [String: Any] {
    var document = document
    var info = document["info"] as? [String: Any] ?? [:]
    info["title"] = title
    info["description"] = (info["description"] as? String)?.replacing("`tactus`", with: "`\(title)`")
    document["info"] = info
    var paths = document["paths"] as? [String: Any] ?? [:]
    var tags = document["tags"] as? [[String: Any]] ?? []
    var components = document["components"] as? [String: Any] ?? [:]
    var schemas = components["schemas"] as? [String: Any] ?? [:]
    for system in systems {
      paths.merge(OpenAPIShorthand.paths(Self.object(system.paths))) { _, own in own }
      schemas.merge(OpenAPIShorthand.schemas(Self.object(system.schemas))) { _, own in own }
      tags.append(["name": system.name, "description": system.summary])
    }
    schemas["Status"] = status(schemas["Status"])
    describeFaults(in: &schemas, &paths)
    let used = Self.tags(in: paths)
    tags.removeAll { !used.contains($0["name"] as? String ?? "") }
    components["schemas"] = schemas
    (document["paths"], document["tags"], document["components"]) = (paths, tags, components)
    return Self.withoutUnusedSchemas(document)
  }

  /// Returns the schema of `GET /api/status` with the states of these systems added.
  private func status(_ schema: Any?) -> Any {
    guard !systems.isEmpty, var status = schema as? [String: Any],
      var properties = status["properties"] as? [String: Any], var states = properties["systems"] as? [String: Any]
    else { return schema as Any }
    var known = states["properties"] as? [String: Any] ?? [:]
    for system in systems { known[system.name] = ["$ref": "#/components/schemas/\(system.stateSchema)"] }
    states["properties"] = known
    properties["systems"] = states
    status["properties"] = properties
    return status
  }

  /// Returns the tags of all operations.
  private static func tags(in paths: [String: Any]) -> Set<String> {
    let items = paths.values.compactMap { $0 as? [String: Any] }
    return Set(items.flatMap(\.values).compactMap { $0 as? [String: Any] }.flatMap { $0["tags"] as? [String] ?? [] })
  }

  /// Returns the document without the schemas that no path refers to, directly or indirectly.
  private static func withoutUnusedSchemas(_ document: [String: Any]) -> [String: Any] {
    var document = document
    guard var components = document["components"] as? [String: Any],
      let schemas = components["schemas"] as? [String: Any]
    else { return document }
    var others = components
    others["schemas"] = nil
    var found = references(in: [document["paths"] as Any, others])
    var looked: Set<String> = []
    while let name = found.subtracting(looked).first {
      looked.insert(name)
      found.formUnion(references(in: schemas[name] as Any))
    }
    components["schemas"] = schemas.filter { found.contains($0.key) }
    document["components"] = components
    return document
  }

  private static func references(in value: Any) -> Set<String> {
    switch value {
    case let object as [String: Any]:
      let own = (object["$ref"] as? String).flatMap { text in
        text.hasPrefix("#/components/schemas/") ? String(text.split(separator: "/").last ?? "") : nil
      }
      return object.values.reduce(into: Set([own].compactMap(\.self))) { $0.formUnion(references(in: $1)) }
    case let list as [Any]: return list.reduce(into: []) { $0.formUnion(references(in: $1)) }
    default: return []
    }
  }

  private static func object(_ value: JSONValue) -> [String: Any] {
    guard let object = try? JSONSerialization.jsonObject(with: Data(value.bytes)) as? [String: Any] else {
      preconditionFailure("a declared system's description is no JSON object")
    }
    return object
  }
}
