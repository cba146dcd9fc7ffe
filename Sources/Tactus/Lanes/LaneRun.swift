import CTactus
import Dispatch
import Synchronization

/// One lane of a built runtime: its loops, its scheduler and, while it runs, its thread.
final class LaneRun: @unchecked Sendable {
  // Sendable: `slots`, `scheduler` and `simulated` belong to the thread that runs the lane, one at a time (its thread between the
  // gate and `done`, the simulation, or the runtime under its lock); everything shared with it is atomic.
  let name: String
  let scheduling: Scheduling
  let cpus: CPUSet?
  let loopNames: [String]
  private let order: LoopOrder
  let ages: [[DataAge]]
  /// Those of them that no other loop has.
  private var takenAges: [DataAge] = []
  /// One loop as it was declared, with its present period: what a change of rates is checked against and made from. The slots are the
  /// lane's own while it runs.
  struct Declared {
    var period: Nanoseconds
    /// `nil` if it is the period.
    let deadline: Nanoseconds?
    /// `nil` if it is a tenth of the period.
    let tolerance: Nanoseconds?
    /// `nil` if none is declared.
    let executionTime: Nanoseconds?
  }

  /// Most urgent first.
  private(set) var declared: [Declared]
  let executionTimes: [Nanoseconds?]
  /// `nil` if no other process stops the outputs. Kept here, since the loops read its memory.
  private let externalStops: ExternalStops?
  let minimumIntervals: [Nanoseconds]
  let slots: UnsafeMutablePointer<LoopSlot>
  let scheduler: UnsafeMutablePointer<LaneScheduler>
  let simulated: UnsafeMutablePointer<SimulatedLane>
  /// The lane's time for readers: the simulation's present, or the instant at which the lane ended;
  /// `.max` while it runs in real time.
  let present: UnsafeMutablePointer<Atomic<Int64>>
  /// Of a SCHED_DEADLINE lane, see `LaneStatistics.budgetsUsedUp`.
  let budgetsUsedUp: UnsafeMutablePointer<Atomic<Int64>>
  private var hasScheduler = false
  private var hasRun = false
  private var isSimulated = false
  private var thread: LaneThread?

  var loopCount: Int { loopNames.count }

  /// - Parameter lanes: the lane of each loop of the runtime.
  init(
    _ lane: Lane, number: Int, lanes: [String: String] = [:], externalStops: ExternalStops? = nil
  ) throws(RuntimeError) {
    self.externalStops = externalStops
    guard !lane.loops.isEmpty else { throw .noLoops(lane: lane.name) }
    order = try LoopOrder(lane.loops, lane: lane.name, lanes: lanes)
    let loops = order.loops
    for loop in loops { if let flaw = loop.flaw { throw .invalidLoop(loop: loop.name, reason: flaw) } }
    for loop in loops { if let phase = loop.phase, phase < .zero { throw .negativePhase(loop: loop.name, phase) } }
    let inputs = loops.reduce(0) { $0 + $1.inputs.count }
    guard inputs <= LaneThread.inputLimit else {
      throw .tooManyInputs(lane: lane.name, count: inputs, limit: LaneThread.inputLimit)
    }
    try Self.check(lane)
    let phases = try order.phases()
    let ordered = Set(order.predecessors.enumerated().flatMap { $1.isEmpty ? [] : $1 + [$0] })
    name = lane.name
    scheduling = lane.scheduling
    cpus = lane.cpus
    loopNames = loops.map(\.name)
    declared = loops.map {
      Declared(
        period: $0.rate.period, deadline: $0.deadline, tolerance: $0.tolerance, executionTime: $0.executionTime)
    }
    executionTimes = loops.map(\.executionTime)
    minimumIntervals = loops.map(\.minimumInterval)
    ages = loops.map(\.ages)
    slots = .allocate(capacity: loops.count)
    scheduler = .allocate(capacity: 1)
    simulated = .allocate(capacity: 1)
    simulated.initialize(to: SimulatedLane(number: number))
    present = .allocate(capacity: 1)
    present.initialize(to: Atomic(.min))
    budgetsUsedUp = .allocate(capacity: 1)
    budgetsUsedUp.initialize(to: Atomic(0))
    for (index, loop) in loops.enumerated() {
      let record = UnsafeMutablePointer<LoopRecord>.allocate(capacity: 1)
      record.initialize(to: LoopRecord())
      let period = loop.rate.period
      (slots + index).initialize(
        to: LoopSlot(
          period: period.count, phase: phases[index].count, deadline: (loop.deadline ?? period).count,
          late: loop.late, safeStateAfter: Int64(loop.safeStateAfter), countedMisses: loop.countedMisses,
          minimumInterval: loop.minimumInterval.count,
          tolerance: (loop.tolerance ?? period / 10).count,
          simulatedExecution: (loop.executionTime ?? .zero).count, inputs: loop.inputs,
          isOrdered: ordered.contains(index), ages: Self.linked(loop.ages), bodySource: loop.body,
          body: loop.body.first, record: record))
    }
    resetRecords()
    if let misses = infeasible(declared) { throw .infeasible(lane: name, misses: misses) }
    try takeAges(lanes: lanes)
  }

