import WallTime

/// The results of one event.
///
/// The changes are one transaction and come first: the orders are given only once the store has committed the changes. If the store fails,
/// the scheduler is restored to its value before the step, as if nothing had happened.
public struct SprinklerEffects: Sendable, Hashable {
  public internal(set) var changes: [SprinklerChange] = []
  /// Orders for the valves' loop, in sequence. If the loop refuses a run, that is passed to the scheduler as `SprinklerEvent.refused`.
  public internal(set) var orders: [SprinklerOrder] = []
  public internal(set) var notices: [SprinklerNotice] = []
  /// The reason why a command was refused, or `nil` if it was not; a refusal has no other effects.
  public internal(set) var refusal: SprinklerRefusal?
  /// The rain delay to mention to a person who started a run during it, or `nil` if there is nothing to mention.
  public internal(set) var rainWarning: RainDelay?
  /// The numbers of the runs that a command made, in order.
  public internal(set) var runs: [UInt64] = []
  /// The ids of the programs that a command added, in order.
  public internal(set) var programs: [Int] = []

  public init() {}

  public var isEmpty: Bool { changes.isEmpty && orders.isEmpty && notices.isEmpty && refusal == nil }
}

/// A notice for the daemon's log.
public enum SprinklerNotice: Sendable, Hashable {
  /// A program's start was due, and its runs were queued.
  case programStarted(id: Int, name: String, due: WallInstant, runs: Int)
  /// A program's start was due, and some or all of its runs were not made.
  case programSkipped(id: Int, name: String, due: WallInstant, why: RunOutcome, runs: Int)
  /// A reading of the soil changed the effect of a program's start on a zone, or no reading was valid. `why` states the reading and its effect.
  case soil(id: Int, name: String, zone: ZoneID, why: String)
  /// The deficit decided how long a program's start waters a zone, or no deficit was valid. `why` states the deficit and its reasons.
  case deficit(id: Int, name: String, zone: ZoneID, why: String)
  /// A zone's usual flow is known from its runs. The text states the flow, when it was learnt and from how many runs.
  case flowLearnt(ZoneID, String)
  /// The reading of the rain sensor has changed. It is `unknown` if the sensor's line cannot be read, and `stuck` if its wire counts as broken.
  case rainSensor(RainSensorStatus.Word)
  case rainDelaySet(RainDelay)
  /// The rain delay ended: a person or the forecast ended it, or its time was over.
  case rainDelayOver
  /// The wall clock was set by `seconds`; a positive number is forward.
  case clockStepped(seconds: Int64)
  /// The trust in the wall clock changed: `unconfirmed` (starts wait), `steady` or `synchronised`.
  case clockBelieved(String)
  /// A start that was dealt with under a wrong clock is due again at its time.
  case startTakenBack(id: Int, name: String, due: WallInstant, was: RunOutcome)
  /// Starts longer ago than the limit of the catch-up search were not considered, between these instants.
  case longAbsence(from: WallInstant, to: WallInstant)
  /// The end of the previous process interrupted a run. Carries how that process ended, the time charged to the run, and whether its rest is resumed.
  case interrupted(
    run: UInt64, zone: ZoneID, by: RunOutcome, ranSeconds: Double, leftSeconds: Int, isResumed: Bool)
  /// Runs found in recovered records were not resumed, since they may have been carried out already.
  case queueNotResumed(runs: [UInt64])
}
