import CTactus
import Dispatch
import Synchronization

/// Lanes of loops, in real time or simulated.
///
///     let runtime = try Runtime {
///       Lane("motion", scheduling: .fifo(80), cpu: 3) {
///         Loop("balance", every: .hertz(1000), safeStateAfter: 3) { Balance() }
///       }
///     }
///     try runtime.start()
///     …
///     runtime.stop()
///
/// Keeps no global state, installs no signal handler; two runtimes live in one process. After `stop()` no thread,
/// priority, affinity or descriptor of it is left. May be started again if every loop of it makes its body for each run.
///
/// What only reads (`statistics`, `analysis()`, `reports`, `memoryLock`, `epoch`) waits for no lane and for no call that
/// does, whatever hangs.
public final class Runtime: Sendable {
  /// Those that were declared.
  let lanes: [LaneRun]
  /// Those, and the watchdog's behind them.
  private let allLanes: [LaneRun]
  private let strict: Bool
  private let lockMemory: Bool
  private let wakeUpLatency: WakeUpLatency
  /// Whether strict mode insists on it.
  private let insistsOnLatency: Bool
  /// Where the kernel's files are; empty but in tests.
  private let root: String
  /// Holds the latency while the runtime runs; −1 if nothing does.
  private let latencyDescriptor = Atomic<Int32>(-1)
  /// Held while lanes are started or changed, never while the end of one is awaited.
  private let phase = Mutex(Phase.idle)
  /// Held for copies alone.
  private let facts = Mutex(Facts())

  private enum Phase { case idle, running, stopping, simulating }

  private struct Facts {
    var reports: [LaneReport] = []
    var memory = MemoryLock.notRequested
    var wakeUp = WakeUpHold.notRequested
    var group = ControlGroup()
    var epoch = TickInstant.zero
  }

  /// Whether the process's memory is locked, so that no page has to be fetched while a tick runs.
  public enum MemoryLock: Sendable, Hashable {
    /// It was not requested.
    case notRequested
    /// All memory of the process is locked, including what it will allocate.
    case locked
    /// `mlockall` failed: the limit is too low, or the privilege is missing.
    case refused(errno: Int32)
  }

  /// - Parameters:
  ///   - strict: `start()` fails unless everything requested of the kernel is in effect.
  ///   - lockMemory: locks all memory of the process, pages as they are first used; `nil` to lock it if any lane asks for real time.
  ///   - wakeUpLatency: how deep the CPUs may sleep while the runtime runs; `nil` for 0 if any lane asks for real time, and
  ///     not insisted on in strict mode.
  ///   - watchdog: watches the lanes; `nil` for none. Its lane is named "watchdog".
  ///   - externalStops: the stops of another process, such as a guard, that brings the outputs into their safe state; each loop is
  ///     then asked for its safe state (`SafeStateCause.externalStop`). `nil` if no other process does.
  ///   - lanes: at least one.
  /// - Throws: `RuntimeError` when the lanes contradict each other, declare what is out of range, or cannot meet their
  ///   deadlines.
  public convenience init(
    strict: Bool = false, lockMemory: Bool? = nil, wakeUpLatency: WakeUpLatency? = nil, watchdog: Watchdog? = nil,
    externalStops: ExternalStops? = nil, @LaneBuilder lanes: () -> [Lane]
  ) throws(RuntimeError) {
    try self.init(
      strict: strict, lockMemory: lockMemory, wakeUpLatency: wakeUpLatency, watchdog: watchdog,
      externalStops: externalStops, root: "", lanes: lanes)
  }

