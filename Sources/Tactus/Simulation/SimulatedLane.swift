/// The additional state of a lane in simulated time: injected lateness and the trace.
struct SimulatedLane {
  /// A disturbance, which takes effect once.
  struct Disturbance: BitwiseCopyable {
    var from: Int64
    var by: Int64
    /// The loop whose tick becomes longer, or `nil` if the lane's next wake-up comes late instead.
    var loop: Int?
  }

  /// The number of the lane, which is part of the trace.
  let number: Int64
  /// The instant up to which the lane's thread is busy.
  var busyUntil: Int64
  /// The instant up to which the simulation has run.
  var now: Int64
  /// The disturbances, sorted by `from`. Their capacity is fixed before the run.
  var disturbances: [Disturbance] = []
  private var nextDisturbance = Int64.max
  /// A hash over every tick that ran, with order, loop, index, cause and instants.
  private(set) var trace: UInt64 = 0xCBF2_9CE4_8422_2325

  init(number: Int, from start: TickInstant = .zero) {
    self.number = Int64(number)
    busyUntil = start.nanoseconds
    now = start.nanoseconds
  }

  mutating func add(_ disturbance: Disturbance) {
    let place = disturbances.firstIndex { $0.from > disturbance.from } ?? disturbances.endIndex
    disturbances.insert(disturbance, at: place)
    nextDisturbance = disturbances[0].from
  }

  /// Returns the instant at which a tick that began at its `started` ends.
  @_noLocks @_noAllocation @inline(__always)
  mutating func end(of loop: Int, _ tick: Tick, execution: Int64) -> Int64 {
    mix(UInt64(bitPattern: number &<< 48 ^ Int64(loop) &<< 32 ^ tick.index &<< 2 ^ causeNumber(tick.cause)))
    mix(UInt64(bitPattern: tick.started.nanoseconds))
    mix(UInt64(bitPattern: tick.scheduled.nanoseconds ^ tick.missed &<< 40))
    let start = tick.started.nanoseconds
    let extra = start >= nextDisturbance ? removeDisturbance(at: start, loop: loop) : 0
    busyUntil = start &+ execution &+ extra
    return busyUntil
  }

  /// Returns the instant at which a lane that sleeps until `instant` wakes up.
  @_noLocks @_noAllocation @inline(__always)
  mutating func wake(at instant: Int64) -> Int64 {
    instant >= nextDisturbance ? instant &+ removeDisturbance(at: instant, loop: nil) : instant
  }

  @_semantics("no_performance_analysis") @inline(never)
  private mutating func removeDisturbance(at instant: Int64, loop: Int?) -> Int64 {
    guard let index = disturbances.firstIndex(where: { $0.from <= instant && $0.loop == loop }) else { return 0 }
    let by = disturbances.remove(at: index).by
    nextDisturbance = disturbances.first?.from ?? .max
    return by
  }

  @_noLocks @_noAllocation @inline(__always)
  private mutating func mix(_ word: UInt64) {
    trace = (trace ^ word) &* 0x9E37_79B9_7F4A_7C15
    trace ^= trace &>> 29
  }
}

/// Returns the raw value of a cause. It is a `switch`, because the compiler cannot prove `rawValue` free of locks and allocation in a debug build.
@_noLocks @_noAllocation @inline(__always)
func causeNumber(_ cause: ReleaseCause) -> Int64 {
  switch cause {
  case .period: 0
  case .deadline: 1
  case .input: 2
  }
}