  /// The ages of one loop as its slot has them, or `nil` if there is none.
  private static func linked(_ ages: [DataAge]) -> UnsafeMutablePointer<AgeRecord>? {
    ages.reversed().reduce(nil) { next, age in
      age.record.pointee.next = next
      return age.record
    }
  }

  deinit {
    if hasScheduler { scheduler.deinitialize(count: 1) }
    scheduler.deallocate()
    simulated.deinitialize(count: 1)
    simulated.deallocate()
    present.deinitialize(count: 1)
    present.deallocate()
    budgetsUsedUp.deinitialize(count: 1)
    budgetsUsedUp.deallocate()
    for age in takenAges { age.isTaken.store(false, ordering: .releasing) }
    for index in 0..<loopCount {
      slots[index].record.deinitialize(count: 1)
      slots[index].record.deallocate()
    }
    slots.deinitialize(count: loopCount)
    slots.deallocate()
  }

  func index(of loop: String) -> Int? { loopNames.firstIndex(of: loop) }

  /// The loops that have run and cannot run again.
  var usedUp: [String] {
    guard hasRun else { return [] }
    return (0..<loopCount).compactMap { index in
      if case .made = slots[index].bodySource { loopNames[index] } else { nil }
    }
  }

  /// Makes the bodies of a run, after those of the run before are gone.
  private func makeBodies() {
    for index in 0..<loopCount {
      guard case .eachRun = slots[index].bodySource else { continue }
      slots[index].body = .none
    }
    for index in 0..<loopCount {
      guard case .eachRun(let make) = slots[index].bodySource else { continue }
      slots[index].body = make()
    }
  }

  /// A fresh scheduler with empty accounts, for real or for simulated time.
  func prepare(simulating: Bool) {
    if hasScheduler { scheduler.deinitialize(count: 1) }
    scheduler.initialize(
      to: LaneScheduler(slots: slots, count: loopCount, simulated: simulating ? simulated : nil))
    hasScheduler = true
    for index in 0..<loopCount { slots[index].externalStops = ExternalStopCursor(externalStops) }
    resetRecords()
    budgetsUsedUp.pointee.store(0, ordering: .relaxed)
    makeBodies()
    if simulating { hasRun = true }
    isSimulated = simulating
    present.pointee.store(simulating ? .min : .max, ordering: .releasing)
  }

  private func resetRecords() {
    for index in 0..<loopCount {
      slots[index].record.pointee.reset(period: slots[index].period, deadline: slots[index].deadline)
    }
    for age in takenAges { age.record.pointee.reset() }
  }

  // MARK: What others see

  /// The instant for which the lane's accounts are read. Read it before an account: one that is newer says so itself, and
  /// a reader that is held up in between sees no releases that are due only for him.
  private var instant: Int64 {
    let present = present.pointee.load(ordering: .acquiring)
    return present == .max ? tactus_monotonic_now() : present
  }

