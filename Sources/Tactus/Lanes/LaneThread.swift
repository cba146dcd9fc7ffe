import CTactus
import Dispatch
import Synchronization

/// The thread of one lane in real time: a block on a serial Dispatch queue that does not return until the lane stops.
///
/// The thread is returned to Dispatch with its policy, priority, affinity, timer slack and name restored. Settings that could not
/// be restored are not changed in the first place.
final class LaneThread: @unchecked Sendable {
  // Sendable: what the thread and its owner share is in `control` (atomics), or ordered by the semaphores.
  static let inputLimit = 60

  private let name: String
  private let scheduling: Scheduling
  private let cpus: CPUSet?
  private let group: ControlGroup
  private let scheduler: UnsafeMutablePointer<LaneScheduler>
  private let present: UnsafeMutablePointer<Atomic<Int64>>
  private let control: UnsafeMutablePointer<LaneControl>
  private let ready = DispatchSemaphore(value: 0)
  private let gate = DispatchSemaphore(value: 0)
  private let done = DispatchSemaphore(value: 0)
  private let handedOver = DispatchSemaphore(value: 0)
  private let life = Atomic<Life>(.awaited)
  private var report: LaneReport?
  private var mayRun = false

  /// Creates the thread of `lane`. The lane is not retained, since it joins the thread before it is released.
  init(lane: LaneRun, group: ControlGroup) throws(RuntimeError) {
    (name, scheduling, cpus, scheduler) = (lane.name, lane.scheduling, lane.cpus, lane.scheduler)
    self.group = group
    present = lane.present
    var inputs: [LaneControl.Input] = []
    for loop in 0..<lane.loopCount {
      for input in lane.slots[loop].inputs {
        switch input {
        case .descriptor(let descriptor): inputs.append(.init(loop: loop, descriptor: descriptor))
        case .simulated: break
        }
      }
    }
    control = .allocate(capacity: 1)
    do {
      control.initialize(to: try LaneControl(inputs: inputs, budget: ProcessorBudget(lane)))
    } catch {
      control.deallocate()
      throw error
    }
  }

  /// The state of a thread's start, by which the thread and its starter agree which of them came first.
  private enum Life: UInt8, AtomicRepresentable {
    case awaited
    case began
    /// The starter has stopped waiting. A thread that starts later must not touch anything.
    case givenUp
  }

  /// The longest times that the kernel may take to give Dispatch a thread, and that a thread may take to run on a busy machine.
  private static let threadPatience = DispatchTimeInterval.milliseconds(700)
  private static let turnPatience = DispatchTimeInterval.seconds(10)

  /// Starts the thread and returns its report when the thread is set up.
  ///
  /// When the kernel refuses Dispatch a thread, Dispatch retries without end and `async` does not return. Dispatch is therefore
  /// called on a separate thread, which the kernel grants or refuses immediately. A block that Dispatch runs after the wait has
  /// been given up does nothing.
  func start() throws(RuntimeError) -> LaneReport {
    let context = Unmanaged.passRetained(self)
    let result = tactus_thread_run(
      { context in
        Unmanaged<LaneThread>.fromOpaque(context!).takeRetainedValue().handOver()
        return nil
      }, context.toOpaque())
    if result != 0 { context.release() }
    let isRunning =
      result == 0 && handedOver.wait(timeout: .now() + Self.threadPatience) == .success
      && ready.wait(timeout: .now() + Self.turnPatience) == .success
    if isRunning { return report! }
    if result != 0 || life.exchange(.givenUp, ordering: .acquiringAndReleasing) == .awaited {
      destroyControl()
      throw .noThread(lane: name)
    }
    // The thread has come at the last moment, so its report is awaited.
    ready.wait()
    return report!
  }

  private func handOver() {
    DispatchQueue(label: "tactus.lane.\(name)").async { self.main() }
    handedOver.signal()
  }

  func openGate(run: Bool) {
    mayRun = run
    gate.signal()
  }

  func requestStop() {
    control.pointee.stopRequested.store(true, ordering: .releasing)
    tactus_eventfd_signal(control.pointee.wake)
  }

