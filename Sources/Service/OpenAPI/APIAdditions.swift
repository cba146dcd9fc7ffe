import Foundation
import ServiceDocuments
import Wire

/// The parts that a program's systems add to the description of the API and to the page.
public struct APIAdditions: Sendable {
  /// The description of one system that runs.
  public struct System: Sendable {
    /// The tag of the system's routes in the document, and the system's key in `systems` of `GET /api/status`.
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

/// The description of `/api/sim/fault`, limited to the faults that this program can have.
extension APIAdditions {
  private typealias Object = [String: Any]

  /// Faults that do not belong to a bus, so that every simulated program has them.
  private static let ofEveryProgram: Set<String> = ["lane-stall", "clear"]

  func describeFaults(in schemas: inout [String: Any], _ paths: inout [String: Any]) {
    if let busFaults { keepFaults(busFaults.union(Self.ofEveryProgram), in: &schemas, &paths) }
    let faulty = faults.sorted { $0.key < $1.key }
    guard !faulty.isEmpty else { return }
    Self.change(&schemas, ["FaultRequest", "oneOf"]) { variants in
      ((variants as? [Object]) ?? []) + faulty.map { Self.request(of: ($0.key, $0.value)) }
    }
    Self.change(&schemas, ["Faults", "properties", "named"]) { _ in Self.inForce(faulty.map(\.key)) }
  }

  /// Removes every fault that is not in the set, and the members and examples that only removed faults have.
  private func keepFaults(_ faults: Set<String>, in schemas: inout [String: Any], _ paths: inout [String: Any]) {
    var members: Set<String> = []
    Self.change(&schemas, ["FaultRequest", "oneOf"]) { variants in
      let kept = ((variants as? [Object]) ?? []).compactMap { variant($0, of: faults) }
      members = Set(kept.flatMap { ($0["properties"] as? Object ?? [:]).keys })
      return kept
    }
    Self.change(&schemas, ["SimulatedFault", "properties"]) { properties in
      (properties as? Object ?? [:]).filter { members.contains($0.key) }
    }
    Self.change(&schemas, ["SimulatedFault", "properties", "fault", "enum"]) { names in
      ((names as? [String]) ?? []).filter { faults.contains($0) }
    }
    let examples = ["/api/sim/fault", "post", "requestBody", "content", "application/json", "examples"]
    Self.change(&paths, examples) { examples in
      (examples as? Object ?? [:]).filter { example in
        let value = (example.value as? Object)?["value"] as? Object
        return (value?["fault"] as? String).map { faults.contains($0) } ?? true
      }.mapValues { example in
        var example = example as? Object ?? [:]
        Self.change(&example, ["value"]) { self.onOwnBus($0 as? Object ?? [:]) }
        return example
      }
    }
  }

  /// Returns the fault, moved to a bus that the program has and that can have it; unchanged if its bus exists or no other can have the fault.
  private func onOwnBus(_ fault: Object) -> Object {
    guard let bus = fault["bus"] as? String, buses[bus] == nil, let name = fault["fault"] as? String,
      let own = buses.filter({ $0.value.contains(name) }).keys.min()
    else { return fault }
    return fault.merging(["bus": own]) { $1 }
  }

  /// Returns a variant of the request, reduced to the faults that are in the set and to the buses that can have one of
  /// them, or `nil` if it describes none of the faults.
  private func variant(_ variant: Object, of faults: Set<String>) -> Object? {
    var variant = variant
    var kept: [String] = []
    Self.change(&variant, ["properties", "fault", "enum"]) { names in
      kept = ((names as? [String]) ?? []).filter { faults.contains($0) }
      return kept
    }
    guard !kept.isEmpty else { return nil }
    let able = buses.filter { !$0.value.isDisjoint(with: kept) || kept == ["clear"] }.keys.sorted()
    guard !able.isEmpty, var properties = variant["properties"] as? Object, var bus = properties["bus"] as? Object
    else { return variant }
    // A member that may be null keeps that property.
    let isOptional = (bus["type"] as? [String])?.contains("null") == true
    bus["enum"] = able as [Any] + (isOptional ? [NSNull()] : [])
    properties["bus"] = bus
    variant["properties"] = properties
    return variant
  }

  private static func request(of system: (name: String, faults: [String])) -> Object {
    [
      "type": "object", "description": "A fault that \(system.name) declares: see `GET /api/systems`.",
      "required": ["system", "fault"],
      "properties": [
        "system": ["type": "string", "enum": [system.name]] as Object,
        "fault": ["type": "string", "enum": system.faults] as Object,
        "active": [
          "type": ["boolean", "null"], "description": "Whether it is to be in force; true unless given.",
        ] as Object,
      ] as Object,
      "additionalProperties": false,
    ]
  }

  private static func inForce(_ systems: [String]) -> Object {
    [
      "type": "array", "description": "In force now, of those that declared systems have.",
      "items": [
        "type": "object", "required": ["system", "fault"],
        "properties": [
          "system": ["type": "string", "enum": systems] as Object, "fault": ["type": "string"] as Object,
        ] as Object,
        "additionalProperties": false,
      ] as Object,
    ]
  }

  /// Changes the value at a path of members; does nothing if an object on the path is missing.
  private static func change(_ object: inout Object, _ path: [String], _ body: (Any?) -> Any) {
    guard path.count > 1 else {
      object[path[0]] = body(object[path[0]])
      return
    }
    guard var inner = object[path[0]] as? Object else { return }
    change(&inner, Array(path.dropFirst()), body)
    object[path[0]] = inner
  }
}
