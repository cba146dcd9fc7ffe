/// The state that a lane keeps for one of its loops.
struct LoopSlot {
  // The values that the loop declares.
  var period: Int64
  var phase: Int64
  var deadline: Int64
  var late: LatePolicy
  /// The number of consecutive misses after which the loop enters its safe state; 0 for never.
  var safeStateAfter: Int64
  let countedMisses: CountedMisses
  var minimumInterval: Int64
  /// The lateness beyond which a wake-up counts as oversleep and a release counts as late.
  var tolerance: Int64
  /// The length of a tick in simulated time when no disturbance is injected, in nanoseconds.
  var simulatedExecution: Int64
  let inputs: [LoopInput]
  /// Whether other loops run after this loop or this loop after others. Its releases then stay in phase over changes of its rate.
  let isOrdered: Bool
  /// The first of a list of the ages of the data that the loop acts on, or `nil` if none is declared.
  let ages: UnsafeMutablePointer<AgeRecord>?
  /// The source of the bodies, one of which is `body` during a run.
  let bodySource: BodySource
  var body: LoopBody
  /// Whether the loop's ticks are recorded and replayed.
  let isRecorded: Bool
  /// The body's memory during a run with a recorder.
  var memory: UnsafeMutableBufferPointer<UnsafeMutableRawBufferPointer>
  let record: UnsafeMutablePointer<LoopRecord>

  // The present state of the loop.
  /// The index and the instant of the oldest periodic release that was neither run nor skipped.
  var nextIndex: Int64 = 0
  var nextRelease: Int64 = 0
  /// The instant of the first release of the run.
  var firstRelease: Int64 = 0
  /// Whether the due releases came due at another rate, so that the next one has to be brought back into phase.
  var isOutOfPhase = false
  /// The instant of the release that the loop requested by `nextDeadline`, or `.max` if it requested none.
  var wakeAt = Int64.max
  /// The instant since which an input has been waiting, or `.max` if none waits.
  var inputAt = Int64.max
  /// The earliest instant of the next release by input.
  var inputAllowedAt = Int64.min
  var missedSinceRun: Int64 = 0
  var consecutiveMisses: Int64 = 0
  /// The instant at which the first of the misses that count towards the safe state was due.
  var missesSince: Int64 = 0
  /// The value of `consecutiveMisses` that last led into the safe state, or 0 if none has. A later tick may have ended the safe state; the same
  /// number of misses then leads into it again.
  var missesAtSafeState: Int64 = 0
  /// The instant at which the last tick began, or `.max` before the first tick.
  var lastStart = Int64.max
  /// The position up to which the loop has handled external stops.
  var externalStops = ExternalStopCursor(nil)
  var account = LoopAccount()

  /// The values of the slot that a frame of a recording contains, as one plain value.
  struct Place: BitwiseCopyable {
    var period: Int64
    var phase: Int64
    var deadline: Int64
    var tolerance: Int64
    var nextIndex: Int64
    var nextRelease: Int64
    var firstRelease: Int64
    var isOutOfPhase: Int64
    var wakeAt: Int64
    var inputAt: Int64
    var inputAllowedAt: Int64
    var missedSinceRun: Int64
    var consecutiveMisses: Int64
    var missesSince: Int64
    var missesAtSafeState: Int64
    var lastStart: Int64
    /// Whether the loop is due already.
    var isReady: Int64
    var account: LoopAccount

    /// Whether a scheduler can compute with the values, since those in a file may be arbitrary.
    var isPossible: Bool {
      let instants = [nextRelease, firstRelease, missesSince].allSatisfy { $0 > -1 << 62 && $0 < 1 << 62 }
      let counts = [nextIndex, missedSinceRun, consecutiveMisses, missesAtSafeState].allSatisfy {
        $0 >= 0 && $0 < 1 << 62
      }
      let times = [deadline, tolerance, phase].allSatisfy { $0 >= 0 && $0 < 1 << 62 }
      return instants && counts && times && period > 0 && period < 1 << 62 && account.period > 0
    }
  }

  /// Resets the slot to its state before the first start, with the first release at `epoch + phase`.
  mutating func reset(epoch: Int64) {
    nextIndex = 0
    firstRelease = epoch + phase
    nextRelease = firstRelease
    isOutOfPhase = false
    wakeAt = .max
    inputAt = .max
    inputAllowedAt = .min
    missedSinceRun = 0
    consecutiveMisses = 0
    missesSince = 0
    missesAtSafeState = 0
    lastStart = .max
    account = LoopAccount()
  }
}

/// Returns the values of a slot for a frame. Takes a pointer, since a copy of the slot would retain what is in it.
@_noLocks @_noAllocation
func place(of slot: UnsafeMutablePointer<LoopSlot>, isReady: Bool) -> LoopSlot.Place {
  LoopSlot.Place(
    period: slot.pointee.period, phase: slot.pointee.phase, deadline: slot.pointee.deadline,
    tolerance: slot.pointee.tolerance, nextIndex: slot.pointee.nextIndex, nextRelease: slot.pointee.nextRelease,
    firstRelease: slot.pointee.firstRelease, isOutOfPhase: slot.pointee.isOutOfPhase ? 1 : 0,
    wakeAt: slot.pointee.wakeAt, inputAt: slot.pointee.inputAt, inputAllowedAt: slot.pointee.inputAllowedAt,
    missedSinceRun: slot.pointee.missedSinceRun, consecutiveMisses: slot.pointee.consecutiveMisses,
    missesSince: slot.pointee.missesSince, missesAtSafeState: slot.pointee.missesAtSafeState,
    lastStart: slot.pointee.lastStart, isReady: isReady ? 1 : 0, account: slot.pointee.account)
}