  /// Returns `true` when the loops are in their safe state and the thread is about to return to Dispatch, or `false` if that has
  /// not happened by `limit`; with `nil` there is no limit. Any number of threads may wait at the same time or one after another.
  func awaitEnd(until limit: DispatchTime?) -> Bool {
    guard done.wait(timeout: limit ?? .distantFuture) == .success else { return false }
    done.signal()  // for other waiters
    return true
  }

  /// Releases the resources that the thread shared with others. The function is called once, after the thread has ended.
  func release() { destroyControl() }

  /// Destroys the shared control. Not done in `deinit`, because Dispatch's block may hold this object a little longer than the owner does.
  private func destroyControl() {
    control.deinitialize(count: 1)
    control.deallocate()
  }

  /// Hands a change to the lane. Returns `true` when the lane has taken the change, or `false` if it has not within `limit`; it
  /// will not take the change later.
  func apply(_ changes: [RateChange], within limit: Nanoseconds) -> Bool {
    changes.withUnsafeBufferPointer { changes in
      let offered = UnsafeMutablePointer(mutating: changes.baseAddress!)
      control.pointee.changeCount = changes.count
      control.pointee.change.store(offered, ordering: .releasing)
      tactus_eventfd_signal(control.pointee.wake)
      if tactus_eventfd_wait(control.pointee.taken, Doorbell.milliseconds(limit)) != 0 { return true }
      if control.pointee.change.exchange(nil, ordering: .acquiringAndReleasing) != nil { return false }
      // The lane has just begun to take the change, so its end is awaited.
      _ = tactus_eventfd_wait(control.pointee.taken, -1)
      return true
    }
  }

  private func main() {
    let (isWanted, _) = life.compareExchange(expected: .awaited, desired: .began, ordering: .acquiringAndReleasing)
    guard isWanted else { return }
    var before = tactus_thread_state()
    let saved = tactus_thread_save(&before)
    report =
      saved == 0
      ? LaneSetup.apply(lane: name, scheduling: scheduling, cpus: cpus, group: group)
      : LaneSetup.decline(lane: name, scheduling: scheduling, cpus: cpus, errno: -saved)
    tactus_thread_touch_stack()
    control.pointee.budget?.begin(at: tactus_thread_processor_time())
    ready.signal()
    gate.wait()
    if mayRun {
      runLane(scheduler, control)
      let end = tactus_monotonic_now()
      scheduler.pointee.stopLoops(at: end)
      present.pointee.store(end, ordering: .releasing)
    }
    if saved == 0 { tactus_thread_restore(&before) }
    done.signal()
  }
}

/// The descriptors that a lane's thread waits on, and the requests of other threads to the lane.
struct LaneControl: ~Copyable {
  struct Input: BitwiseCopyable {
    var loop: Int
    var descriptor: Int32
  }

  let stopRequested = Atomic<Bool>(false)
  let change = Atomic<UnsafeMutablePointer<RateChange>?>(nil)
  var changeCount = 0
  /// The descriptors of two eventfds: `wake` signals to the lane that a request waits, `taken` signals to the requester
  /// that a change was taken.
  let wake: Int32
  let taken: Int32
  let timer: Int32
  /// The processor budget of a SCHED_DEADLINE lane.
  var budget: ProcessorBudget?
  /// The instant for which the timer is armed.
  var armedFor = Int64.max
  let inputs: UnsafeMutablePointer<Input>
  let inputCount: Int
  /// The wait list: `wake`, `timer`, then the inputs.
  let waits: UnsafeMutablePointer<tactus_wait>

  init(inputs list: [Input], budget: ProcessorBudget?) throws(RuntimeError) {
    self.budget = budget
    var opened: [Int32] = []
    for (call, descriptor) in [
      ("eventfd", tactus_eventfd_create()), ("eventfd", tactus_eventfd_create()),
      ("timerfd_create", tactus_timer_create()),
    ] {
      opened.append(descriptor)
      guard descriptor >= 0 else {
        opened.forEach(tactus_close)
        throw .system(call: call, errno: -descriptor)
      }
    }
    (wake, taken, timer) = (opened[0], opened[1], opened[2])
    inputCount = list.count
    inputs = .allocate(capacity: max(1, list.count))
    waits = .allocate(capacity: 2 + list.count)
    waits.initialize(repeating: tactus_wait(descriptor: -1, ready: 0), count: 2 + list.count)
    waits[0].descriptor = wake
    waits[1].descriptor = timer
    for (index, input) in list.enumerated() { (inputs + index).initialize(to: input) }
  }

