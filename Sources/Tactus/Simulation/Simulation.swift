import Synchronization

/// The lanes of a runtime in simulated time, driven by the same scheduler as in real time.
///
/// Time starts at zero, or where another simulation of the same world ended, and jumps from release to release. Lanes run side by
/// side, each as on a core of its own: a tick acts when it starts, and its lane is busy until the tick ends. The order is
/// deterministic: the earliest start first, then the order of declaration. The simulation reads no clock.
public final class Simulation {
  private let runtime: Runtime
  private let lanes: [LaneRun]
  /// The pointers of each lane that are used between any two ticks. The lane object is not among them, because each use would change its reference
  /// count.
  private let sides: [Side]
  /// Random numbers for everything that the simulated world varies.
  public var random: SplitMix64
  /// The seed of `random`. The same seed gives the same run.
  public let seed: UInt64
  /// The instant up to which the simulation has run.
  public private(set) var now: TickInstant

  /// Pointers to the memory of a lane, valid as long as `lanes`.
  private struct Side {
    let scheduler: UnsafeMutablePointer<LaneScheduler>
    let simulated: UnsafeMutablePointer<SimulatedLane>
    let present: UnsafeMutablePointer<Atomic<Int64>>
  }

  /// A loop with simulated inputs.
  private struct Listener {
    let scheduler: UnsafeMutablePointer<LaneScheduler>
    let loop: Int
    /// The instant at which each input of the loop becomes readable. The pointers are valid as long as the lane's loops.
    let instants: [UnsafeMutablePointer<TickInstant>]

    /// The earliest instant at which one of the inputs became readable.
    var readyAt: TickInstant {
      var first = TickInstant.distantFuture
      for instant in instants { first = min(first, instant.pointee) }
      return first
    }
  }
  private let listeners: [Listener]

  init(runtime: Runtime, lanes: [LaneRun], seed: UInt64, from start: TickInstant) {
    self.runtime = runtime
    self.lanes = lanes
    sides = lanes.map { Side(scheduler: $0.scheduler, simulated: $0.simulated, present: $0.present) }
    self.seed = seed
    now = start
    random = SplitMix64(seed: seed)
    var listeners: [Listener] = []
    for lane in lanes {
      lane.scheduler.pointee.begin(epoch: start.nanoseconds)
      for loop in 0..<lane.loopCount {
        let inputs = lane.slots[loop].inputs.compactMap(\.simulated)
        if inputs.isEmpty { continue }
        listeners.append(Listener(scheduler: lane.scheduler, loop: loop, instants: inputs.map(\.readyAt)))
      }
    }
    self.listeners = listeners
  }

  deinit { runtime.simulationEnded() }

  /// Runs everything that happens up to and including `now + duration`. Returns the number of ticks.
  @discardableResult
  public func run(for duration: Nanoseconds) -> Int64 {
    run(until: now + duration)
  }

  /// Runs everything that happens up to and including `instant`. Returns the number of ticks.
  @discardableResult
  public func run(until instant: TickInstant) -> Int64 {
    let end = instant.nanoseconds
    let ticks =
      sides.count == 1 && listeners.isEmpty
      ? runAlone(sides[0].scheduler, sides[0].simulated, until: end) : runTogether(until: end).ticks
    pass(until: instant)
    return ticks
  }

  private func pass(until instant: TickInstant) {
    now = max(now, instant)
    for side in sides {
      side.simulated.pointee.now = now.nanoseconds
      side.present.pointee.store(now.nanoseconds, ordering: .releasing)
    }
  }

  /// Runs the next tick if it starts at or before `instant`, for code that inspects the world between ticks. Otherwise time passes
  /// up to `instant`. Returns whether a tick ran; `now` is then the start of that tick.
  public func runTick(until instant: TickInstant) -> Bool {
    let start = runTogether(until: instant.nanoseconds, most: 1).last
    pass(until: start.map { TickInstant(nanoseconds: $0) } ?? instant)
    return start != nil
  }

