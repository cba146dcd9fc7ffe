import CTactus
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
/// priority, affinity or descriptor of it is left. May be started again.
public final class Runtime: Sendable {
  let lanes: [LaneRun]
  private let strict: Bool
  private let lockMemory: Bool
  private let state = Mutex(State())

  private struct State {
    enum Phase { case idle, running, simulating }
    var phase = Phase.idle
    var reports: [LaneReport] = []
    var memory = MemoryLock.notRequested
    var epoch = TickInstant.zero
  }

  /// Whether the process's memory is locked, so that no page has to be fetched while a tick runs.
  public enum MemoryLock: Sendable, Hashable {
    case notRequested
    case locked
    /// `mlockall` failed: the limit is too low, or the privilege is missing.
    case refused(errno: Int32)
  }

  /// - Parameters:
  ///   - strict: `start()` fails unless everything requested of the kernel is in effect.
  ///   - lockMemory: locks all memory of the process, pages as they are first used; nil: if any lane asks for real time.
  /// - Throws: `RuntimeError` when the lanes contradict each other or cannot meet their deadlines.
  public init(
    strict: Bool = false, lockMemory: Bool? = nil, @LaneBuilder lanes: () -> [Lane]
  ) throws(RuntimeError) {
    let declared = lanes()
    guard !declared.isEmpty else { throw .nothingToRun }
    var laneNames: Set<String> = []
    var loopNames: Set<String> = []
    for lane in declared {
      guard laneNames.insert(lane.name).inserted else { throw .duplicateLane(lane.name) }
      for loop in lane.loops {
        guard loopNames.insert(loop.name).inserted else { throw .duplicateLoop(loop.name) }
      }
    }
    var runs: [LaneRun] = []
    for (number, lane) in declared.enumerated() { runs.append(try LaneRun(lane, number: number)) }
    self.lanes = runs
    self.strict = strict
    self.lockMemory = lockMemory ?? declared.contains { $0.scheduling != .normal }
  }

  deinit {
    let isRunning = state.withLock { $0.phase == .running }
    if isRunning { stop() }
  }