  /// - Parameter root: put before the paths of the kernel's files.
  init(
    strict: Bool, lockMemory: Bool? = nil, wakeUpLatency: WakeUpLatency?, watchdog: Watchdog? = nil,
    externalStops: ExternalStops? = nil, root: String,
    @LaneBuilder lanes: () -> [Lane]
  ) throws(RuntimeError) {
    let declared = lanes()
    guard !declared.isEmpty else { throw .nothingToRun }
    var laneNames: Set<String> = []
    var laneNamesOfLoops: [String: String] = [:]
    for lane in declared {
      guard laneNames.insert(lane.name).inserted else { throw .duplicateLane(lane.name) }
      for loop in lane.loops {
        guard laneNamesOfLoops.updateValue(lane.name, forKey: loop.name) == nil else { throw .duplicateLoop(loop.name) }
      }
    }
    var runs: [LaneRun] = []
    for (number, lane) in declared.enumerated() {
      runs.append(try LaneRun(lane, number: number, lanes: laneNamesOfLoops, externalStops: externalStops))
    }
    self.lanes = runs
    if let watchdog {
      guard laneNames.insert(Watchdog.name).inserted else { throw .duplicateLane(Watchdog.name) }
      runs.append(try LaneRun(watchdog.lane(watching: runs), number: runs.count))
    }
    allLanes = runs
    self.strict = strict
    self.root = root
    let wantsRealTime = declared.contains { $0.scheduling != .normal }
    self.lockMemory = lockMemory ?? wantsRealTime
    self.wakeUpLatency = wakeUpLatency ?? (wantsRealTime ? .held(.zero) : .asTheKernelLikes)
    insistsOnLatency = wakeUpLatency != nil
  }

  deinit {
    stop()
  }

  /// Starts every lane. Phase 0 of all is one epoch, 200 µs and half a microsecond a loop after the last is set up.
  ///
  /// Returns once every lane's thread is set up: `reports` then says what is in effect. Blocks for well under a
  /// millisecond a lane, and for a SCHED_FIFO lane as long as it takes to look through the machine's threads for rivals.
  /// - Throws: `.alreadyRunning`, also while a lane hangs that `stop(within:)` has not ended; `.simulating`, `.ranAlready`,
  ///   `.system`, `.noThread`, and in strict mode `.notRealTime`; nothing runs then. `.noThread` comes within a second when the
  ///   kernel refuses a thread, after 10 s when Dispatch's own 255 are in use.
  public func start() throws(RuntimeError) {
    var failure: RuntimeError?
    phase.withLock { phase in
      do throws(RuntimeError) {
        try mayBegin(phase)
        try startLanes()
        phase = .running
      } catch {
        failure = error
      }
    }
    if let failure { throw failure }
  }

  private func mayBegin(_ phase: Phase) throws(RuntimeError) {
    switch phase {
    case .running, .stopping: throw .alreadyRunning
    case .simulating: throw .simulating
    case .idle: break
    }
    let usedUp = lanes.flatMap(\.usedUp)
    guard usedUp.isEmpty else { throw .ranAlready(loops: usedUp) }
  }

  private func startLanes() throws(RuntimeError) {
    let memory = lockMemory ? MemoryLocks.take() : .notRequested
    let (wakeUp, descriptor) = WakeUpHold.take(wakeUpLatency, root: root)
    latencyDescriptor.store(descriptor, ordering: .relaxed)
    let group = ControlGroup(root: root)
    var started: [LaneRun] = []
    var reports: [LaneReport] = []
    func giveUp() {
      for lane in started { lane.openGate(epoch: nil) }
      for lane in started {
        lane.awaitEnd()
        lane.releaseThread()
      }
      if memory == .locked { MemoryLocks.release() }
      releaseLatency()
    }
    for lane in allLanes {
      lane.prepare(simulating: false)
      do {
        reports.append(try lane.startThread(group))
      } catch {
        giveUp()
        throw error
      }
      started.append(lane)
    }
    facts.withLock { [reports] facts in
      facts.reports = reports
      facts.memory = memory
      facts.wakeUp = wakeUp
      facts.group = group
    }
    if strict, let error = refusal(reports, memory, wakeUp) {
      giveUp()
      throw error
    }
    let loops = lanes.reduce(0) { $0 + $1.loopCount }
    let epoch = tactus_monotonic_now() + 200_000 + Int64(loops) * 500
    facts.withLock { $0.epoch = TickInstant(nanoseconds: epoch) }
    for lane in allLanes { lane.openGate(epoch: epoch) }
  }

  private func releaseLatency() { tactus_close(latencyDescriptor.exchange(-1, ordering: .relaxed)) }

