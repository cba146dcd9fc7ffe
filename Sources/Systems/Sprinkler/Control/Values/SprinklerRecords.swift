import WallTime

/// All the records that survive a restart, as one value: the store loads them at the start, and a backup contains them.
public struct SprinklerRecords: Sendable, Hashable, Codable {
  /// The zones, in the order in which they are displayed.
  public var zones: [Zone] = []
  /// The programs, in the order in which they are displayed.
  public var programs: [Program] = []
  public var levels = SprinklerLevels()
  public var rainDelay: RainDelay?
  /// Whether the weather forecast may start rain delays, if a forecast is configured.
  public var isForecastOn = true
  /// The starts that have been dealt with in the last days, as many days as the catch-up window needs.
  public var startKeys: [StartKey] = []
  /// The starts among `startKeys` that made no run.
  public var suppressed: [SuppressedStart] = []
  /// The runs that were queued or open when the records were written; queued runs are in the order of the queue.
  public var pending: [PendingRun] = []
  /// The number of the next run; numbers are never reused.
  public var nextRun: UInt64 = 1
  /// The number of the next program; numbers are never reused.
  public var nextProgram = 1
  /// The time that each zone has run on `day`, in seconds, by zone.
  public var ranToday: [ZoneID: Double] = [:]
  public var day: LocalDate?
  /// The deficits of zones whose weather has been counted, by zone.
  public var deficits: [ZoneDeficit] = []
  /// The known flows, one for each zone whose flow has been measured.
  public var flows: [ZoneFlow] = []
  /// The instant up to which every start has been dealt with. It is written with every other change, so that the scheduler can
  /// tell after a power cut which starts were missed.
  public var seen: WallInstant?

  public init() {}

  /// Applies a change. Both the store and the scheduler use this function, so they agree on what a change means.
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
    case .deficits(let new): deficits = new
    case .flows(let new): flows = new
    case .counters(let run, let program):
      nextRun = run
      nextProgram = program
    case .seen(let instant): seen = instant
    case .everything(let records):
      let before = self
      self = records
      // A number that was once assigned, and that the log and apps may contain, is not assigned again.
      nextRun = max(nextRun, before.nextRun)
      nextProgram = max(nextProgram, before.nextProgram)
    }
  }
}

/// One change of the records. The store applies a list of changes in one transaction, so either all of them take effect or none.
public enum SprinklerChange: Sendable, Hashable {
  case zones([Zone])
  /// Adds the program, or replaces the one that has the same id.
  case program(Program)
  case programRemoved(id: Int)
  /// Sorts the programs by these ids.
  case programOrder([Int])
  case levels(SprinklerLevels)
  case rainDelay(RainDelay?)
  /// Updates the elapsed time of the rain delay, or its end after the wall clock was set.
  case rainDelayNoted(RainDelay?)
  /// Sets whether the weather forecast may start rain delays.
  case forecast(isOn: Bool)
  case started(StartKey)
  /// Removes the keys, and their suppressed starts, of all dates before this one.
  case startKeysForgotten(before: LocalDate)
  /// Records a start that was dealt with and made no run.
  case suppressed(SuppressedStart)
  /// Takes back a start that was dealt with under a wrong clock: its key is free again, and its lines in the log get the outcome
  /// `wrongClock`.
  case takenBack(SuppressedStart)
  /// Adds the pending run, or replaces the one that has the same number.
  case pending(PendingRun)
  case pendingRemoved(run: UInt64)
  /// Sorts the pending runs by these numbers; runs that are not listed keep their order and follow the listed ones.
  case pendingOrder([UInt64])
  case log(WateringRecord)
  /// Sets the total time that the zone has run on that day. The first total of a new day clears the totals of the day before.
  case ran(ZoneID, seconds: Double, day: LocalDate)
  /// Replaces the deficits of all zones.
  case deficits([ZoneDeficit])
  /// Replaces the known flows of all zones.
  case flows([ZoneFlow])
  /// Sets the numbers of the next run and the next program.
  case counters(nextRun: UInt64, nextProgram: Int)
  /// Sets the instant up to which every start has been dealt with.
  case seen(WallInstant)
  /// Replaces all records with those of a restored backup. The log stays, and the counters never go back.
  case everything(SprinklerRecords)
}