  /// Starts every lane. Phase 0 of all is one epoch, 200 µs and half a microsecond a loop after the last is set up.
  ///
  /// Returns once every lane's thread is set up: `reports` then says what is in effect. Blocks for well under a
  /// millisecond a lane, and for a SCHED_FIFO lane as long as it takes to look through the machine's threads for rivals.
  /// - Throws: `.alreadyRunning`, `.simulating`, `.system`, `.noThread`, and in strict mode `.notRealTime`; nothing runs then.
  ///   `.noThread` comes within a second when the kernel refuses a thread, after 10 s when Dispatch's own 255 are in use.
  public func start() throws(RuntimeError) {
    var failure: RuntimeError?
    state.withLock { state in
      do throws(RuntimeError) { try start(&state) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func start(_ state: inout State) throws(RuntimeError) {
    switch state.phase {
    case .running: throw .alreadyRunning
    case .simulating: throw .simulating
    case .idle: break
    }
    state.memory = lockMemory ? MemoryLocks.take() : .notRequested
    var started: [LaneRun] = []
    var reports: [LaneReport] = []
    func giveUp() {
      for lane in started { lane.openGate(epoch: nil) }
      for lane in started { lane.joinThread() }
      if state.memory == .locked { MemoryLocks.release() }
    }
    for lane in lanes {
      lane.prepare(simulating: false)
      do {
        reports.append(try lane.startThread())
      } catch {
        giveUp()
        throw error
      }
      started.append(lane)
    }
    state.reports = reports
    if strict, let error = refusal(reports, state.memory) {
      giveUp()
      throw error
    }
    let loops = lanes.reduce(0) { $0 + $1.loopCount }
    let epoch = tactus_monotonic_now() + 200_000 + Int64(loops) * 500
    state.epoch = TickInstant(nanoseconds: epoch)
    for lane in lanes { lane.openGate(epoch: epoch) }
    state.phase = .running
  }

  private func refusal(_ reports: [LaneReport], _ memory: MemoryLock) -> RuntimeError? {
    var refused = reports.filter { !$0.isAsRequested }
    if case .refused(let errno) = memory {
      let finding = LaneReport.Finding(
        isRefusal: true,
        description: "memory lock refused (errno \(errno), RLIMIT_MEMLOCK is \(tactus_limit_memlock()) bytes). "
          + "Give the service LimitMEMLOCK=infinity")
      refused.append(
        LaneReport(
          lane: "*", requested: .normal, effective: .normal, requestedCPU: nil, effectiveCPU: nil,
          findings: [finding]))
    }
    return refused.isEmpty ? nil : .notRealTime(refused)
  }

  /// Puts every loop into its safe state on its own lane, then ends the lanes. Returns when that is done: at most the
  /// tick that is running and 20 ms later. Does nothing when the runtime does not run. Never call it from a tick.
  public func stop() {
    state.withLock { state in
      guard state.phase == .running else { return }
      for lane in lanes { lane.requestStop() }
      for lane in lanes { lane.joinThread() }
      if state.memory == .locked { MemoryLocks.release() }
      state.phase = .idle
    }
  }

  /// What each lane asked of the kernel and what it got, since the last start.
  public var reports: [LaneReport] { state.withLock { $0.reports } }

  /// Whether the memory is locked, since the last start.
  public var memoryLock: MemoryLock { state.withLock { $0.memory } }

  /// The instant of phase 0 of the last start.
  public var epoch: TickInstant { state.withLock { $0.epoch } }

  /// The accounts of every loop, read by any thread without stopping or awaiting one: what a tick that hangs keeps waiting
  /// is seen while it hangs. The loops are read one after the other.
  public var statistics: RuntimeStatistics {
    RuntimeStatistics(loops: lanes.flatMap { lane in (0..<lane.loopCount).map { lane.statistics(of: $0) } })
  }

  /// Changes the rates of loops, all or nothing: every change is checked first, then each lane takes its own at a tick
  /// boundary. A changed loop's next release is one new period after its last; its rank in the lane stays. Returns when
  /// all lanes have taken it. Never call it from a tick; during a simulation only from the thread that runs it.
  /// - Throws: `.unknownLoop`; `.infeasible` when the new set could not meet its deadlines. Nothing has changed then.
  public func setRates(_ rates: [String: Rate]) throws(RuntimeError) {
    var failure: RuntimeError?
    state.withLock { state in
      do throws(RuntimeError) { try setRates(rates, state) } catch { failure = error }
    }
    if let failure { throw failure }
  }

  private func setRates(_ rates: [String: Rate], _ state: State) throws(RuntimeError) {
    var changes = [[Int: Nanoseconds]](repeating: [:], count: lanes.count)
    for (name, rate) in rates {
      guard let lane = lanes.firstIndex(where: { $0.index(of: name) != nil }) else { throw .unknownLoop(name) }
      changes[lane][lanes[lane].index(of: name)!] = rate.period
    }
    for (lane, change) in zip(lanes, changes) {
      if let misses = lane.infeasible(change) { throw .infeasible(lane: lane.name, misses: misses) }
    }
    for (lane, change) in zip(lanes, changes) where !change.isEmpty {
      lane.apply(change, running: state.phase == .running)
    }
  }

  /// Takes the lanes into simulated time, from zero. The runtime cannot be started while the simulation lives.
  /// - Throws: `.alreadyRunning`, `.simulating`.
  public func simulation(seed: UInt64 = 1) throws(RuntimeError) -> Simulation {
    let phase = state.withLock { state in
      let before = state.phase
      guard before == .idle else { return before }
      state.phase = .simulating
      for (number, lane) in lanes.enumerated() {
        lane.simulated.pointee = SimulatedLane(number: number)
        lane.prepare(simulating: true)
      }
      return before
    }
    switch phase {
    case .running: throw .alreadyRunning
    case .simulating: throw .simulating
    case .idle: break
    }
    return Simulation(runtime: self, lanes: lanes, seed: seed)
  }

  /// Runs the lanes through `duration` of simulated time, then puts every loop into its safe state.
  /// - Throws: `.alreadyRunning`, `.simulating`.
  public func simulate(for duration: Nanoseconds, seed: UInt64 = 1) throws(RuntimeError) {
    let simulation = try simulation(seed: seed)
    simulation.run(for: duration)
    simulation.stop()
  }

  func simulationEnded() { state.withLock { $0.phase = .idle } }
}

/// The accounts of every loop of a runtime.
public struct RuntimeStatistics: Sendable {
  public let loops: [LoopStatistics]

  public subscript(name: String) -> LoopStatistics? { loops.first { $0.name == name } }
}

/// How many runtimes of this process want its memory locked. Global because what it counts is: the kernel knows one lock
/// for the whole process, and the first runtime to stop must not take it from the others.
enum MemoryLocks {
  private static let holders = Mutex(0)

  static func take() -> Runtime.MemoryLock {
    holders.withLock { holders in
      if holders == 0, case let result = tactus_memory_lock(), result < 0 { return .refused(errno: -result) }
      holders += 1
      return .locked
    }
  }

  static func release() {
    holders.withLock { holders in
      holders -= 1
      if holders == 0 { _ = tactus_memory_unlock() }
    }
  }
}
