/// All that a lane knows about one of its loops.
struct LoopSlot {
  // What was declared.
  var period: Int64
  var phase: Int64
  var deadline: Int64
  var late: LatePolicy
  /// Consecutive misses that lead into the safe state; 0 for never.
  var safeStateAfter: Int64
  let countedMisses: CountedMisses
  var minimumInterval: Int64
  /// Lateness beyond which waking counts as oversleep and a release counts as late.
  var tolerance: Int64
  /// What a tick takes in simulated time, when nothing is injected.
  var simulatedExecution: Int64
  let inputs: [LoopInput]
  /// Whether other loops run after it or it after others: its releases then stay in phase over changes of its rate.
  let isOrdered: Bool
  /// The ages of the data it acts on, the first of a list, or `nil` if none is declared.
  let ages: UnsafeMutablePointer<AgeRecord>?
  /// Where `body` comes from, and the body of the present run.
  let bodySource: BodySource
  var body: LoopBody
  let record: UnsafeMutablePointer<LoopRecord>

  // Where it stands.
  /// Index and instant of the oldest periodic release that neither ran nor was skipped.
  var nextIndex: Int64 = 0
  var nextRelease: Int64 = 0
  /// The first release of the run.
  var firstRelease: Int64 = 0
  /// Whether the releases that are due came due at another rate, so that the next is to be brought back into phase.
  var isOutOfPhase = false
  /// Instant of the release that the machine asked for; `.max`: none.
  var wakeAt = Int64.max
  /// Instant from which one of the inputs waits; `.max`: none does.
  var inputAt = Int64.max
  /// No release by input before this.
  var inputAllowedAt = Int64.min
  var missedSinceRun: Int64 = 0
  var consecutiveMisses: Int64 = 0
  /// When the first of them was due.
  var missesSince: Int64 = 0
  var isInSafeState = false
  /// When the last tick began; `.max` before the first.
  var lastStart = Int64.max
  /// The external stops that the loop has taken account of.
  var externalStops = ExternalStopCursor(nil)
  var account = LoopAccount()

  /// Back to the state before the first start, with the first release at `epoch + phase`.
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
    isInSafeState = false
    lastStart = .max
    account = LoopAccount()
  }
}

/// The first instant from `instant` on that is a whole number of periods after the run's first release.
@_noLocks @_noAllocation
func inPhase(_ slot: UnsafeMutablePointer<LoopSlot>, from instant: Int64) -> Int64 {
  let first = slot.pointee.firstRelease
  let period = slot.pointee.period
  return instant <= first ? first : first &+ ((instant &- first &- 1) / period &+ 1) &* period
}

/// The next instant at which a loop wants to run, for whatever cause.
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

/// `max`, which the compiler cannot prove harmless in a debug build.
@_noLocks @_noAllocation @inline(__always)
func later(_ one: Int64, _ other: Int64) -> Int64 { one > other ? one : other }

/// Where a loop's body comes from.
@usableFromInline enum BodySource {
  /// There is one, for one run.
  case made(LoopBody)
  /// Each run gets its own.
  case eachRun(() -> LoopBody)

  /// The body before the first run.
  var first: LoopBody {
    switch self {
    case .made(let body): body
    case .eachRun: .none
    }
  }
}

/// A loop with its type erased: closures over storage that lives as long as this object.
///
/// The closures are made in the embedder's module, where the loop's type is known, so they call its `tick` directly.
public final class LoopBody {
  /// Runs one tick and returns the loop's next deadline in nanoseconds, `.max` for none.
  @usableFromInline let tick: (UnsafePointer<Tick>) -> Int64
  @usableFromInline let safeState: (UnsafePointer<Tick>, SafeStateCause) -> Void
  private let dispose: () -> Void

  @usableFromInline init(
    tick: @escaping (UnsafePointer<Tick>) -> Int64,
    safeState: @escaping (UnsafePointer<Tick>, SafeStateCause) -> Void,
    dispose: @escaping () -> Void
  ) {
    self.tick = tick
    self.safeState = safeState
    self.dispose = dispose
  }

  /// Makes the body and keeps it until the end. `Loop` calls this; an embedder has no use for it.
  @inlinable
  public convenience init<Body: ControlLoop & ~Copyable>(_ make: () -> Body) {
    let storage = UnsafeMutablePointer<Body>.allocate(capacity: 1)
    storage.initialize(to: make())
    self.init(
      tick: { tick in
        storage.pointee.tick(tick.pointee)
        return storage.pointee.nextDeadline?.nanoseconds ?? .max
      },
      safeState: { tick, cause in storage.pointee.safeState(tick.pointee, cause: cause) },
      dispose: {
        storage.deinitialize(count: 1)
        storage.deallocate()
      })
  }

  /// The body of a loop between two runs, which is never called.
  static var none: LoopBody {
    LoopBody(
      tick: { _ in fatalError("a tick without a run") },
      safeState: { _, _ in fatalError("a safe state without a run") }, dispose: {})
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
