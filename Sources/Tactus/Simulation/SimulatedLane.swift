/// What simulated time adds to a lane: injected lateness, and the trace.
struct SimulatedLane {
  /// One disturbance, taken once.
  struct Disturbance: BitwiseCopyable {
    var from: Int64
    var by: Int64
    /// The loop whose tick it prolongs, or `nil` if the lane's next wake-up comes late instead.
    var loop: Int?
  }

  /// Lane number, part of the trace.
  let number: Int64
  /// The instant up to which the lane's thread is busy.
  var busyUntil: Int64
  /// The instant up to which the simulation has run.
  var now: Int64
  /// Sorted by `from`; capacity fixed before the run.
  var disturbances: [Disturbance] = []
  private var nextDisturbance = Int64.max
  /// Hash over every tick that ran: order, loop, index, cause and instants.
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

  /// When a tick that began at its `started` ends.
  @_noLocks @_noAllocation @inline(__always)
  mutating func end(of loop: Int, _ tick: Tick, execution: Int64) -> Int64 {
    mix(UInt64(bitPattern: number &<< 48 ^ Int64(loop) &<< 32 ^ tick.index &<< 2 ^ causeNumber(tick.cause)))
    mix(UInt64(bitPattern: tick.started.nanoseconds))
    mix(UInt64(bitPattern: tick.scheduled.nanoseconds ^ tick.missed &<< 40))
    let start = tick.started.nanoseconds
    let extra = start >= nextDisturbance ? take(at: start, loop: loop) : 0
    busyUntil = start &+ execution &+ extra
    return busyUntil
  }

  /// When a lane that sleeps until `instant` wakes.
  @_noLocks @_noAllocation @inline(__always)
  mutating func wake(at instant: Int64) -> Int64 {
    instant >= nextDisturbance ? instant &+ take(at: instant, loop: nil) : instant
  }

  @_semantics("no_performance_analysis") @inline(never)
  private mutating func take(at instant: Int64, loop: Int?) -> Int64 {
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

/// The raw value, which the compiler cannot prove harmless in a debug build.
@_noLocks @_noAllocation @inline(__always)
private func causeNumber(_ cause: ReleaseCause) -> Int64 {
  switch cause {
  case .period: 0
  case .deadline: 1
  case .input: 2
  }
}
