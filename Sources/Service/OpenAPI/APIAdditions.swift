import Foundation
import ServiceDocuments
import Wire

/// What a program's systems add to the description of the API, and to the page.
public struct APIAdditions: Sendable {
  /// One system that runs.
  public struct System: Sendable {
    /// The tag of its routes in the document, and its key in `systems` of `GET /api/status`.
    public let name: String
    /// One sentence.
    public let summary: String
    /// JSON objects: path items by path, schemas by name.
    public let paths, schemas: JSONValue
    /// The name of the schema of its state.
    public let stateSchema: String
    /// Names of the faults that its simulation can have; empty if it is not simulated.
    public let faults: [String]

    /// - Parameters:
    ///   - paths: a JSON object; anything else stops the program when the document is made.
    ///   - schemas: a JSON object, too, in which the schema named `stateSchema` is.
    public init(
      name: String, summary: String, paths: JSONValue, schemas: JSONValue, stateSchema: String, faults: [String] = []
    ) {
      (self.name, self.summary, self.paths, self.schemas) = (name, summary, paths, schemas)
      (self.stateSchema, self.faults) = (stateSchema, faults)
    }
  }

  /// The program's name: the title of document and page.
  public var title: String
  /// Those that are declared and run.
  public var systems: [System]
  /// Of the program's systems that have written their part, whether they run or not.
  public var documents: [SystemDocuments]
  /// Names of the faults that the simulated buses can have, or `nil` if the document lists all of them.
  public var busFaults: Set<String>?

  /// Cards of systems of `systems` that have written their own, one a kind.
  public var cards: [OwnCard] = []
  /// Of each simulated bus, by its name, the faults that it can have; examples are of one of these. Empty: they stay as they are written.
  public var buses: [String: Set<String>] = [:]

  /// By default nothing is added to the document, and its title is `tactus`.
  public init(
    title: String = "tactus", systems: [System] = [], documents: [SystemDocuments] = [],
    busFaults: Set<String>? = nil
  ) {
    (self.title, self.systems, self.documents) = (title, systems, documents)
    self.busFaults = busFaults
  }

  /// The description of the written routes that there are, with those of these systems, and without what none of them needs.
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
      paths.merge(Self.object(system.paths)) { _, own in own }
      schemas.merge(Self.object(system.schemas)) { _, own in own }
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

  /// With the states of these systems.
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

  /// Of the operations.
  private static func tags(in paths: [String: Any]) -> Set<String> {
    let items = paths.values.compactMap { $0 as? [String: Any] }
    return Set(items.flatMap(\.values).compactMap { $0 as? [String: Any] }.flatMap { $0["tags"] as? [String] ?? [] })
  }

  /// What no path leads to any more goes.
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