  private func refusal(_ reports: [LaneReport], _ memory: MemoryLock, _ wakeUp: WakeUpHold) -> RuntimeError? {
    var refused = reports.filter { !$0.isAsRequested }
    func refuse(_ description: String) {
      refused.append(
        LaneReport(
          lane: "*", requested: .normal, effective: .normal, requestedCPUs: nil, effectiveCPUs: nil,
          findings: [.init(isRefusal: true, description: description)]))
    }
    if case .refused(let errno) = memory {
      refuse(
        "memory lock refused (errno \(errno), RLIMIT_MEMLOCK is \(tactus_limit_memlock()) bytes). "
          + "Give the service LimitMEMLOCK=infinity")
    }
    if insistsOnLatency, let refusal = wakeUp.refusal { refuse(refusal) }
    return refused.isEmpty ? nil : .notRealTime(refused)
  }

  /// Puts every loop into its safe state on its own lane, then ends the lanes. Returns when that is done: the tick that is
  /// running and 20 ms later, so never while a tick hangs; see `stop(within:)`. Does nothing when the runtime does not run.
  /// Never call it from a tick, nor from the watchdog's handler.
  public func stop() { _ = stop(until: nil) }

  /// As `stop()`, for at most `limit`.
  ///
  /// A loop's safe state runs on its own lane, so it cannot run while a tick of that lane hangs: a caller that gets `.hangs` has to
  /// make what these lanes drive safe by other means. All other lanes are in their safe state and have ended. The lanes that
  /// hang do the same as soon as they can; call again to wait for that. Until then the runtime can be read, not started.
  /// - Throws: `.hangs` with the lanes that have not ended, and what they do.
  public func stop(within limit: Nanoseconds) throws(RuntimeError) {
    let hanging = stop(until: .now() + .nanoseconds(Int(limit.count)))
    if !hanging.isEmpty { throw .hangs(hanging) }
  }

  private func stop(until limit: DispatchTime?) -> [LaneHang] {
    // The watchdog watches the others until they have ended.
    for group in [lanes, Array(allLanes.dropFirst(lanes.count))] {
      let hanging = end(group, until: limit)
      if !hanging.isEmpty { return hanging }
    }
    phase.withLock { phase in
      // Another thread may have been first.
      guard phase == .stopping else { return }
      for lane in allLanes { lane.releaseThread() }
      if memoryLock == .locked { MemoryLocks.release() }
      releaseLatency()
      phase = .idle
    }
    return []
  }

  /// Asks lanes to end and waits for that, without the lock. Returns those that have not ended.
  private func end(_ lanes: [LaneRun], until limit: DispatchTime?) -> [LaneHang] {
    let ending = phase.withLock { phase -> [(lane: LaneRun, thread: LaneThread)] in
      guard phase == .running || phase == .stopping else { return [] }
      phase = .stopping
      return lanes.compactMap { lane in lane.requestStop().map { (lane, $0) } }
    }
    return ending.filter { !$0.thread.awaitEnd(until: limit) }.map(\.lane.presentHang)
  }

  /// What each lane asked of the kernel and what it got, since the last start.
  public var reports: [LaneReport] { facts.withLock { $0.reports } }

  /// Whether the memory is locked, since the last start.
  public var memoryLock: MemoryLock { facts.withLock { $0.memory } }

  /// What became of the wake-up latency, since the last start.
  public var wakeUpHold: WakeUpHold { facts.withLock { $0.wakeUp } }

  /// Why something that was asked of the kernel for the whole process is not in effect, or may not hold, since the last start.
  public var findings: [LaneReport.Finding] {
    let facts = facts.withLock { $0 }
    var findings: [LaneReport.Finding] = []
    if let refusal = facts.wakeUp.refusal {
      findings.append(.init(isRefusal: true, description: refusal))
    }
    if facts.memory == .locked, let memory = facts.group.memory {
      findings.append(
        .init(
          isRefusal: false,
          description:
            "the control group has \(memory) bytes of memory (memory.max), and locked memory is never given back: "
            + "what needs more is killed"))
    }
    return findings
  }

  /// The instant of phase 0 of the last start.
  public var epoch: TickInstant { facts.withLock { $0.epoch } }

  /// The accounts of every loop, read by any thread without stopping or awaiting one: what a tick that hangs keeps waiting
  /// is seen while it hangs. The loops are read one after the other.
  public var statistics: RuntimeStatistics {
    var loops = lanes.flatMap { lane in (0..<lane.loopCount).map { lane.statistics(of: $0) } }
    if loops.contains(where: { !$0.ages.isEmpty }) {
      let bounds = AgeBounds(lanes: lanes, loops: loops)
      for loop in loops.indices {
        for age in loops[loop].ages.indices {
          guard let (bound, isMeasured) = bounds.bound(of: loops[loop].ages[age]) else { continue }
          loops[loop].ages[age].bound = bound
          loops[loop].ages[age].isBoundMeasured = isMeasured
        }
      }
    }
    return RuntimeStatistics(loops: loops, lanes: lanes.map(\.statistics))
  }