  /// Delays the lane's first wake-up at or after `instant` by `by`, as a kernel that schedules the lane late would.
  public func oversleep(lane: String, at instant: TickInstant, by: Nanoseconds) {
    let lane = laneNamed(lane)
    lane.simulated.pointee.add(.init(from: instant.nanoseconds, by: by.count, loop: nil))
  }

  /// Prolongs the loop's first tick that starts at or after `instant` by `by`.
  public func stall(loop: String, at instant: TickInstant, by: Nanoseconds) {
    for lane in lanes {
      guard let index = lane.index(of: loop) else { continue }
      return lane.simulated.pointee.add(.init(from: instant.nanoseconds, by: by.count, loop: index))
    }
    fatalError("no loop is named \(loop)")
  }

  /// Puts every loop into its safe state, as `Runtime.stop()` does. The newest release that is due stays pending.
  public func stop() {
    for lane in lanes { lane.scheduler.pointee.stopLoops(at: now.nanoseconds) }
  }

  /// A hash over every tick so far, which is equal for equal runs: which loop ran, when and why, not what it read or did.
  public var traceHash: UInt64 {
    lanes.reduce(0) { ($0 ^ $1.simulated.pointee.trace) &* 0x9E37_79B9_7F4A_7C15 }
  }

  private func laneNamed(_ name: String) -> LaneRun {
    guard let lane = lanes.first(where: { $0.name == name }) else { fatalError("no lane is named \(name)") }
    return lane
  }

  /// Runs at most `most` ticks. Returns their number and the start of the last one.
  private func runTogether(until end: Int64, most: Int64 = .max) -> (ticks: Int64, last: Int64?) {
    var ticks: Int64 = 0
    var last: Int64?
    while true {
      for listener in listeners {
        listener.scheduler.pointee.inputReady(listener.loop, at: listener.readyAt.nanoseconds)
      }
      var first: Side?
      var start = Int64.max
      for lane in sides {
        // The end of the tick that has begun comes before the lane's next one.
        let instant = min(
          lane.scheduler.pointee.finishesAt,
          max(lane.scheduler.pointee.nextInstant, lane.simulated.pointee.busyUntil))
        if instant < start {
          first = lane
          start = instant
        }
      }
      guard let first, start <= end else { return (ticks, last) }
      if first.scheduler.pointee.finishesAt == start {
        first.scheduler.pointee.finish()
      } else if step(first.scheduler, first.simulated, at: start) {
        ticks += 1
        last = start
        if ticks == most { return (ticks, last) }
      }
    }
  }
}

/// Runs one lane without inputs, for which nothing else can happen between its releases.
@_noLocks @_noAllocation
private func runAlone(
  _ scheduler: UnsafeMutablePointer<LaneScheduler>, _ lane: UnsafeMutablePointer<SimulatedLane>, until end: Int64
) -> Int64 {
  var ticks: Int64 = 0
  while true {
    if scheduler.pointee.finishesAt <= end { scheduler.pointee.finish() }
    let start = max(scheduler.pointee.nextInstant, lane.pointee.busyUntil)
    guard start <= end else { return ticks }
    if step(scheduler, lane, at: start) { ticks &+= 1 }
  }
}

/// Wakes the lane if it slept and runs the loop that is due. Returns `false` if a disturbance delayed the wake-up; the lane is then
/// busy until it wakes up.
@_noLocks @_noAllocation @inline(__always)
private func step(
  _ scheduler: UnsafeMutablePointer<LaneScheduler>, _ lane: UnsafeMutablePointer<SimulatedLane>, at start: Int64
) -> Bool {
  if start > lane.pointee.busyUntil {
    let woke = lane.pointee.wake(at: start)
    scheduler.pointee.slept(from: lane.pointee.busyUntil, to: woke)
    if woke > start {
      lane.pointee.busyUntil = woke
      return false
    }
  }
  return scheduler.pointee.runNext(start) != .min
}