  /// Why the lane has not got on for more than `limit` at `now`, which was read before, or `nil` if it has, or has ended.
  func hang(longerThan limit: Nanoseconds, at now: TickInstant) -> LaneHang? {
    guard isSimulated || present.pointee.load(ordering: .acquiring) == .max else { return nil }
    var newest = Int64.min
    var due: (loop: Int, since: Int64)?
    var running: (loop: Int, account: LoopAccount)?
    for index in 0..<loopCount {
      let account = slots[index].record.pointee.account()
      newest = max(newest, account.activitySince)
      if account.activity != .waiting {
        running = (index, account)
      } else if account.nextRelease < due?.since ?? .max {
        due = (index, account.nextRelease)
      }
    }
    let instant = max(now.nanoseconds, newest)
    func isLong(_ since: Int64) -> Bool { since != .max && instant - since > limit.count }
    if let (loop, account) = running {
      guard isLong(account.activitySince) else { return nil }
      let cause = account.activity == .tick ? LaneHang.Cause.tick : .safeState
      return hang(loop, cause, since: account.activitySince)
    }
    // A lane that is between two ticks gets on, however late it is.
    guard let (loop, since) = due, isLong(since), newest == .min || isLong(newest) else { return nil }
    return hang(loop, .waiting, since: since)
  }

  private func hang(_ loop: Int, _ cause: LaneHang.Cause, since: Int64) -> LaneHang {
    LaneHang(lane: name, loop: loopNames[loop], cause: cause, since: TickInstant(nanoseconds: since))
  }

  /// The accounts of one loop, read without stopping it.
  func statistics(of index: Int) -> LoopStatistics {
    let instant = instant
    let (account, latency, execution) = slots[index].record.pointee.snapshot()
    return LoopStatistics(
      name: loopNames[index], lane: name, phase: Nanoseconds(slots[index].phase), account: account,
      at: max(instant, account.activitySince), latency: latency, execution: execution, ages: ages[index])
  }

  /// The counters of one loop, read without stopping it.
  func counters(of index: Int) -> LoopCounters {
    let instant = instant
    let account = slots[index].record.pointee.account()
    return account.counters(at: max(instant, account.activitySince))
  }

  /// Whether each release of the loop `other` is also one of `loop`, over all changes of rates.
  func coincides(_ loop: Int, withEveryReleaseOf other: Int) -> Bool {
    let period = slots[loop].record.pointee.account().period
    return slots[loop].isOrdered && slots[other].isOrdered && slots[other].inputs.isEmpty
      && slots[other].record.pointee.account().period % period == 0
      && (slots[other].phase - slots[loop].phase) % period == 0
  }

  /// What is known of the lane itself.
  var statistics: LaneStatistics {
    let isDeadline = if case .deadline = scheduling { true } else { false }
    return LaneStatistics(
      name: name, budgetsUsedUp: isDeadline ? budgetsUsedUp.pointee.load(ordering: .relaxed) : nil)
  }

  // MARK: Real time

  /// Starts the thread and returns once it is set up and waits at the gate.
  func startThread(_ group: ControlGroup) throws(RuntimeError) -> LaneReport {
    let thread = try LaneThread(lane: self, group: group)
    let report = try thread.start()
    self.thread = thread
    return report
  }

  /// Opens the gate: the loops' first releases are at `epoch + phase`. `nil` ends the thread without a tick.
  func openGate(epoch: Int64?) {
    if let epoch {
      hasRun = true
      scheduler.pointee.begin(epoch: epoch)
    }
    thread?.openGate(run: epoch != nil)
  }

  /// Asks the lane's thread to stop, without waiting for it. Returns the thread, so that its end can be awaited, or `nil` if the
  /// lane has no thread.
  func requestStop() -> LaneThread? {
    thread?.requestStop()
    return thread
  }

  func awaitEnd() { _ = thread?.awaitEnd(until: nil) }

  /// What the lane does, of a lane that should have ended.
  var presentHang: LaneHang {
    hang(longerThan: .zero, at: TickInstant(nanoseconds: instant))
      ?? hang(0, .waiting, since: slots[0].record.pointee.account().activitySince)
  }

  /// Takes back what the thread needed. Only after its end.
  func releaseThread() {
    thread?.release()
    thread = nil
  }

  // MARK: Changes

  /// What a change of rates would make infeasible, or `nil` if nothing.
  func infeasible(_ changes: [Int: Nanoseconds]) -> [String]? {
    var planned = declared
    for (index, period) in changes { planned[index].period = period }
    return infeasible(planned)
  }

