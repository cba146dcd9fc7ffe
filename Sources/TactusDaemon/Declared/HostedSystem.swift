import Buses
import BusesLinux
import Logging
import Service
import Tactus

/// A declared system in the daemon: its bench, its loops, its mailboxes.
final class HostedSystem<System: DeviceSystem>: DaemonSystem {
  let name: String
  let at: SystemPlace
  let door: HostedDoor<System>
  let parts: BenchParts
  let faults: NamedFaults
  let loopName: String
  let simulation: SimulatedSurroundings?
  let wiring: System.Wiring
  let wanted: HostedRules<System>
  private let loops: HostedDoor<System>.Loops
  let lane: Lane
  private let period: Nanoseconds
  private let summary: String
  private var notices: RingReader<Told<System.Notice>>
  /// What it keeps and serves beside its loops; `nil` where it has none, and in the run of a scenario.
  private let beside: BesideLoops<System>?

  /// Opens the ports and makes the loops. Nothing is written to an actuator yet.
  ///
  /// - Parameter address: where UDP ports listen; `nil` in simulated time.
  init(
    _ configured: ConfiguredSystem<System>, simulate: Bool, bell: DoorbellButton?, address: String? = nil,
    clock: RecordClock = .monotonic, now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now },
    surroundings: SystemSurroundings? = nil
  ) throws {
    (at, name) = (configured.at, configured.at.name)
    let kept = surroundings.flatMap { BesideLoops<System>.kept($0, configured.at.name) }
    let loops = try HostedDoor<System>.Loops(
      state: kept?.state ?? System.initialState, rules: System.loopRules(configured.wiring, configured.rules))
    let parts = BenchParts(
      simulate ? .simulated : .real, of: System.self, at: configured.at, lane: configured.lane, address: address,
      clock: clock)
    let stall = simulate ? LaneStall() : nil
    let mailbox = System.Inbox(
      loops, bell: bell, stall: stall, isSimulated: simulate, instance: configured.at.instance)
    let all = try System.loops(Bench(configured.wiring, parts), mailbox)
    guard let loopName = mailbox.loopName, let rate = mailbox.rate else {
      preconditionFailure("\(System.self).loops makes no loop by mailbox.loop")
    }
    (self.loops, self.parts, self.loopName, period) = (loops, parts, loopName, rate.period)
    lane = Lane(
      name, scheduling: configured.lane.scheduling.lane(period: rate.period), cpus: configured.lane.cpus
    ) { all }
    let wanted = HostedRules(configured, loops.rules)
    (wiring, self.wanted) = (configured.wiring, wanted)
    beside = try surroundings.map { try BesideLoops(configured, loops, wanted, kept, $0) }
    door = HostedDoor(loops, at: configured.at, beside: beside?.desk, now: now)
    notices = loops.noticeReader()
    let faults = NamedFaults(system: name, parts.faults)
    self.faults = faults
    simulation = stall.map {
      SimulatedSurroundings(buses: parts.simulation, lanes: [configured.at.name: $0], named: faults)
    }
    summary = configured.place
  }

  var endpoints: [Endpoint] { parts.endpoints }
  var startMetadata: Logger.Metadata {
    var metadata: Logger.Metadata = ["\(name)": .string(summary)]
    if !endpoints.isEmpty { metadata["listen"] = .string(endpoints.map { "\($0)" }.joined(separator: ", ")) }
    return metadata
  }
  var heartbeat: LatestVersion { loops.state.version }
  var heartbeatPeriod: Nanoseconds { period > SupervisorLoop.rate.period ? period : .zero }
  var heldLines: [LinuxGPIOLines] { parts.heldLines }
  var served: any ServedSystem { door }
  var metrics: any MetricSource { door }

  func lane(bell: DoorbellButton) -> Lane { lane }

  func takeAnswers(at now: TickInstant) { door.requests.takeAnswers(at: now) }

  func takeNotices(_ logger: Logger) -> [Event] { takeNotices().map { log($0, logger) } }

  /// What the loop has told since the last call.
  func takeNotices() -> [Told<System.Notice>] {
    var told: [Told<System.Notice>] = []
    while let notice = notices.pop() { told.append(notice) }
    return told
  }

  private func log(_ told: Told<System.Notice>, _ logger: Logger) -> Event {
    logger.log(
      level: told.notice.isTrouble ? .warning : .notice, "\(told.notice.sentence)",
      metadata: ["system": .string(name), "notice": .string(told.notice.rawValue)])
    beside?.told(told)
    return door.edge(told)
  }

  func change(to new: Configuration) -> (any RulesChange)? {
    let configured = new.systems.all.lazy.compactMap { $0 as? ConfiguredSystem<System> }.first { $0.name == name }
    return configured.flatMap { Self.change(wanted, to: $0.rules, of: at) }
  }

  /// `nil` if it is the same.
  static func change(
    _ wanted: HostedRules<System>, to new: System.Rules, of place: SystemPlace = System.onlyPlace
  ) -> (any RulesChange)? {
    let keys = KeyChange.between(
      wanted.rules.values { System.path(of: $0, at: place) }, new.values { System.path(of: $0, at: place) })
    guard !keys.isEmpty else { return nil }
    // What is in effect may still be less than what was wanted.
    let (now, whenSafe) = new.change(from: wanted.inEffect) { rules in
      System.contradictions(wanted.wiring, rules, at: place, .none).isEmpty
    }
    return wanted.change(of: place.name, keys, now: now, whenSafe: whenSafe)
  }

  func started() {}
  func beat(at now: TickInstant) { beside?.beat(door.published, at: now) }
  func report(_ logger: Logger) {}
  func finish(_ logger: Logger) {}
  func finishKeeping() -> KeptOutcome {
    beside?.finish(door.published)
    return .known
  }
  var brokerParticipants: [any BrokerParticipant] { [] }

  var unconfirmed: (message: String, state: String)? {
    let published = door.published
    let state = door.word(of: published.state) ?? "unknown"
    let outputs = parts.unsafeOutputs
    if !outputs.isEmpty {
      return ("\(name): not in the safe state: \(outputs.joined(separator: ", "))", state)
    }
    return published.isSafe ? nil : ("\(name) has not confirmed its safe state", state)
  }
}
