@_spi(FromOutside) import Conversions
import Tactus
import WallTime

/// The sprinkler's scheduler: it decides when programs start, carries out commands, and keeps the records.
///
/// The scheduler only decides: it reads no clock and accesses neither the store nor the valves. Events are passed to `step`, which returns
/// their effects. It is a value, so a copy made before a step undoes the step. It allocates memory and is not for ticks. The rules are
/// numbered in the folder's README.
public struct SprinklerScheduler: Sendable {
  public internal(set) var records: SprinklerRecords
  public private(set) var settings: SchedulerSettings
  public let calendar: ProgramCalendar

  /// The effects of the step in progress so far.
  var effects = SprinklerEffects()
  /// The reading of the wall clock for the step in progress, with the trust in the clock.
  var reading = WallReading(microseconds: 0, bootTime: .zero, isSynchronised: false, steady: .zero)
  /// The current boot of the computer, or `nil` if it is not known.
  let boot: BootID?
  /// The instants at which the guard closed the valves, as seconds on the boot's clock, the earliest first; empty if none are known.
  let valvesClosed: [Double]
  /// The instant of the step in progress, as seconds on the boot's clock.
  var bootSeconds = 0.0
  /// The instant of the first step, as seconds on the boot's clock.
  var startedSeconds = 0.0
  /// The trust in the wall clock as last reported in a notice.
  var toldBelief = ""
  /// Whether the present process is the first one. `cursor` is then the wall time at which the process began.
  var isFirst = false
  /// The earliest time that the clock has shown since it was last confirmed, on the clock as it is now; `nil` if it was not set back.
  var setBackTo: WallInstant?
  /// The instant since which due starts wait for the clock to be confirmed, on the boot's clock, in seconds, or `nil` if
  /// none wait.
  var heldSince: Double?
  /// The rain delay at the beginning of the step in progress, or `nil` if there was none.
  var rainAtStart: RainDelay?
  /// The instant up to which every start has been dealt with.
  var cursor = WallInstant(secondsSince1970: 0)
  /// The next start of each enabled program, by the program's id.
  var upcoming: [Int: ProgramCalendar.Start] = [:]
  /// The records' start keys as a set, for fast look-up.
  var keys: Set<StartKey> = []
  /// The zones that can run, by id.
  var usableZones: [ZoneID: Zone] = [:]
  var today = LocalDate(year: 1970, month: 1, day: 1)
  var nextMidnight = WallInstant(secondsSince1970: 0)
  /// The totals of each zone on the day before the present one, in seconds. They are needed if the clock was wrong and the earlier day
  /// comes again.
  var dayBefore: (day: LocalDate, ran: [ZoneID: Double])?
  /// The readings of the soil since the start of the process.
  var soil = SoilBook()
  /// Whether new rules have changed the limits of zones. The valves' loop receives the limits once all valves are
  /// closed.
  var hasNewFlowRules = false
  /// The runs that were open together with another one.
  var sharedRuns: Set<UInt64> = []
  /// The runs that wet soil is about to end, each with the reason.
  var wetEnds: [UInt64: String] = [:]
  /// The instant until which forecasts are ignored because a person cancelled a delay that a forecast had started, on the boot's clock, in
  /// seconds.
  var weatherDeclinedUntil: Double?
  /// The knowledge of the rain sensor since the start of the process.
  var rainSensor = RainSensorBook()
  /// Whether the first step has been made.
  private(set) var isStarted = false
  /// Whether the records were recovered and may lack the most recent changes.
  let isRecovered: Bool
  /// The instant up to which starts may have been carried out although recovered records do not show it, or `nil` if it is not known yet.
  var recoveredUntil: WallInstant?
  /// The wall time before which no start is due, or `nil` before the first step.
  private var wake: WallInstant?

