import WallTime

/// Everything that survives the process, as one value: what a store gives at the start, and what a backup holds.
public struct SprinklerRecords: Sendable, Hashable, Codable {
  /// In the order in which people want to see them.
  public var zones: [Zone] = []
  /// In their order.
  public var programs: [Program] = []
  public var levels = SprinklerLevels()
  public var rainDelay: RainDelay?
  /// Whether a forecast makes rain delays, where one is configured.
  public var isForecastOn = true
  /// Of the last days, as many as the catch-up window needs.
  public var startKeys: [StartKey] = []
  /// Of `startKeys`, those whose starts made no run.
  public var suppressed: [SuppressedStart] = []
  /// Queued or open when it was written; those that wait in their order.
  public var pending: [PendingRun] = []
  /// Runs ever made: the next one's number.
  public var nextRun: UInt64 = 1
  /// Programs ever made: the next one's number.
  public var nextProgram = 1
  /// Seconds that each zone has run on `day`, by zone.
  public var ranToday: [ZoneID: Double] = [:]
  public var day: LocalDate?
  /// Every start up to then has been dealt with. Written whenever anything else is, so that a start after a power cut tells
  /// what was missed from what never was.
  public var seen: WallInstant?

  public init() {}

  /// Carries out a change. Store and scheduler both use it, so they agree on what a change means.
  public mutating func apply(_ change: SprinklerChange) {
    switch change {
    case .zones(let new): zones = new
    case .program(let program):
      if let place = programs.firstIndex(where: { $0.id == program.id }) {
        programs[place] = program
      } else {
        programs.append(program)
      }
    case .programRemoved(let id): programs.removeAll { $0.id == id }
    case .programOrder(let ids):
      let places = Dictionary(ids.enumerated().map { ($1, $0) }) { first, _ in first }
      programs = programs.enumerated()
        .sorted { (places[$0.element.id] ?? .max, $0.offset) < (places[$1.element.id] ?? .max, $1.offset) }
        .map(\.element)
    case .levels(let new): levels = new
    case .rainDelay(let new), .rainDelayNoted(let new): rainDelay = new
    case .forecast(let isOn): isForecastOn = isOn
    case .started(let key): if !startKeys.contains(key) { startKeys.append(key) }
    case .startKeysForgotten(let date):
      startKeys.removeAll { $0.date < date }
      suppressed.removeAll { $0.key.date < date }
    case .suppressed(let start):
      suppressed.removeAll { $0.key == start.key }
      suppressed.append(start)
    case .takenBack(let start):
      startKeys.removeAll { $0 == start.key }
      suppressed.removeAll { $0.key == start.key }
    case .pending(let run):
      if let place = pending.firstIndex(where: { $0.run == run.run }) {
        pending[place] = run
      } else {
        pending.append(run)
      }
    case .pendingRemoved(let run): pending.removeAll { $0.run == run }
    case .pendingOrder(let runs):
      let places = Dictionary(runs.enumerated().map { ($1, $0) }) { first, _ in first }
      pending = pending.enumerated()
        .sorted { (places[$0.element.run] ?? .max, $0.offset) < (places[$1.element.run] ?? .max, $1.offset) }
        .map(\.element)
    case .log: break
    case .ran(let zone, let seconds, let newDay):
      if day != newDay {
        ranToday = [:]
        day = newDay
      }
      ranToday[zone] = seconds
    case .counters(let run, let program):
      nextRun = run
      nextProgram = program
    case .seen(let instant): seen = instant
    case .everything(let records):
      let before = self
      self = records
      // A number that was given once, in the log or to an app, is not given again.
      nextRun = max(nextRun, before.nextRun)
      nextProgram = max(nextProgram, before.nextProgram)
    }
  }
}

/// One change of the records. A store makes a list of them in one transaction: all of it or nothing.
public enum SprinklerChange: Sendable, Hashable {
  case zones([Zone])
  /// New or changed.
  case program(Program)
  case programRemoved(id: Int)
  /// The programs' ids in their new order.
  case programOrder([Int])
  case levels(SprinklerLevels)
  case rainDelay(RainDelay?)
  /// How much of it is over, or until when it lasts by a clock that was set.
  case rainDelayNoted(RainDelay?)
  /// Whether a forecast makes rain delays.
  case forecast(isOn: Bool)
  case started(StartKey)
  /// With the suppressed starts of them.
  case startKeysForgotten(before: LocalDate)
  /// A start that was dealt with and made no run.
  case suppressed(SuppressedStart)
  /// A wrong clock had dealt with it: its key is free again, and its lines in the log say `wrongClock`.
  case takenBack(SuppressedStart)
  /// New or changed.
  case pending(PendingRun)
  case pendingRemoved(run: UInt64)
  /// The pending runs in their new order; those not named keep theirs behind them.
  case pendingOrder([UInt64])
  case log(WateringRecord)
  /// All that the zone has run on that day so far; a new day forgets the totals of the last.
  case ran(ZoneID, seconds: Double, day: LocalDate)
  /// The next numbers to give.
  case counters(nextRun: UInt64, nextProgram: Int)
  /// Every start up to then has been dealt with.
  case seen(WallInstant)
  /// Everything at once, for a restored backup. The log stays, and the counters never go back.
  case everything(SprinklerRecords)
}
