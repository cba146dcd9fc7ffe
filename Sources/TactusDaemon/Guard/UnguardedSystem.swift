import Service
import Tactus
import Wire

/// Wraps a system so that its emergency stop cannot be reset while no guard can be started; all other calls are passed on.
struct UnguardedSystem: ServedSystem {
  private let system: any ServedSystem
  private let health: GuardHealth

  init(_ system: any ServedSystem, _ health: GuardHealth) { (self.system, self.health) = (system, health) }

  var name: String { system.name }
  var version: UInt64 { system.version }
  var state: [UInt8] { system.state }
  var statusMembers: [UInt8]? { system.statusMembers }
  var parts: [StatePart] { system.parts }
  var movingMembers: Set<String> { system.movingMembers }

  var routes: [Route] {
    let check: @Sendable () throws(APIError) -> Void = { [health] () throws(APIError) in try Self.check(health) }
    return system.routes.map { $0.path.hasSuffix("/reset") ? $0.requiring(check) : $0 }
  }

  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    system.entities(on: topics, takesCommands: takesCommands)
  }

  func events(at now: TickInstant, second: Bool) -> [Event] { system.events(at: now, second: second) }
  func holdEmergencyStop() { system.holdEmergencyStop() }
  var isEmergencyStopped: Bool { system.isEmergencyStopped }
  func emergencyStop(_ caller: Caller) async throws { try await system.emergencyStop(caller) }

  func reset(_ caller: Caller) async throws {
    try Self.check(health)
    try await system.reset(caller)
  }

  func receive(frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void) -> Bool {
    system.receive(frame: frame, from: caller, answer: answer)
  }

  var sockets: [SystemSocket] { system.sockets }
  func clientLeft(_ caller: Caller) { system.clientLeft(caller) }

  private static func check(_ health: GuardHealth) throws(APIError) {
    guard let why = health.lostBecause, Mechanism.unguardedReset.acts else { return }
    throw APIError(
      .conflict, "NO_GUARD",
      "no guard can be had (\(why)), so outputs stay stopped; another is tried every second: reset when /api/health "
        + "says that it watches")
  }
}
