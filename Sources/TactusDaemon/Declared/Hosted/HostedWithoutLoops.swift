import Buses
import Logging
import Service
import Tactus

/// A declared system without loops in the daemon: its desk and its child programs.
final class HostedWithoutLoops<System: WithoutLoops>: DaemonSystem {
  let name: String
  let at: SystemPlace
  let door: HostedDoor<System>
  let wiring: System.Wiring
  let wanted: HostedRules<System>
  let isSimulated: Bool
  private let publisher: DeskPublisher<System.State, System.Notice>
  private let beside: BesideLoops<System>
  let desk: HostedDesk<System>

  /// Makes the desk. No child program is started yet.
  ///
  /// - Throws: the errors of `System.desk`.
  init(_ configured: ConfiguredSystem<System>, _ surroundings: SystemSurroundings) throws {
    (at, name, wiring) = (configured.at, configured.at.name, configured.wiring)
    let first = System.firstState(configured.wiring, configured.rules)
    let kept = BesideLoops<System>.kept(surroundings, configured, from: first)
    let loops = try HostedDoor<System>.Loops(
      state: kept?.state ?? first, rules: NoSettings(), takesRequests: false)
    let shared = SharedParts()
    publisher = DeskPublisher(loops.state)
    let wanted = HostedRules<System>(
      configured.wiring, from: kept?.rules ?? configured.rules, inFile: configured.rules, loops.rules)
    self.wanted = wanted
    beside = try BesideLoops(configured, loops, nil, wanted, kept, shared, surroundings, publisher: publisher)
    guard let desk = beside.desk as? HostedDesk<System> else { preconditionFailure("\(System.self) has a desk") }
    self.desk = desk
    isSimulated = surroundings.simulate || configured.isSimulated
    door = HostedDoor(
      loops, at: configured.at, beside: desk,
      look: { [name, wiring] in
        Look(name: name, wiring: wiring, rules: wanted.inEffect, now: $0, parts: shared)
      })
  }

  var endpoints: [Endpoint] { [] }
  var startMetadata: Logger.Metadata { [:] }
  var served: any ServedSystem { door }
  var metrics: any MetricSource { door }
  var brokerParticipants: [any BrokerParticipant] { [desk.participant].compactMap(\.self) }

  func started() { beside.start() }
  func takeAnswers(at now: TickInstant, before: () -> Void) {}
  func takeNotices(_ logger: Logger) -> [Event] {
    let edges = publisher.takeNotices().compactMap { told in
      beside.told(told)
      return door.logged(told, logger)
    }
    return edges + beside.takeEvents()
  }
  func beat(at now: TickInstant) { beside.beat(door.published, at: now) }
  func report(_ logger: Logger) {}
  func finish(_ logger: Logger) { beside.stopChildren() }
  func finishKeeping() -> KeptOutcome {
    beside.finish(door.published)
  }

  func change(to new: Configuration) -> (any RulesChange)? {
    let configured = new.systems.all.lazy.compactMap { $0 as? ConfiguredSystem<System> }.first { $0.name == self.name }
    guard let configured else { return nil }
    return Self.change(wanted, desk, to: configured.rules, of: at, inFile: configured.rules)
  }

  /// Returns the change for the desk, or `nil` if the rules are the same.
  ///
  /// - Parameter file: the rules of the file that the change comes from, or `nil` if a client has set them.
  static func change(
    _ wanted: HostedRules<System>, _ desk: HostedDesk<System>, to new: System.Rules, of place: SystemPlace,
    inFile file: System.Rules? = nil
  ) -> (any RulesChange)? {
    let keys = KeyChange.between(
      wanted.rules.values { System.path(of: $0, at: place) }, new.values { System.path(of: $0, at: place) })
    guard !keys.isEmpty else { return nil }
    return DeskChange(of: place.name, keys) { done in
      wanted.replace(with: new, inFile: file)
      desk.thread.run {
        desk.desk.apply(new, done: done)
        return []
      }
    }
  }
}

extension WithoutLoops {
  /// Opens a configured system that is passed without its type.
  static func open(_ configured: Any, _ surroundings: SystemSurroundings) throws -> any DaemonSystem {
    // The values are this system's, passed without their types.
    try HostedWithoutLoops(configured as! ConfiguredSystem<Self>, surroundings)
  }
}
