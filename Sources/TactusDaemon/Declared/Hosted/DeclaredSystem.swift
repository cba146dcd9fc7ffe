import Service
import Wire

/// A running declared system, without its types.
protocol DeclaredSystem: DaemonSystem {
  /// Returns the system's item of `GET /api/systems`; the property is `nil` if the system has hand-written documents.
  /// The function may be called from any thread.
  var declaration: (@Sendable () -> JSONValue)? { get }
  /// The system's part of the OpenAPI document, or `nil` if the system has hand-written documents.
  var api: APIAdditions.System? { get }
  /// Returns the route `PUT /api/NAME/settings`, or `nil` if no setting may change.
  func settingsRoute(_ reloader: Reloader) -> Route?
  /// Returns the metrics of this system and all others of its kind.
  func metrics(with systems: [any DaemonSystem]) -> any MetricSource
  /// The hand-written card of the system, or `nil` if the system has the standard card.
  var card: OwnCard? { get }
  /// The time zone that the system's file states, or `nil` if the file names none.
  var timeZone: String? { get }
}

extension DeviceSystem {
  fileprivate static var hasDocuments: Bool { self is any HasDocuments.Type }
  fileprivate static var ownCard: OwnCard? { (self as? any HasCard.Type).map { OwnCard(kind: name, $0.card) } }
}

extension HostedRules {
  fileprivate var timeZone: String? { (System.self as? any Sees.Type)?.zone(wiring) }

  /// Returns a function that makes the system's item of `GET /api/systems`, or `nil` if the system has hand-written
  /// documents.
  fileprivate func declaration(
    _ door: HostedDoor<System>, faults: NamedFaults, isSimulated: Bool
  ) -> (@Sendable () -> JSONValue)? {
    guard !System.hasDocuments else { return nil }
    let wiring = wiring.declaration(mayChange: false)
    return { [self] in
      door.declaration(
        faults: faults, isSimulated: isSimulated, settings: wiring + inEffect.declaration(mayChange: true))
    }
  }

  /// Returns the route `PUT /api/NAME/settings`, or `nil` if no setting may change. Settings hold until the next start
  /// or the next reload, which restores the values of the file.
  ///
  /// - Parameter change: returns the change to other rules, or `nil` if the rules are the same.
  fileprivate func settingsRoute(
    of at: SystemPlace, _ reloader: Reloader, change: @escaping @Sendable (System.Rules) -> (any RulesChange)?
  ) -> Route? {
    guard !System.hasDocuments, System.Rules.keys.contains(where: { $0.items == nil }) else { return nil }
    return Route(.put, "/api/\(at.name)/settings", scope: .admin, action: "\(at.name).settings") { [self] request in
      let new = try request.decode { (body) throws(APIError) in try System.Rules(&body, over: rules) }
      if let wrong = System.contradictions(wiring, new, at: at, .none).first?.blamed.first {
        // Each value is valid by itself, but together with the values in effect they are not.
        let name = System.Rules.keys.first { System.path(of: $0, at: at) == wrong.key }?.member ?? wrong.key
        throw APIError(.conflict, "CONTRADICTION", "\(name): \(wrong.message)", field: name)
      }
      return try await reloader.submit(file: nil) { _ in [change(new)].compactMap(\.self) }
    }
  }
}

extension HostedSystem: DeclaredSystem {
  var declaration: (@Sendable () -> JSONValue)? {
    wanted.declaration(door, faults: faults, isSimulated: simulation != nil)
  }

  var api: APIAdditions.System? { System.hasDocuments ? nil : door.api }

  func settingsRoute(_ reloader: Reloader) -> Route? {
    wanted.settingsRoute(of: at, reloader) { [wanted, desk = door.beside, at] in
      Self.change(wanted, desk, to: $0, of: at)
    }
  }

  func metrics(with systems: [any DaemonSystem]) -> any MetricSource {
    KindMetrics(doors: systems.compactMap { ($0 as? HostedSystem<System>)?.door })
  }

  var card: OwnCard? { System.ownCard }
  var timeZone: String? { wanted.timeZone }
}

extension HostedWithoutLoops: DeclaredSystem {
  var declaration: (@Sendable () -> JSONValue)? {
    wanted.declaration(door, faults: NamedFaults(system: name, []), isSimulated: isSimulated)
  }

  var api: APIAdditions.System? { System.hasDocuments ? nil : door.api }

  func settingsRoute(_ reloader: Reloader) -> Route? {
    wanted.settingsRoute(of: at, reloader) { [wanted, desk, at] in Self.change(wanted, desk, to: $0, of: at) }
  }

  func metrics(with systems: [any DaemonSystem]) -> any MetricSource {
    KindMetrics(doors: systems.compactMap { ($0 as? HostedWithoutLoops<System>)?.door })
  }

  var card: OwnCard? { System.ownCard }
  var timeZone: String? { wanted.timeZone }
}

extension Daemon {
  /// Returns a source of metrics for each kind of declared system, and one for each other system.
  static func metrics(of systems: [any DaemonSystem]) -> [any MetricSource] {
    var kinds: Set<ObjectIdentifier> = []
    return systems.compactMap { system in
      guard let declared = system as? any DeclaredSystem else { return system.metrics }
      return kinds.insert(ObjectIdentifier(type(of: system))).inserted ? declared.metrics(with: systems) : nil
    }
  }

  /// Returns the route `GET /api/systems`, which describes each declared system for the page and for `call`.
  static func declarations(of systems: [any DaemonSystem]) -> Route {
    let declarations = systems.compactMap { ($0 as? any DeclaredSystem)?.declaration ?? nil }
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
      title: program.name, systems: systems.compactMap { ($0 as? any DeclaredSystem)?.api ?? nil },
      documents: program.kinds.compactMap(\.documents),
      busFaults: simulations.isEmpty ? nil : buses.values.reduce(into: []) { $0.formUnion($1) })
    OpenAPIDocument.check(additions.documents)
    additions.buses = buses
    for named in simulations.compactMap(\.named) where !named.all.isEmpty {
      additions.faults[named.system] = named.all.map(\.name)
    }
    if let zone = systems.lazy.compactMap({ ($0 as? any DeclaredSystem)?.timeZone }).first { additions.timeZone = zone }
    additions.cards = systems.compactMap { ($0 as? any DeclaredSystem)?.card }.reduce(into: []) { cards, card in
      if !cards.contains(where: { $0.kind == card.kind }) { cards.append(card) }
    }
    return additions
  }
}
