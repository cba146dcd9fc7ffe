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
  /// The declared ages that this lane has claimed, so that no other runtime can claim them. They are given back in
  /// `deinit`.
  private var takenAges: [DataAge] = []
  /// The declaration of a loop with its present period. Changes of rates are checked against it, since the slots belong to the
  /// lane's thread while the lane runs.
  struct Declared {
    var period: Nanoseconds
    /// The declared deadline, or `nil` for the period.
    let deadline: Nanoseconds?
    /// The declared tolerance, or `nil` for a tenth of the period.
    let tolerance: Nanoseconds?
    /// The declared execution time, or `nil` if none is declared.
    let executionTime: Nanoseconds?
  }

  /// The declarations of the loops, the most urgent first.
  private(set) var declared: [Declared]
  let executionTimes: [Nanoseconds?]
  /// The stops of another process, or `nil` if no other process stops the outputs. Held here because the loops read its memory.
  private let externalStops: ExternalStops?
  let minimumIntervals: [Nanoseconds]
  let slots: UnsafeMutablePointer<LoopSlot>
  let scheduler: UnsafeMutablePointer<LaneScheduler>
  let simulated: UnsafeMutablePointer<SimulatedLane>
  /// The lane's time for readers on other threads: the simulation's present, or the instant at which the lane ended. `.max` while
  /// the lane runs in real time.
  let present: UnsafeMutablePointer<Atomic<Int64>>
  /// The counter behind `LaneStatistics.budgetsUsedUp`, which only a SCHED_DEADLINE lane raises.
  let budgetsUsedUp: UnsafeMutablePointer<Atomic<Int64>>
  /// The settings of the recording, or `nil` if the lane is not recorded.
  private let recorder: Recorder?
  /// The tape of the present or the last run. Readers hold the lock, and so does the code that replaces the tape.
  private let tape = Mutex(TapeHold())
  private struct TapeHold: @unchecked Sendable {
    // Sendable: behind the lock, and what the lane's thread writes meanwhile is atomic or checked afterwards.
    var tape: UnsafeMutablePointer<LaneTape>?
    /// The end by which other threads read the tape, or `nil` without a tape and while the tape is replayed.
    var reader: LaneTape.Reader?
    var parts: [[LoopPart]] = []
  }
  private var hasScheduler = false
  private var hasRun = false
  private var isSimulated = false
  private var thread: LaneThread?

  var loopCount: Int { loopNames.count }

  /// Builds a declared lane.
  ///
  /// - Parameter lanes: the name of the lane of each loop of the runtime, by the loop's name.
  init(
    _ lane: Lane, number: Int, lanes: [String: String] = [:], externalStops: ExternalStops? = nil,
    recorder: Recorder? = nil
  ) throws(RuntimeError) {
    self.externalStops = externalStops
    self.recorder = recorder
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
          body: loop.body.first, isRecorded: loop.isRecorded, memory: .init(start: nil, count: 0), record: record))
    }
    resetRecords()
    if let misses = infeasible(declared) { throw .infeasible(lane: name, misses: misses) }
    try takeAges(lanes: lanes)
  }

  /// Links the ages of one loop into the list that its slot holds. Returns the first of them, or `nil` if the loop has no age.
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
    removeTape()
    for age in takenAges { age.isTaken.store(false, ordering: .releasing) }
    for index in 0..<loopCount {
      slots[index].record.deinitialize(count: 1)
      slots[index].record.deallocate()
    }
    slots.deinitialize(count: loopCount)
    slots.deallocate()
  }

  func index(of loop: String) -> Int? { loopNames.firstIndex(of: loop) }

  /// The names of the loops that have run and whose bodies serve a single run.
  var usedUp: [String] {
    guard hasRun else { return [] }
    return (0..<loopCount).compactMap { index in
      if case .made = slots[index].bodySource { loopNames[index] } else { nil }
    }
  }

  /// Makes the bodies of a run, after the bodies of the previous run have been released.
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

  /// Makes a new scheduler with empty accounts, for real or for simulated time, or for a replay.
  func prepare(simulating: Bool, replayedBy replay: LaneReplay? = nil) {
    if hasScheduler { scheduler.deinitialize(count: 1) }
    for index in 0..<loopCount { slots[index].externalStops = ExternalStopCursor(externalStops) }
    resetRecords()
    budgetsUsedUp.pointee.store(0, ordering: .relaxed)
    makeBodies()
    scheduler.initialize(
      to: LaneScheduler(
        slots: slots, count: loopCount, simulated: simulating ? simulated : nil, tape: makeTape(replay)))
    hasScheduler = true
    let isReal = !simulating && replay == nil
    if !isReal { hasRun = true }
    isSimulated = !isReal
    present.pointee.store(isReal ? .max : .min, ordering: .releasing)
  }

  // MARK: Recording

  private func removeTape() {
    tape.withLock { hold in
      hold.tape?.deinitialize(count: 1)
      hold.tape?.deallocate()
      hold.tape = nil
      hold.reader = nil
    }
    for index in 0..<loopCount {
      slots[index].memory.deallocate()
      slots[index].memory = .init(start: nil, count: 0)
    }
  }

  /// Makes the tape of a run. The bodies of the run must exist.
  private func makeTape(_ replay: LaneReplay?) -> UnsafeMutablePointer<LaneTape>? {
    removeTape()
    // Without a descriptor to look up addresses with, a recording could not be replayed, so none is made.
    let isRecorded = recorder != nil && (0..<loopCount).contains { slots[$0].isRecorded }
    guard replay != nil || isRecorded, let space = try? AddressSpace() else { return nil }
    var frame = MemoryLayout<LaneTape.FrameHead>.size + 8
    var parts: [[LoopPart]] = []
    for index in 0..<loopCount {
      let memory = slots[index].isRecorded ? slots[index].body.memory.parts.filter { !$0.isEmpty } : []
      let copy = UnsafeMutableBufferPointer<UnsafeMutableRawBufferPointer>.allocate(capacity: memory.count)
      _ = copy.initialize(from: memory)
      slots[index].memory = copy
      var own: [LoopPart] = []
      for part in memory {
        own.append(LoopPart(size: part.count, addresses: Addresses(in: UnsafeRawBufferPointer(part), of: space)))
      }
      parts.append(own)
      frame += MemoryLayout<LoopSlot.Place>.size + 8 + memory.reduce(0) { $0 + $1.count + 16 }
    }
    let made = UnsafeMutablePointer<LaneTape>.allocate(capacity: 1)
    if let replay {
      made.initialize(to: LaneTape(replayedBy: Unmanaged.passUnretained(replay).toOpaque()))
    } else {
      made.initialize(to: LaneTape(bytes: max(recorder?.bytesPerLane ?? 0, 4 * frame * LaneTape.segmentCount)))
    }
    tape.withLock { [parts] hold in
      hold.tape = made
      hold.reader = made.pointee.isReplaying ? nil : made.pointee.reader
      hold.parts = parts
    }
    return made
  }

  /// The memory of the lane's loops in the present run, or in the last one with a tape.
  var parts: [[LoopPart]] { tape.withLock { $0.parts } }

  /// Replaces the scheduler by a new one, for a frame that does not continue the previous segment.
  func resetScheduler() {
    let tape = scheduler.pointee.tape
    scheduler.deinitialize(count: 1)
    scheduler.initialize(to: LaneScheduler(slots: slots, count: loopCount, simulated: nil, tape: tape))
  }

  /// Replaces the scheduler by one without a tape, since the tape's memory belongs to the replay.
  func endReplay() {
    scheduler.deinitialize(count: 1)
    scheduler.initialize(to: LaneScheduler(slots: slots, count: loopCount, simulated: nil))
    removeTape()
  }

  /// Returns the recording of the present or last run, from the segment that contains `instant` on, or `nil` if nothing was recorded.
  func recorded(since instant: Int64) -> LaneRecording? {
    let loops = (0..<loopCount).map { (name: loopNames[$0], isRecorded: slots[$0].isRecorded) }
    return tape.withLock { hold in
      guard let reader = hold.reader else { return nil }
      return LaneRecording(
        name: name,
        loops: zip(loops, hold.parts).map {
          LaneRecording.Loop(name: $0.name, isRecorded: $0.isRecorded, parts: $1)
        },
        segments: reader.copies(since: instant), gaps: reader.gaps.pointee.load(ordering: .relaxed))
    }
  }

  private func resetRecords() {
    for index in 0..<loopCount {
      slots[index].record.pointee.reset(period: slots[index].period, deadline: slots[index].deadline)
    }
    for age in takenAges { age.record.pointee.reset() }
  }

  // MARK: What others see

  /// The instant for which the lane's accounts are read. Read this before an account: a newer account carries its own newer
  /// instant, and a reader that is preempted in between does not count releases that came due only while it was preempted.
  var instant: Int64 {
    let present = present.pointee.load(ordering: .acquiring)
    return present == .max ? tactus_monotonic_now() : present
  }

  /// Returns the reason why the lane has made no progress for more than `limit` at `now`, which was read before, or `nil` if the lane makes progress
  /// or has ended.
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

  /// Returns the statistics of one loop, read without stopping the loop.
  func statistics(of index: Int) -> LoopStatistics {
    let instant = instant
    let (account, latency, execution) = slots[index].record.pointee.snapshot()
    return LoopStatistics(
      name: loopNames[index], lane: name, phase: Nanoseconds(slots[index].phase), account: account,
      at: max(instant, account.activitySince), latency: latency, execution: execution, ages: ages[index])
  }

  /// Returns the counters of one loop, read without stopping the loop.
  func counters(of index: Int) -> LoopCounters {
    let instant = instant
    let account = slots[index].record.pointee.account()
    return account.counters(at: max(instant, account.activitySince))
  }

  /// Returns whether each release of the loop `other` coincides with a release of `loop`, over all changes of rates.
  func coincides(_ loop: Int, withEveryReleaseOf other: Int) -> Bool {
    let period = slots[loop].record.pointee.account().period
    return slots[loop].isOrdered && slots[other].isOrdered && slots[other].inputs.isEmpty
      && slots[other].record.pointee.account().period % period == 0
      && (slots[other].phase - slots[loop].phase) % period == 0
  }

  /// The statistics of the lane itself.
  var statistics: LaneStatistics {
    let isDeadline = if case .deadline = scheduling { true } else { false }
    return LaneStatistics(
      name: name, budgetsUsedUp: isDeadline ? budgetsUsedUp.pointee.load(ordering: .relaxed) : nil)
  }

  // MARK: Real time

  /// Starts the thread and returns its report once the thread is set up and waits at the gate.
  func startThread(_ group: ControlGroup) throws(RuntimeError) -> LaneReport {
    let thread = try LaneThread(lane: self, group: group)
    let report = try thread.start()
    self.thread = thread
    return report
  }

  /// Opens the gate: the loops' first releases are at `epoch + phase`. With `nil` the thread ends without a tick.
  func openGate(epoch: Int64?) {
    if let epoch {
      hasRun = true
      scheduler.pointee.begin(epoch: epoch)
    }
    thread?.openGate(run: epoch != nil)
  }

  /// Requests the lane's thread to stop, without waiting for it. Returns the thread, so that its end can be awaited, or `nil` if
  /// the lane has no thread.
  func requestStop() -> LaneThread? {
    thread?.requestStop()
    return thread
  }

  func awaitEnd() { _ = thread?.awaitEnd(until: nil) }

  /// The present activity of a lane that should have ended.
  var presentHang: LaneHang {
    hang(longerThan: .zero, at: TickInstant(nanoseconds: instant))
      ?? hang(0, .waiting, since: slots[0].record.pointee.account().activitySince)
  }

  /// Releases the thread's resources. The function must be called only after the thread has ended.
  func releaseThread() {
    thread?.release()
    thread = nil
  }

  // MARK: Changes

  /// Returns the deadline misses that a change of rates would cause, or `nil` if all deadlines would be met.
  func infeasible(_ changes: [Int: Nanoseconds]) -> [String]? {
    var planned = declared
    for (index, period) in changes { planned[index].period = period }
    return infeasible(planned)
  }

  /// Returns the reason why a change of rates would break an order of loops, or `nil` if all orders stay possible.
  func contradiction(_ changes: [Int: Nanoseconds]) -> RuntimeError? {
    var periods = declared.map(\.period)
    for (index, period) in changes { periods[index] = period }
    return order.contradiction(periods: periods, phases: (0..<loopCount).map { Nanoseconds(slots[$0].phase) })
  }

  /// Applies a checked change of rates at the lane's next tick boundary, or immediately if the lane does not run. Returns `false`,
  /// with nothing changed, if the lane came to no boundary within `limit`.
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
      for change in entries { scheduler.pointee.apply(change, at: now) }
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

/// A change of one loop's rate, applied at a tick boundary.
struct RateChange: BitwiseCopyable {
  var loop: Int
  var period: Int64
  var deadline: Int64
  var tolerance: Int64
}

extension LaneRun {
  /// Claims the ages of the lane's loops. Refuses an age whose path names an unknown loop and an age that another loop has claimed.
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
