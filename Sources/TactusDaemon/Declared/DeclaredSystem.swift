import Service
import Wire

/// A declared system that runs, without its types.
protocol DeclaredSystem: LoopSystem {
  /// One item of `GET /api/systems`. Any thread.
  var declaration: @Sendable () -> JSONValue { get }
  var api: APIAdditions.System { get }
  /// `PUT /api/NAME/settings`, or `nil` if none may change.
  func settingsRoute(_ reloader: Reloader) -> Route?
  /// The metrics of it and of all others of its kind.
  func metrics(with systems: [any DaemonSystem]) -> any MetricSource
  /// Its own card, or `nil` if it has the made one.
  var card: OwnCard? { get }
}

extension HostedSystem: DeclaredSystem {
  var declaration: @Sendable () -> JSONValue {
    let (door, faults, isSimulated, wanted) = (door, faults, simulation != nil, wanted)
    let wiring = wiring.declaration(mayChange: false)
    return {
      door.declaration(
        faults: faults, isSimulated: isSimulated, settings: wiring + wanted.inEffect.declaration(mayChange: true))
    }
  }

  var api: APIAdditions.System { door.api(faults: simulation == nil ? [] : faults.all.map(\.name)) }

  /// Until the next start, or the next reload, which says again what the file says.
  func settingsRoute(_ reloader: Reloader) -> Route? {
    guard System.Rules.keys.contains(where: { $0.items == nil }) else { return nil }
    let (wanted, at) = (wanted, at)
    return Route(.put, "/api/\(name)/settings", scope: .admin, action: "\(name).settings") { request in
      let new = try request.decode { (body) throws(APIError) in try System.Rules(&body, over: wanted.rules) }
      if let wrong = System.contradictions(wanted.wiring, new, at: at, .none).first?.blamed.first {
        // Each of them is allowed, and with what holds now they are not.
        let name = System.Rules.keys.first { System.path(of: $0, at: at) == wrong.key }?.name ?? wrong.key
        throw APIError(.conflict, "CONTRADICTION", "\(name): \(wrong.message)", field: name)
      }
      return try await reloader.submit(file: nil) { _ in
        [Self.change(wanted, to: new, of: at)].compactMap { $0 as (any RulesChange)? }
      }
    }
  }

  func metrics(with systems: [any DaemonSystem]) -> any MetricSource {
    KindMetrics(doors: systems.compactMap { ($0 as? HostedSystem<System>)?.door })
  }

  var card: OwnCard? { (System.self as? any HasCard.Type).map { OwnCard(kind: System.name, $0.card) } }
}

extension Daemon {
  /// A source for each kind of declared systems, one for each other system.
  static func metrics(of systems: [any DaemonSystem]) -> [any MetricSource] {
    var kinds: Set<ObjectIdentifier> = []
    return systems.compactMap { system in
      guard let declared = system as? any DeclaredSystem else { return system.metrics }
      return kinds.insert(ObjectIdentifier(type(of: system))).inserted ? declared.metrics(with: systems) : nil
    }
  }

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
    let simulations = systems.compactMap { ($0 as? any LoopSystem)?.simulation }
    let buses = Dictionary(simulations.flatMap(\.buses).map { ($0.name, $0.possibleFaults) }) { $0.union($1) }
    var additions = APIAdditions(
      title: program.name, systems: systems.compactMap { ($0 as? any DeclaredSystem)?.api },
      documents: program.kinds.compactMap(\.documents),
      busFaults: simulations.isEmpty ? nil : buses.values.reduce(into: []) { $0.formUnion($1) })
    additions.buses = buses
    additions.cards = systems.compactMap { ($0 as? any DeclaredSystem)?.card }.reduce(into: []) { cards, card in
      if !cards.contains(where: { $0.kind == card.kind }) { cards.append(card) }
    }
    return additions
  }
}