  /// Creates a scheduler from stored records.
  ///
  /// - Parameters:
  ///   - records: the records that the previous process left.
  ///   - settings: the configuration's settings of the schedules.
  ///   - boot: the current boot of the computer, or `nil` if it is not known, so that no interruption can be recognised as a power cut.
  ///   - isRecovered: whether the records are an earlier state, such as a snapshot of the store. Their pending runs may have been carried out
  ///     since, so none is resumed, and no start before now is caught up on.
  ///   - valvesClosed: the instants at which the guard closed the valves while the last process hung or after it had died, on the boot's clock, the
  ///     earliest first. A run is charged until the first of these instants after its valve opened, or until now if there is none.
  public init(
    _ records: SprinklerRecords, settings: SchedulerSettings, boot: BootID? = nil, isRecovered: Bool = false,
    valvesClosed: [TickInstant] = []
  ) {
    self.records = records
    self.valvesClosed = valvesClosed.map { Double($0.nanoseconds) / 1e9 }
    self.boot = boot
    self.settings = settings
    self.isRecovered = isRecovered
    calendar = ProgramCalendar(zone: settings.zone, place: settings.place)
  }

  /// Handles one event at one instant and returns its effects. The first event must be `started`; any other is a programming error.
  ///
  /// Cost: one comparison if time passes and nothing is due; otherwise proportional to the number of programs and runs.
  /// - Parameter now: the wall clock, which may jump, together with the boot's clock, which never goes back and continues across restarts of the
  ///   daemon.
  public mutating func step(_ event: SprinklerEvent, at now: WallReading) -> SprinklerEffects {
    effects = SprinklerEffects()
    let before = reading
    reading = now
    bootSeconds = Double(now.bootTime.nanoseconds) / 1e9
    let wall = WallInstant(now)
    let jump = isStarted && now.jumped != before.jumped ? now.jumped - before.jumped : nil
    if case .timePassed = event, jump == nil, isStarted, now.isSynchronised == before.isSynchronised,
      wake.map({ wall < $0 }) ?? true
    {
      return effects
    }
    if !now.isConfirmed { heldSince = heldSince ?? bootSeconds }
    let counters = (records.nextRun, records.nextProgram)
    if isStarted {
      if let jump { follow(jump) }
      if now.word != toldBelief { tellBelief() }
      followRainDelay()
      followRainSensor()
    }
    switch event {
    case .started:
      precondition(!isStarted, "started twice")
      isStarted = true
      startedSeconds = bootSeconds
      start(wall)
      tellBelief()
    case .timePassed:
      precondition(isStarted, "the first event is `started`")
      passTime(to: wall)
    case .command(let command, let caller):
      let before = self
      do throws(SprinklerRefusal) {
        try perform(command, Request(caller: caller, wall: wall))
      } catch {
        self = before
        effects.refusal = error
      }
    case .opened(let run): opened(run, wall)
    case .ended(let run, let seconds, let outcome, let pulses):
      ended(run, ran: seconds, outcome, litres: litres(pulses), wall)
    case .refused(let run, let refusal): ended(run, ran: 0, RunOutcome(refusal), litres: nil, wall)
    case .progress(let list): note(list)
    case .weather(let verdict): weather(verdict)
    case .pastWeather(let weather): receive(weather)
    case .moisture(let readings): receive(readings)
    case .rainSensor(let reading): sense(reading)
    case .settings(let new):
      let before = settings.zoneFlow
      settings.takeRules(of: new)
      if settings.zoneFlow != before { hasNewFlowRules = true }
    }
    // The event may have ended a rain delay that a wet sensor holds.
    followRainSensor()
    followFlowRules()
    if counters != (records.nextRun, records.nextProgram) {
      change(.counters(nextRun: records.nextRun, nextProgram: records.nextProgram))
    }
    if !effects.changes.isEmpty, records.seen != cursor { change(.seen(cursor)) }
    setWake(wall)
    return effects
  }

  /// The wall time at which `timePassed` will next have an effect if the clock is not set and no other event comes, or `nil` for never.
  public var nextDeadline: WallInstant? { wake }

  /// Returns the time that a zone has run on the local day of that instant, in seconds; open runs are not counted.
  public func ranToday(_ zone: ZoneID, at instant: WallInstant) -> Double {
    records.day == settings.zone.local(instant).date ? records.ranToday[zone] ?? 0 : 0
  }

