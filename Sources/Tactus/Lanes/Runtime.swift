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
/// The runtime keeps no global state and installs no signal handler, so two runtimes can exist in one process. After `stop()` none
/// of its threads, priorities, affinities and descriptors remain. A runtime can be started again if the body of every loop is made
/// for each run.
///
/// Reading (`statistics`, `analysis()`, `reports`, `memoryLock`, `epoch`) never waits for a lane, nor for a call that waits for a
/// lane, even if a lane hangs.
public final class Runtime: Sendable {
  /// The declared lanes.
  let lanes: [LaneRun]
  /// The declared lanes, followed by the watchdog's lane if there is a watchdog.
  private let allLanes: [LaneRun]
  private let strict: Bool
  private let lockMemory: Bool
  private let wakeUpLatency: WakeUpLatency
  /// Whether strict mode requires the wake-up latency to be in effect.
  private let insistsOnLatency: Bool
  /// The folder that holds the kernel's files; empty except in tests.
  private let root: String
  /// The descriptor that holds the wake-up latency while the runtime runs; −1 if none does.
  private let latencyDescriptor = Atomic<Int32>(-1)
  /// The runtime's phase. The lock is held while lanes are started or changed, never while the end of a lane is awaited.
  private let phase = Mutex(Phase.idle)
  /// Facts for readers. The lock is held only while they are copied.
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
    /// Locking was not requested.
    case notRequested
    /// All memory of the process is locked, including what it will allocate.
    case locked
    /// `mlockall` failed: the limit is too low, or the privilege is missing.
    case refused(errno: Int32)
  }

  /// Creates a runtime of these lanes, which do not run before `start()`.
  ///
  /// - Parameters:
  ///   - strict: whether `start()` fails unless everything requested from the kernel is in effect.
  ///   - lockMemory: whether all memory of the process is locked, each page when it is first used; with `nil` it is locked if any
  ///     lane requests real-time scheduling.
  ///   - wakeUpLatency: how deeply the CPUs may sleep while the runtime runs; with `nil` the limit is 0 if any lane requests
  ///     real-time scheduling, and strict mode does not require it.
  ///   - watchdog: watches the lanes; `nil` for no watchdog. Its lane is named "watchdog".
  ///   - externalStops: the stops by another process, such as a guard, that brings the outputs into their safe state; each loop is
  ///     then asked for its safe state (`SafeStateCause.externalStop`). `nil` if no other process stops the outputs.
  ///   - recorder: records what every tick reads and writes, into memory; see `recording(last:)`. `nil` records nothing.
  ///   - lanes: the lanes, at least one.
  /// - Throws: `RuntimeError` when the lanes contradict each other, declare what is out of range, or cannot meet their
  ///   deadlines.
  public convenience init(
    strict: Bool = false, lockMemory: Bool? = nil, wakeUpLatency: WakeUpLatency? = nil, watchdog: Watchdog? = nil,
    externalStops: ExternalStops? = nil, recorder: Recorder? = nil, @LaneBuilder lanes: () -> [Lane]
  ) throws(RuntimeError) {
    try self.init(
      strict: strict, lockMemory: lockMemory, wakeUpLatency: wakeUpLatency, watchdog: watchdog,
      externalStops: externalStops, recorder: recorder, root: "", lanes: lanes)
  }

  /// Creates a runtime as the public initialiser does, with the kernel's files below a folder.
  ///
  /// - Parameter root: the folder that holds the kernel's files, put before their paths.
  init(
    strict: Bool, lockMemory: Bool? = nil, wakeUpLatency: WakeUpLatency?, watchdog: Watchdog? = nil,
    externalStops: ExternalStops? = nil, recorder: Recorder? = nil, root: String,
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
      runs.append(
        try LaneRun(
          lane, number: number, lanes: laneNamesOfLoops, externalStops: externalStops, recorder: recorder))
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

  /// Starts every lane. All lanes count their phases from one epoch, which is 200 µs plus half a microsecond per loop after the last lane is set up.
  ///
  /// Returns once every lane's thread is set up: `reports` then says what is in effect. Blocks for well under a
  /// millisecond a lane, and for a SCHED_FIFO lane as long as it takes to look through the machine's threads for rivals.
  /// - Throws: `.alreadyRunning`, also while a lane hangs that `stop(within:)` could not end; `.simulating`, `.ranAlready`,
  ///   `.system`, `.noThread`, and in strict mode `.notRealTime`. After an error no lane runs. `.noThread` comes within a second if
  ///   the kernel refuses a thread, and after 10 s if all 255 threads of Dispatch are in use.
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
    let memory = lockMemory ? MemoryLocks.acquire() : .notRequested
    let (wakeUp, descriptor) = WakeUpHold.acquire(wakeUpLatency, root: root)
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

  /// Puts every loop into its safe state on its own lane, then ends the lanes. Returns when all lanes have ended, up to 20 ms after
  /// the tick that is running; it therefore never returns while a tick hangs (see `stop(within:)`). Does nothing if the runtime
  /// does not run. The function must not be called from a tick or from the watchdog's handler.
  public func stop() { _ = stop(until: nil) }

  /// Stops as `stop()` does, but waits at most for `limit`.
  ///
  /// A loop's safe state runs on its own lane, so it cannot run while a tick of that lane hangs: a caller that gets `.hangs` has to
  /// make the outputs of the hanging lanes safe by other means. All other lanes are in their safe state and have ended. A hanging
  /// lane follows as soon as its tick ends; another call waits for that. Until then the runtime can be read but not started.
  /// - Throws: `.hangs` with the lanes that have not ended, and what each of them is doing.
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

  /// Requests the lanes to end and waits for their ends without holding the lock. Returns the lanes that have not ended.
  private func end(_ lanes: [LaneRun], until limit: DispatchTime?) -> [LaneHang] {
    let ending = phase.withLock { phase -> [(lane: LaneRun, thread: LaneThread)] in
      guard phase == .running || phase == .stopping else { return [] }
      phase = .stopping
      return lanes.compactMap { lane in lane.requestStop().map { (lane, $0) } }
    }
    return ending.filter { !$0.thread.awaitEnd(until: limit) }.map(\.lane.presentHang)
  }

  /// The kernel settings that each lane requested, and those that are in effect, since the last start.
  public var reports: [LaneReport] { facts.withLock { $0.reports } }

  /// Whether the process's memory is locked, since the last start.
  public var memoryLock: MemoryLock { facts.withLock { $0.memory } }

  /// Whether the wake-up latency is in effect, since the last start.
  public var wakeUpHold: WakeUpHold { facts.withLock { $0.wakeUp } }

  /// The reasons why a process-wide request to the kernel is not in effect or may not hold, since the last start.
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
            + "what needs more is killed. Give the service more (MemoryMax=) if it comes near"))
    }
    return findings
  }

  /// The instant from which phases are counted since the last start.
  public var epoch: TickInstant { facts.withLock { $0.epoch } }

  /// The accounts of every loop, which any thread can read without stopping a loop or waiting for one: while a tick hangs, the
  /// accounts show what it keeps waiting. The loops are read one after the other.
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

  /// Returns the counters of one loop, or `nil` if no loop has this name. `statistics` has the same counters together
  /// with the histograms, which are costly to copy.
  public func counters(of loop: String) -> LoopCounters? {
    for lane in lanes {
      if let index = lane.index(of: loop) { return lane.counters(of: index) }
    }
    return nil
  }

  /// Changes the rates of loops, either all of them or none: every change is checked first, then each lane takes its own changes at
  /// a tick boundary. The next release of a changed loop is one new period after its last; its rank in the lane stays. A loop that
  /// runs after others, or before others, is released in phase again at most one period later. Returns when all lanes have taken
  /// their changes. The function must not be called from a tick; during a simulation it may be called only from the thread that
  /// runs the simulation.
  /// - Throws: `.unknownLoop`, `.invalidLoop`; `.invalidOrder` if loops in an order would no longer be released at the same
  ///   instant; `.infeasible` if the new set could not meet its deadlines; `.hangs` if a lane came to no tick boundary within
  ///   a second. Nothing has changed after an error.
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

  /// Puts the lanes into simulated time. The runtime cannot be started while the simulation exists.
  ///
  /// - Parameters:
  ///   - seed: the seed of the simulation's random numbers.
  ///   - start: the instant at which time begins: zero, or a later instant for a program that restarts in a world that continues.
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

  /// Returns a recording of the present or the last run: at least its last `span`, as far as that is still in memory. Any thread may call this;
  /// no lane waits for it.
  ///
  /// - Parameters:
  ///   - span: the length of the recording, or `nil` for all that is still in memory.
  ///   - facts: facts for the head of the recording, by name, such as the program's version.
  /// - Returns: `nil` if the runtime has no recorder or has not run.
  public func recording(last span: Nanoseconds? = nil, facts: [String: String] = [:]) -> Recording? {
    let since = span.map { max(lanes.map(\.instant).max()! - $0.count, 0) } ?? .min
    let recorded = lanes.compactMap { $0.recorded(since: since) }
    return recorded.isEmpty ? nil : Recording(facts: facts, lanes: recorded)
  }

  /// Replays a recording of the same lanes: every recorded tick runs again with its recorded inputs, under the scheduler of real and simulated time,
  /// and its decisions and outputs are compared. Nothing outside is read or written. Each lane is replayed up to its first difference.
  ///
  /// The lanes must be declared as they were for the recording, by a program of the same build. A changed program can replay a recording as
  /// long as the loops' memory has the same layout. Returns when the whole recording has been replayed.
  /// - Throws: `.alreadyRunning`, `.simulating`, `.ranAlready`, and `.invalidRecording` if it is a recording of other lanes.
  public func replay(_ recording: Recording) throws(RuntimeError) -> Replayed {
    var failure: RuntimeError?
    phase.withLock { phase in
      do throws(RuntimeError) { try mayBegin(phase) } catch { failure = error }
      if failure == nil { phase = .simulating }
    }
    if let failure { throw failure }
    defer { simulationEnded() }
    var replayed = Replayed()
    for recorded in recording.lanes {
      guard let lane = lanes.first(where: { $0.name == recorded.name }) else {
        throw .invalidRecording("it has a lane \"\(recorded.name)\", which this program does not have")
      }
      let replay = LaneReplay(lane, recorded)
      lane.prepare(simulating: false, replayedBy: replay)
      try replay.run(&replayed)
    }
    return replayed
  }

  func simulationEnded() { phase.withLock { $0 = .idle } }
}
