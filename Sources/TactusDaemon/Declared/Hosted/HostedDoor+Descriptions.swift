import Service
import Wire

// A declared system described for the page and for `call`.

extension HostedDoor {
  /// Returns the system's item of `GET /api/systems`.
  func declaration(faults: NamedFaults, isSimulated: Bool, settings: [JSONValue]) -> JSONValue {
    let active = faults.active
    return .object([
      "name": .text(name), "title": .text(name.titled), "summary": .text(System.summary),
      "simulated": .boolean(isSimulated), "stops": System.takesOrders ? nil : .boolean(false),
      "fields": .list(leaves().filter(\.isInState).map(\.declaration)),
      "commands": .list(
        System.commands.map { command in
          .object([
            "name": .text(command.path), "meaning": .text(command.meaning), "scope": .text(command.scope.rawValue),
            "makesSafe": .boolean(command.alwaysMakesSafe),
            "parameters": .list(command.parameters.map(\.declaration)),
          ])
        }),
      "notices": .list(
        System.Notice.Kind.allCases.map {
          .object([
            "name": .text($0.rawValue), "meaning": .text($0.sentence), "trouble": .boolean($0.isTrouble),
          ])
        }),
      "settings": .list(settings),
      "faults": .list(
        isSimulated
          ? faults.all.map {
            .object([
              "name": .text($0.name), "meaning": .text($0.meaning), "active": .boolean(active.contains($0.name)),
            ])
          } : []),
    ])
  }

  /// The system's part of the OpenAPI document.
  var api: APIAdditions.System { SystemAPI<System>(name, routes: beside?.descriptions ?? []).additions }
}

extension ParameterDescription {
  fileprivate var declaration: JSONValue {
    .object([
      "name": .text(name), "meaning": .text(meaning), "type": .text(kind.typeName),
      "choices": kind.choices.map { .list($0.map { .text($0) }) }, "minimum": kind.bounds?.lowest,
      "maximum": kind.bounds?.highest, "unit": .text(unit.sign), "standard": isRequired ? nil : standard.json,
    ])
  }
}

extension Settings {
  /// Returns items of `settings` in `GET /api/systems`.
  func declaration(mayChange: Bool) -> [JSONValue] {
    Self.keys.filter { $0.items == nil }.map { key in
      .object([
        "name": .text(key.member), "meaning": .text(key.meaning), "type": .text(key.kind.typeName),
        "choices": key.kind.choices.map { .list($0.map { .text($0) }) }, "minimum": key.kind.bounds?.lowest,
        "maximum": key.kind.bounds?.highest, "unit": .text(key.unit.sign), "value": key.read(self).json,
        "standard": key.isRequired ? .null : key.standard.json, "mayChange": .boolean(mayChange),
      ])
    }
  }
}