  /// The counters of one loop as `statistics` has them, without the histograms, which cost most of it, or `nil` if no loop has this name.
  public func counters(of loop: String) -> LoopCounters? {
    for lane in lanes {
      if let index = lane.index(of: loop) { return lane.counters(of: index) }
    }
    return nil
  }

  /// Changes the rates of loops, all or nothing: every change is checked first, then each lane takes its own at a tick
  /// boundary. A changed loop's next release is one new period after its last; its rank in the lane stays. A loop that runs
  /// after others, or others after it, is released in phase again at most one period later. Returns when all lanes have
  /// taken it. Never call it from a tick; during a simulation only from the thread that runs it.
  /// - Throws: `.unknownLoop`, `.invalidLoop`; `.invalidOrder` when loops in an order would no longer be released at one
  ///   instant; `.infeasible` when the new set could not meet its deadlines; `.hangs` when a lane came to no tick boundary
  ///   within a second. Nothing has changed then.
  public func setRates(_ rates: [String: Rate]) throws(RuntimeError) {
    var failure: RuntimeError?
    phase.withLock { phase in
      do throws(RuntimeError) { try setRates(rates, running: phase == .running) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private static let changePatience = Nanoseconds.seconds(1)

  private func setRates(_ rates: [String: Rate], running: Bool) throws(RuntimeError) {
    var changes = [[Int: Nanoseconds]](repeating: [:], count: lanes.count)
    for (name, rate) in rates {
      guard let lane = lanes.firstIndex(where: { $0.index(of: name) != nil }) else { throw .unknownLoop(name) }
      if let flaw = rate.flaw { throw .invalidLoop(loop: name, reason: flaw) }
      changes[lane][lanes[lane].index(of: name)!] = rate.period
    }
    for (lane, change) in zip(lanes, changes) {
      if let contradiction = lane.contradiction(change) { throw contradiction }
      if let misses = lane.infeasible(change) { throw .infeasible(lane: lane.name, misses: misses) }
    }
    var taken: [(lane: LaneRun, before: [Int: Nanoseconds])] = []
    for (lane, change) in zip(lanes, changes) where !change.isEmpty {
      let before = Dictionary(uniqueKeysWithValues: change.keys.map { ($0, lane.declared[$0].period) })
      guard lane.apply(change, running: running, within: Self.changePatience) else {
        for (lane, before) in taken { _ = lane.apply(before, running: running, within: Self.changePatience) }
        throw .hangs([lane.presentHang])
      }
      taken.append((lane, before))
    }
  }

  /// Takes the lanes into simulated time. The runtime cannot be started while the simulation lives.
  ///
  /// - Parameters:
  ///   - seed: of the simulation's random numbers.
  ///   - start: the instant at which time begins: zero, or later, for a program that starts anew in a world that goes on.
  /// - Throws: `.alreadyRunning`, `.simulating`, `.ranAlready`.
  public func simulation(seed: UInt64 = 1, from start: TickInstant = .zero) throws(RuntimeError) -> Simulation {
    var failure: RuntimeError?
    phase.withLock { phase in
      do throws(RuntimeError) { try mayBegin(phase) } catch { failure = error }
      guard failure == nil else { return }
      phase = .simulating
      for (number, lane) in allLanes.enumerated() {
        lane.simulated.pointee = SimulatedLane(number: number, from: start)
        lane.prepare(simulating: true)
      }
    }
    if let failure { throw failure }
    return Simulation(runtime: self, lanes: allLanes, seed: seed, from: start)
  }

  /// Runs the lanes through `duration` of simulated time, then puts every loop into its safe state.
  /// - Throws: `.alreadyRunning`, `.simulating`, `.ranAlready`.
  public func simulate(for duration: Nanoseconds, seed: UInt64 = 1) throws(RuntimeError) {
    let simulation = try simulation(seed: seed)
    simulation.run(for: duration)
    simulation.stop()
  }

  func simulationEnded() { phase.withLock { $0 = .idle } }
}
