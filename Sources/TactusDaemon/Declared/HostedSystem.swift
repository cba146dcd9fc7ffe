import Buses
import BusesLinux
import Logging
import Service
import Tactus

/// A declared system in the daemon: its bench, its loops, its mailboxes.
final class HostedSystem<System: DeviceSystem>: DaemonSystem {
  let name = System.name
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

  /// Opens the ports and makes the loops. Nothing is written to an actuator yet.
  ///
  /// - Parameter address: where UDP ports listen; `nil` in simulated time.
  init(
    _ configured: ConfiguredSystem<System>, simulate: Bool, bell: DoorbellButton?, address: String? = nil,
    clock: RecordClock = .monotonic,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) throws {
    let loops = try HostedDoor<System>.Loops(
      state: System.initialState, rules: System.loopRules(configured.wiring, configured.rules))
    let parts = BenchParts(
      simulate ? .simulated : .real, of: System.self, lane: configured.lane, address: address, clock: clock)
    let stall = simulate ? LaneStall() : nil
    let mailbox = System.Inbox(loops, bell: bell, stall: stall, isSimulated: simulate)
    let all = try System.loops(Bench(configured.wiring, parts), mailbox)
    guard let loopName = mailbox.loopName, let rate = mailbox.rate else {
      preconditionFailure("\(System.self).loops makes no loop by mailbox.loop")
    }
    (self.loops, self.parts, self.loopName, period) = (loops, parts, loopName, rate.period)
    lane = Lane(
      System.name, scheduling: configured.lane.scheduling.lane(period: rate.period), cpus: configured.lane.cpus
    ) { all }
    door = HostedDoor(loops, now: now)
    (wiring, wanted) = (configured.wiring, HostedRules(configured, loops.rules))
    notices = loops.noticeReader()
    let faults = NamedFaults(system: System.name, parts.faults)
    self.faults = faults
    simulation = stall.map {
      SimulatedSurroundings(buses: parts.simulation, lanes: [System.name: $0], named: faults)
    }
    summary = configured.place
  }

  var endpoints: [Endpoint] { parts.endpoints }
  var startMetadata: Logger.Metadata {
    var metadata: Logger.Metadata = ["\(System.name)": .string(summary)]
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
      metadata: ["system": .string(System.name), "notice": .string(told.notice.rawValue)])
    return door.edge(told)
  }

  func change(to new: Configuration) -> (any RulesChange)? {
    let configured = new.systems[ConfiguredSystem<System>.self]
    return configured.flatMap { Self.change(wanted, to: $0.rules) }
  }

  /// `nil` if it is the same.
  static func change(_ wanted: HostedRules<System>, to new: System.Rules) -> (any RulesChange)? {
    let keys = KeyChange.between(
      wanted.rules.values { System.path(of: $0) }, new.values { System.path(of: $0) })
    guard !keys.isEmpty else { return nil }
    // What is in effect may still be less than what was wanted.
    let (now, whenSafe) = new.change(from: wanted.inEffect) { rules in
      System.contradictions(wanted.wiring, rules, .none).isEmpty
    }
    return wanted.change(of: System.name, keys, now: now, whenSafe: whenSafe)
  }

  func started() {}
  func beat(at now: TickInstant) {}
  func report(_ logger: Logger) {}
  func finish(_ logger: Logger) {}
  func finishKeeping() -> KeptOutcome { .known }
  var brokerParticipants: [any BrokerParticipant] { [] }

  var unconfirmed: (message: String, state: String)? {
    let published = door.published
    let state = door.word(of: published.state) ?? "unknown"
    let outputs = parts.unsafeOutputs
    if !outputs.isEmpty {
      return ("\(System.name): not in the safe state: \(outputs.joined(separator: ", "))", state)
    }
    return published.isSafe ? nil : ("\(System.name) has not confirmed its safe state", state)
  }
}