  /// Returns the rain delay if one is in force at that instant, or `nil` otherwise.
  public func rainDelay(at instant: WallInstant) -> RainDelay? {
    records.rainDelay.flatMap { $0.until > instant ? $0 : nil }
  }

  /// Applies a change to the records and adds it to the effects for the store.
  mutating func change(_ change: SprinklerChange) {
    records.apply(change)
    effects.changes.append(change)
  }

  private mutating func setWake(_ wall: WallInstant) {
    var next = nextMidnight
    if let wait = reading.confirmedIn {
      next = wall + (wait.count + 999_999_999) / 1_000_000_000
    } else if let due = upcoming.values.map(\.at).min() {
      next = min(next, due)
    }
    for wait in [rainDelayWait, rainSensorWait] { next = min(next, wait.map { wall + $0 } ?? next) }
    wake = next
  }
}

/// The caller of a command, and the wall time of the step that carries it out.
struct Request {
  var caller: String?
  var wall: WallInstant
}

extension RunOutcome {
  /// Creates the outcome that is logged for a run that the machine refused.
  init(_ refusal: IrrigationRefusal) {
    self =
      switch refusal {
      case .zoneDisabled, .noSuchZone, .zoneHasNoLine: .disabled
      case .longerThanMaximum: .runLimit
      case .dayLimitReached: .dayLimit
      case .rainDelay: .rainDelay
      case .queueFull: .overlap
      case .emergencyStopped: .emergencyStop
      case .shutDown: .shutdown
      default: .fault
      }
  }
}

// The consequences of setting the wall clock.
extension SprinklerScheduler {
  /// Shifts the times of pending runs by the jump of the wall clock, so that they are logged by the clock as it is now.
  mutating func follow(_ jump: Nanoseconds) {
    let seconds = (Double(jump.count) / 1e9).rounded()
    let shift = Int64(saturating: seconds)
    effects.notices.append(.clockStepped(seconds: shift))
    setBackTo = setBackTo.map { $0 + shift }
    if shift < 0 { setBackTo = min(setBackTo ?? WallInstant(reading), WallInstant(reading)) }
    if isFirst {
      // Before the very first start of the daemon no program start can have been missed.
      cursor = cursor + shift
      planAll(after: cursor)
    }
    for var run in records.pending {
      run.queued = run.queued + shift
      run.opened = run.opened.map { $0 + shift }
      change(.pending(run))
    }
  }

  mutating func tellBelief() {
    toldBelief = reading.word
    effects.notices.append(.clockBelieved(toldBelief))
  }

  /// Deals with a clock that was set back before starts that were dealt with. Starts that made a run keep their keys and do not happen again.
  /// Starts that made no run are due again: at their time if that is in the future by this clock, or now if they were missed and are not late.
  ///
  /// - Parameter back: the instant after which starts are to be dealt with again.
  mutating func takeBack(from back: WallInstant, at wall: WallInstant) {
    let inTime = wall - Int64(settings.catchUpSeconds)
    let wrong = records.suppressed.filter { $0.due > wall || $0.why == .missed && $0.due > inTime }
    for start in wrong {
      change(.takenBack(start))
      keys.remove(start.key)
      guard let program = records.programs.first(where: { $0.id == start.key.program }) else { continue }
      effects.notices.append(
        .startTakenBack(id: program.id, name: program.name, due: start.due, was: start.why))
    }
    recoveredUntil = recoveredUntil.map { min($0, wall) }
    cursor = back
    planAll(after: cursor)
    // Starts that have just passed are planned again, but only those that were due: a changed or newer program may not have had them.
    for start in wrong where start.due <= back {
      guard let program = records.programs.first(where: { $0.id == start.key.program }), program.isEnabled,
        calendar.starts(program, on: start.key.date), program.starts.contains(start.key.start),
        upcoming[program.id].map({ start.due < $0.at }) ?? true
      else { continue }
      upcoming[program.id] = ProgramCalendar.Start(key: start.key, at: start.due)
    }
  }
}
