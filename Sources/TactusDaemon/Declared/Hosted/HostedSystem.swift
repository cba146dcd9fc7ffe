import Buses
import BusesLinux
import Logging
import Service
import Tactus

/// A declared system in the daemon: its bench, its loops and its mailboxes.
final class HostedSystem<System: DeviceSystem>: LoopSystem {
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
  private let eachSecond: ((Published<System.State>, Logger) -> Void)?
  private let lastWords: ((Published<System.State>) throws -> Bool)?
  /// Whether the function given to `lastWords` has confirmed that the outputs are safe, although the loop ended before.
  private var isSafeByLastWords = false
  /// The desk and the kept values of the system, or `nil` if it has neither or runs in a scenario.
  private let beside: BesideLoops<System>?
  /// The calendar of a scenario.
  var calendar = SimulatedCalendar()

  /// Opens the ports and makes the loops. Nothing is written to an actuator yet.
  ///
  /// - Parameter address: the address on which UDP ports listen, or `nil` in simulated time.
  init(
    _ configured: ConfiguredSystem<System>, simulate: Bool, bell: DoorbellButton?, address: String? = nil,
    clock: RecordClock = .monotonic, now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now },
    surroundings: SystemSurroundings? = nil
  ) throws {
    (at, name) = (configured.at, configured.at.name)
    let first = System.resumed(System.firstState(configured.wiring, configured.rules), surroundings)
    let kept = surroundings.flatMap { BesideLoops<System>.kept($0, configured, from: first) }
    let rules = kept?.rules ?? configured.rules
    let loops = try HostedDoor<System>.mailboxes(
      state: kept?.state ?? first, rules: System.loopRules(configured.wiring, rules),
      takesRequests: System.takesOrders)
    let parts = BenchParts(
      simulate ? .simulated : .real, of: System.self, at: configured.at, lane: configured.lane, address: address,
      clock: clock,
      lastEnd: surroundings.map { LastEnd(isWithoutStop: $0.endedWithoutStop, madeSafe: $0.madeSafe) } ?? LastEnd(),
      hasRealLinks: surroundings.map { !$0.simulate } ?? false, logger: surroundings?.logger)
    if let seconds = surroundings?.configuration.guardTimeoutSeconds { parts.guardTimeoutSeconds = seconds }
    let stall = simulate ? LaneStall() : nil
    // In simulated time no machine is busy, so every delay is part of the scenario.
    let mailbox = System.Inbox(
      loops, bell: bell, stall: stall, counting: simulate && clock != .tick ? .injected(stall?.served) : .all,
      instance: configured.at.instance)
    let all = try System.loops(Bench(configured.wiring, parts), mailbox)
    guard let loopName = mailbox.loopName, let rate = mailbox.rate else {
      throw Misdeclared(mailbox.lack.joined())
    }
    try Misdeclared.check(parts.flaws + mailbox.flaws)
    (self.loops, self.parts, self.loopName, period) = (loops, parts, loopName, rate.period)
    lane = Lane(
      name, scheduling: configured.lane.scheduling.lane(period: rate.period), cpus: configured.lane.cpus
    ) { all }
    let wanted = HostedRules<System>(
      configured.wiring, from: rules, inFile: configured.rules, loops.rules)
    (wiring, self.wanted) = (configured.wiring, wanted)
    let requests = HostedDoor<System>.requests(of: configured.at.name, loops, now: now)
    beside = try surroundings.map { try BesideLoops(configured, loops, requests, wanted, kept, parts.shared, $0) }
    door = HostedDoor(
      loops, at: configured.at, beside: beside?.desk, requests: requests, notices: loops.noticeReader(),
      look: { [name, wiring, shared = parts.shared] in
        Look(name: name, wiring: wiring, rules: wanted.inEffect, now: $0, parts: shared)
      })
    let faults = NamedFaults(system: name, parts.faults)
    self.faults = faults
    simulation = stall.map {
      SimulatedSurroundings(
        buses: parts.simulation, lanes: [configured.at.name: $0], routes: parts.simulationRoutes, named: faults)
    }
    summary = configured.introduction
    (eachSecond, lastWords) = (mailbox.report, mailbox.farewell)
  }

  var endpoints: [Endpoint] { parts.endpoints }
  var startMetadata: Logger.Metadata {
    let listen = endpoints.map { "\($0)" }.joined(separator: ", ")
    guard !endpoints.isEmpty else { return [name: .string(summary)] }
    // The summary would name the ports of the file, of which 0 stands for any free one.
    return ["listen": .string(listen), "\(name)_listen": .string(listen)]
  }
  var heartbeat: LatestVersion { loops.state.version }
  var heartbeatPeriod: Nanoseconds { period > SupervisorLoop.rate.period ? period : .zero }
  var heldLines: [LinuxGPIOLines] { parts.heldLines }
  var served: any ServedSystem { door }
  var metrics: any MetricSource { door }

  func lane(bell: DoorbellButton) -> Lane { lane }

  func takeAnswers(at now: TickInstant, before: () -> Void) {
    if beside == nil { noteSimulated(at: now) }
    door.takeAnswers(at: now, before: before) { beside?.told($0) }
  }

  /// Gives the loop of a scenario the calendar day, and reports its values as stored, as a disk that takes no time would.
  func noteSimulated(at now: TickInstant) {
    loops.noteStored(upTo: door.published.at)
    loops.noteDay(calendar.day(at: now))
  }

  func takeNotices(_ logger: Logger) -> [Event] {
    takeNotices().compactMap { door.logged($0, logger) } + (beside?.takeEvents() ?? [])
  }

  /// Returns the notices of the loop since the last call.
  func takeNotices() -> [Told<System.Notice>] { door.takeNotices { beside?.told($0) } }

  func change(to new: Configuration) -> (any RulesChange)? {
    let configured = new.systems.all.lazy.compactMap { $0 as? ConfiguredSystem<System> }.first { $0.name == name }
    guard let configured else { return nil }
    return Self.change(wanted, door.beside, to: configured.rules, of: at, inFile: configured.rules)
  }

  /// Returns the change to the given rules, or `nil` if the rules are the same.
  ///
  /// - Parameters:
  ///   - desk: the desk, which is given the rules if it shares them with the loop.
  ///   - file: the rules of the file that the change comes from, or `nil` if a client has set them.
  static func change(
    _ wanted: HostedRules<System>, _ desk: (any RunningDesk)? = nil, to new: System.Rules,
    of place: SystemPlace = System.onlyPlace, inFile file: System.Rules? = nil
  ) -> (any RulesChange)? {
    let keys = KeyChange.between(
      wanted.rules.values { System.path(of: $0, at: place) }, new.values { System.path(of: $0, at: place) })
    guard !keys.isEmpty else { return nil }
    // The rules in effect may still be stricter than those requested.
    let (now, whenSafe) = new.change(from: wanted.inEffect) { rules in
      System.contradictions(wanted.wiring, rules, at: place, .none).isEmpty
    }
    return wanted.change(
      of: place.name, keys, now: now, whenSafe: whenSafe, inFile: file,
      desk: desk?.change(of: place.name, keys, to: new))
  }

  func started() {
    for link in parts.links { link.start() }
    beside?.start()
  }
  func beat(at now: TickInstant) { beside?.beat(door.published, at: now) }
  func report(_ logger: Logger) {
    eachSecond?(door.published, logger)
    for link in parts.links { link.mend(logger) }
  }

  func finish(_ logger: Logger) {
    sayLastWords(logger)
    for (failure, work) in parts.endings {
      do {
        try work()
      } catch {
        logger.warning("\(failure)", metadata: ["system": .string(name), "failure": .string("\(error)")])
      }
    }
    // The links stop last, since one may wait for its daemon.
    for link in parts.links { link.stop() }
    beside?.stopChildren()
  }

  private func sayLastWords(_ logger: Logger) {
    let published = door.published
    guard !published.isSafe, let lastWords else { return }
    do {
      isSafeByLastWords = try lastWords(published)
    } catch {
      logger.warning("its last words failed", metadata: ["system": .string(name), "failure": .string("\(error)")])
    }
  }

  func finishKeeping() -> KeptOutcome { beside?.finish(door.published) ?? .known }
  var brokerParticipants: [any BrokerParticipant] { [beside?.desk?.participant].compactMap(\.self) }

  var unconfirmed: (message: String, state: String)? {
    let published = door.published
    let state = door.word ?? "unknown"
    let outputs = parts.unsafeOutputs
    if !outputs.isEmpty {
      return ("\(name): not in the safe state: \(outputs.joined(separator: ", "))", state)
    }
    // A system that takes no orders drives no output.
    let isSafe = published.isSafe || isSafeByLastWords || !System.takesOrders
    return isSafe ? nil : ("\(name) has not confirmed its safe state", state)
  }
}