  deinit {
    tactus_close(wake)
    tactus_close(taken)
    tactus_close(timer)
    inputs.deallocate()
    waits.deallocate()
  }
}

/// The longest sleep, in nanoseconds, that does not watch the wake-up descriptor. In longer sleeps the lane watches it, so that
/// stopping or changing the lane does not take a whole period.
private var longestDeafSleep: Int64 {
  @_noLocks @_noAllocation @inline(__always) get { 20_000_000 }
}

/// Charges the processor time of a tick, or all processor time before a sleep, to the budget.
@_noLocks @_noAllocation @inline(never)
private func chargeBudget(_ control: UnsafeMutablePointer<LaneControl>, isOver: Bool) {
  control.pointee.budget?.charge(until: tactus_thread_processor_time(), thenSleeps: isOver)
}

/// Runs a lane from the opening of its gate until it is stopped.
@_noLocks @_noAllocation
private func runLane(_ scheduler: UnsafeMutablePointer<LaneScheduler>, _ control: UnsafeMutablePointer<LaneControl>) {
  var now = tactus_monotonic_now()
  while !control.pointee.stopRequested.load(ordering: .acquiring) {
    if control.pointee.change.load(ordering: .relaxed) != nil { takeChange(scheduler, control, now) }
    let end = scheduler.pointee.runNext(now)
    if control.pointee.budget != nil { chargeBudget(control, isOver: end == .min) }
    if end != .min {
      now = end
      continue
    }
    let from = now
    wait(scheduler, control, now)
    now = tactus_monotonic_now()
    scheduler.pointee.slept(from: from, to: now)
    if control.pointee.inputCount > 0 { noteInputs(scheduler, control, now) }
  }
}

@_noLocks @_noAllocation
private func wait(
  _ scheduler: UnsafeMutablePointer<LaneScheduler>, _ control: UnsafeMutablePointer<LaneControl>, _ now: Int64
) {
  let instant = scheduler.pointee.nextInstant
  if control.pointee.inputCount == 0, instant &- now <= longestDeafSleep { return tactus_sleep_until(instant) }
  if control.pointee.armedFor != instant {
    tactus_timer_arm(control.pointee.timer, instant)
    control.pointee.armedFor = instant
  }
  for index in 0..<control.pointee.inputCount {
    // A loop that has seen an input and may not be released yet: that input would end every wait at once, and another
    // would change nothing.
    let input = control.pointee.inputs[index]
    let isSeen = (scheduler.pointee.slots + input.loop).pointee.inputAt != .max
    control.pointee.waits[2 &+ index].descriptor = isSeen ? -1 : input.descriptor
  }
  _ = tactus_wait_any(control.pointee.waits, Int32(truncatingIfNeeded: 2 &+ control.pointee.inputCount))
  if control.pointee.waits[0].ready != 0 { tactus_eventfd_clear(control.pointee.wake) }
  if control.pointee.waits[1].ready != 0 { control.pointee.armedFor = .min }
}

@_noLocks @_noAllocation
private func noteInputs(
  _ scheduler: UnsafeMutablePointer<LaneScheduler>, _ control: UnsafeMutablePointer<LaneControl>, _ now: Int64
) {
  for index in 0..<control.pointee.inputCount where control.pointee.waits[2 &+ index].ready != 0 {
    scheduler.pointee.inputReady(control.pointee.inputs[index].loop, at: now)
  }
}

@_noLocks @_noAllocation
private func takeChange(
  _ scheduler: UnsafeMutablePointer<LaneScheduler>, _ control: UnsafeMutablePointer<LaneControl>, _ now: Int64
) {
  guard let changes = control.pointee.change.exchange(nil, ordering: .acquiringAndReleasing) else { return }
  for index in 0..<control.pointee.changeCount { scheduler.pointee.apply(changes[index], at: now) }
  tactus_eventfd_signal(control.pointee.taken)
}