  /// Why a change of rates would leave an order without meaning, or `nil` if it does not.
  func contradiction(_ changes: [Int: Nanoseconds]) -> RuntimeError? {
    var periods = declared.map(\.period)
    for (index, period) in changes { periods[index] = period }
    return order.contradiction(periods: periods, phases: (0..<loopCount).map { Nanoseconds(slots[$0].phase) })
  }

  /// Takes a checked change of rates at the lane's next tick boundary, or at once when it does not run. Returns `false`, with
  /// nothing changed, if the lane came to no boundary within `limit`.
  func apply(_ changes: [Int: Nanoseconds], running: Bool, within limit: Nanoseconds) -> Bool {
    var entries: [RateChange] = []
    let before = declared
    for (index, period) in changes {
      declared[index].period = period
      entries.append(
        RateChange(
          loop: index, period: period.count, deadline: (declared[index].deadline ?? period).count,
          tolerance: (declared[index].tolerance ?? period / 10).count))
    }
    if running, let thread {
      guard thread.apply(entries, within: limit) else {
        declared = before
        return false
      }
    } else if hasScheduler {
      let now = max(simulated.pointee.now, simulated.pointee.busyUntil)
      for change in entries { scheduler.pointee.take(change, at: now) }
    } else {
      for change in entries {
        slots[change.loop].period = change.period
        slots[change.loop].deadline = change.deadline
        slots[change.loop].tolerance = change.tolerance
        slots[change.loop].record.pointee.reset(period: change.period, deadline: change.deadline)
      }
    }
    return true
  }

  private func infeasible(_ loops: [Declared]) -> [String]? {
    var tasks: [Planner.Task] = []
    for (index, loop) in loops.enumerated() {
      guard let executionTime = loop.executionTime else { return nil }
      tasks.append(
        Planner.Task(
          name: loopNames[index], period: loop.period, deadline: loop.deadline, executionTime: executionTime))
    }
    let misses = Planner.misses(tasks)
    guard !misses.isEmpty else { return nil }
    return misses.map { task, response in
      let found = response.map { "responds within \($0)" } ?? "has no bounded response time, the lane is overloaded"
      return "loop \"\(task.name)\" \(found), its deadline is \(task.deadline)"
    }
  }

  private static func check(_ lane: Lane) throws(RuntimeError) {
    switch lane.scheduling {
    case .normal: break
    case .fifo(let priority):
      guard (1...99).contains(priority) else {
        throw .invalidScheduling(lane: lane.name, reason: "a FIFO priority is 1…99, got \(priority)")
      }
    case .deadline(let runtime, let deadline, let period):
      guard runtime >= .microseconds(2), runtime <= deadline, deadline <= period else {
        throw .invalidScheduling(
          lane: lane.name,
          reason: "SCHED_DEADLINE needs 2 µs ≤ runtime ≤ deadline ≤ period, got \(runtime), \(deadline), \(period)")
      }
      guard lane.cpus == nil else {
        throw .invalidScheduling(lane: lane.name, reason: "SCHED_DEADLINE and a choice of CPUs exclude each other")
      }
    }
    if let cpus = lane.cpus {
      if let cpu = cpus.cpus.first(where: { !(0..<CPUSet.limit).contains($0) }) {
        throw .invalidScheduling(lane: lane.name, reason: "a CPU is 0…1023, got \(cpu)")
      }
      if cpus.isEmpty { throw .invalidScheduling(lane: lane.name, reason: "a set of CPUs has one at least") }
    }
  }
}

/// A change of one loop's rate, taken at a tick boundary.
struct RateChange: BitwiseCopyable {
  var loop: Int
  var period: Int64
  var deadline: Int64
  var tolerance: Int64
}

extension LaneRun {
  /// Ages that name no loop, or that another loop has, are refused.
  private func takeAges(lanes: [String: String]) throws(RuntimeError) {
    for (loop, ages) in zip(loopNames, ages) {
      for age in ages {
        if let name = age.path.first(where: { lanes[$0] == nil }) {
          let reason = "its age \"\(age.name)\" comes from \"\(name)\", but no loop has that name"
          throw .invalidLoop(loop: loop, reason: reason)
        }
        guard !age.isTaken.exchange(true, ordering: .acquiring) else {
          throw .invalidLoop(loop: loop, reason: "its age \"\(age.name)\" is another loop's already")
        }
        takenAges.append(age)
      }
    }
  }
}