extension LoopSlot {
  /// Restores the values that a frame contains.
  mutating func stand(at place: Place) {
    (period, phase, deadline, tolerance) = (place.period, place.phase, place.deadline, place.tolerance)
    (nextIndex, nextRelease, firstRelease) = (place.nextIndex, place.nextRelease, place.firstRelease)
    (isOutOfPhase, wakeAt, inputAt) = (place.isOutOfPhase != 0, place.wakeAt, place.inputAt)
    (inputAllowedAt, missedSinceRun) = (place.inputAllowedAt, place.missedSinceRun)
    (consecutiveMisses, missesSince) = (place.consecutiveMisses, place.missesSince)
    (missesAtSafeState, lastStart, account) = (place.missesAtSafeState, place.lastStart, place.account)
  }
}

/// Returns the first instant from `instant` on that is a whole number of periods after the run's first release.
@_noLocks @_noAllocation
func inPhase(_ slot: UnsafeMutablePointer<LoopSlot>, from instant: Int64) -> Int64 {
  let first = slot.pointee.firstRelease
  let period = slot.pointee.period
  return instant <= first ? first : first &+ ((instant &- first &- 1) / period &+ 1) &* period
}

/// Returns the next instant at which a loop is due, whatever the cause.
@_noLocks @_noAllocation @inline(__always)
func nextKey(_ slot: UnsafeMutablePointer<LoopSlot>) -> Int64 {
  var key = slot.pointee.nextRelease
  if slot.pointee.wakeAt < key { key = slot.pointee.wakeAt }
  if slot.pointee.inputAt < key {
    let input = later(slot.pointee.inputAt, slot.pointee.inputAllowedAt)
    if input < key { key = input }
  }
  return key
}

/// Returns the later instant. Replaces `max`, which the compiler cannot prove free of locks and allocation in a debug build.
@_noLocks @_noAllocation @inline(__always)
func later(_ one: Int64, _ other: Int64) -> Int64 { one > other ? one : other }

/// The source of a loop's body.
@usableFromInline enum BodySource {
  /// A body that exists already and serves a single run.
  case made(LoopBody)
  /// A closure that makes a body for each run.
  case eachRun(() -> LoopBody)

  /// The body that is present before the first run.
  var first: LoopBody {
    switch self {
    case .made(let body): body
    case .eachRun: .none
    }
  }
}

/// A loop with its type erased: closures over storage that exists as long as this object.
///
/// The closures are made in the embedder's module, where the loop's type is known, so they call its `tick` directly.
public final class LoopBody {
  /// Runs one tick and returns the loop's next deadline in nanoseconds, or `.max` if it has none.
  @usableFromInline let tick: (UnsafePointer<Tick>) -> Int64
  @usableFromInline let safeState: (UnsafePointer<Tick>, SafeStateCause) -> Void
  /// The memory of the loop's state.
  let memory: LoopMemory
  private let dispose: () -> Void

  @usableFromInline init(
    tick: @escaping (UnsafePointer<Tick>) -> Int64,
    safeState: @escaping (UnsafePointer<Tick>, SafeStateCause) -> Void, memory: LoopMemory,
    dispose: @escaping () -> Void
  ) {
    self.tick = tick
    self.safeState = safeState
    self.memory = memory
    self.dispose = dispose
  }

  /// Makes the loop and keeps it as long as this object exists. `Loop` calls this initialiser; an embedder does not need it.
  @inlinable
  public convenience init<Body: ControlLoop & ~Copyable>(_ make: () -> Body) {
    let storage = UnsafeMutablePointer<Body>.allocate(capacity: 1)
    storage.initialize(to: make())
    var memory = LoopMemory(of: storage)
    storage.pointee.addMemory(to: &memory)
    self.init(
      tick: { tick in
        storage.pointee.tick(tick.pointee)
        return storage.pointee.nextDeadline?.nanoseconds ?? .max
      },
      safeState: { tick, cause in storage.pointee.safeState(tick.pointee, cause: cause) }, memory: memory,
      dispose: {
        storage.deinitialize(count: 1)
        storage.deallocate()
      })
  }

  /// The body of a loop between two runs, which is never called.
  static var none: LoopBody {
    LoopBody(
      tick: { _ in fatalError("a tick without a run") },
      safeState: { _, _ in fatalError("a safe state without a run") }, memory: LoopMemory(), dispose: {})
  }

  deinit { dispose() }
}

// The two calls that the compiler cannot follow: each loop's `tick` and `safeState` are proved where they are written.

@_semantics("no_performance_analysis") @inline(never)
func callTick(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: UnsafePointer<Tick>) -> Int64 {
  // The slot owns the body for as long as the lane runs: no retain and release around every tick.
  Unmanaged.passUnretained(slot.pointee.body)._withUnsafeGuaranteedRef { $0.tick(tick) }
}

@_semantics("no_performance_analysis") @inline(never)
func callSafeState(_ slot: UnsafeMutablePointer<LoopSlot>, _ tick: UnsafePointer<Tick>, _ cause: SafeStateCause) {
  slot.pointee.body.safeState(tick, cause)
}
