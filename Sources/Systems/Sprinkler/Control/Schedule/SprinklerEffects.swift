import WallTime

/// What comes of one event.
///
/// The changes are one transaction and come first: only when the store has them, the orders are given. If the store refuses,
/// the scheduler is put back to the value it had before the step, and nothing has happened.
public struct SprinklerEffects: Sendable, Hashable {
  public internal(set) var changes: [SprinklerChange] = []
  /// For the valves, one after another. An answer that refuses a run goes back in as `SprinklerEvent.refused`.
  public internal(set) var orders: [SprinklerRequest.Order] = []
  public internal(set) var notices: [SprinklerNotice] = []
  /// Why a command was not carried out; then there is nothing else.
  public internal(set) var refusal: SprinklerRefusal?
  /// A rain delay during which a run by hand was allowed, if people are to be warned.
  public internal(set) var rainWarning: RainDelay?
  /// The runs a command made, in their order.
  public internal(set) var runs: [UInt64] = []
  /// The programs a command made, in their order.
  public internal(set) var programs: [Int] = []

  public init() {}

  public var isEmpty: Bool { changes.isEmpty && orders.isEmpty && notices.isEmpty && refusal == nil }
}

/// Something for the log.
public enum SprinklerNotice: Sendable, Hashable {
  /// A program's start came and its runs are queued.
  case programStarted(id: Int, name: String, due: WallInstant, runs: Int)
  /// A program's start came and some or all of its runs were not made.
  case programSkipped(id: Int, name: String, due: WallInstant, why: RunOutcome, runs: Int)
  case rainDelaySet(RainDelay)
  /// By a person, by the weather, or because its time had come.
  case rainDelayOver
  /// The wall clock jumped by so many seconds, forward positive.
  case clockStepped(seconds: Int64)
  /// Whether schedules go by the wall clock is another than it was: `unconfirmed` (starts wait), `steady` or `synchronised`.
  case clockBelieved(String)
  /// A start that a wrong clock had dealt with is due again at its time.
  case startTakenBack(id: Int, name: String, due: WallInstant, was: RunOutcome)
  /// Starts further back than this were not looked for.
  case longAbsence(from: WallInstant, to: WallInstant)
  /// A run that the end of the last process interrupted: how that ended, what the run is charged with, and whether the rest follows.
  case interrupted(
    run: UInt64, zone: ZoneID, by: RunOutcome, ranSeconds: Double, leftSeconds: Int, isResumed: Bool)
  /// Runs of records that were recovered: they may have been done since, and are not done again.
  case queueNotResumed(runs: [UInt64])
}
