import Foundation

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
    // One that may be null may stay so.
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
