import Service

/// A declared system that runs, without its types.
protocol DeclaredSystem: DaemonSystem {
  /// One item of `GET /api/systems`. Any thread.
  var declaration: @Sendable () -> JSONValue { get }
  var api: APIAdditions.System { get }
}

extension HostedSystem: DeclaredSystem {
  var declaration: @Sendable () -> JSONValue {
    let (door, faults, isSimulated, box) = (door, faults, simulation != nil, wanted.box)
    let wiring = wiring.declaration(mayChange: false)
    return {
      door.declaration(
        faults: faults, isSimulated: isSimulated, settings: wiring + box.inEffect.declaration(mayChange: true))
    }
  }

  var api: APIAdditions.System { door.api }
}

extension Daemon {
  /// `GET /api/systems`: what each declared system has, for the page and for `call`.
  static func declarations(of systems: [any DaemonSystem]) -> Route {
    let declarations = systems.compactMap { ($0 as? any DeclaredSystem)?.declaration }
    return Route(.get, "/api/systems") { _ in
      let document: JSONValue = .object([
        "ok": .boolean(true), "systems": .list(declarations.map { $0() }),
      ])
      return APIResponse(contentType: "application/json", body: document.bytes)
    }
  }

  static func additions(of systems: [any DaemonSystem]) -> APIAdditions {
    let program = DaemonProgram.current
    return APIAdditions(
      title: program.hasOwnSystems ? "Tactus" : program.name,
      systems: systems.compactMap { ($0 as? any DeclaredSystem)?.api }, hasOwnSystems: program.hasOwnSystems)
  }
}
