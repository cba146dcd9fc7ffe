import Tactus
import WallTime

/// The sprinkler's schedule and its book-keeping: when programs start, what people ask, what is noted.
///
/// Decides and does nothing else: it reads no clock and touches neither store nor valves. Every event goes in by `step`, and
/// what comes of it is returned. A value: a copy of it from before a step takes the step back. It allocates;
/// it is not for ticks. The rules are numbered in the folder's README.
public struct SprinklerScheduler: Sendable {
  public internal(set) var records: SprinklerRecords
  public private(set) var settings: SchedulerSettings
  public let calendar: ProgramCalendar

  /// What the step in progress has come to so far.
  var effects = SprinklerEffects()
  /// The wall clock at the step in progress, and how far it can be believed.
  var reading = WallReading(microseconds: 0, bootTime: .zero, isSynchronised: false, steady: .zero)
  /// The boot of the machine, and its clock at the step in progress.
  let boot: BootID?
  /// When the valves were closed from outside, by that clock, the earliest first. Empty if that is not known.
  let valvesClosed: [Double]
  var bootSeconds = 0.0
  /// At the first step, by that clock.
  var startedSeconds = 0.0
  /// How far the clock can be believed, as it was said last.
  var toldBelief = ""
  /// The records are those of no process before: `cursor` is the time at which this one began, by the wall clock.
  var isFirst = false
  /// The earliest time that the clock has shown since it was last confirmed, if it was set back; by the clock as it is now.
  var setBackTo: WallInstant?
  /// Since when what is due has waited for the clock to be confirmed, or `nil` if nothing waits.
  var heldSince: Double?
  /// The rain delay as it was when the step in progress began.
  var rainAtStart: RainDelay?
  /// Every start up to then has been dealt with.
  var cursor = WallInstant(secondsSince1970: 0)
  /// The next start of each enabled program, by id.
  var upcoming: [Int: ProgramCalendar.Start] = [:]
  /// The records' keys, for looking up.
  var keys: Set<StartKey> = []
  /// The zones that can run, by id.
  var usableZones: [ZoneID: Zone] = [:]
  var today = LocalDate(year: 1970, month: 1, day: 1)
  var nextMidnight = WallInstant(secondsSince1970: 0)
  /// What each zone had run on the day before this one, s: that day may come again if this one was made by a wrong clock.
  var dayBefore: (day: LocalDate, ran: [ZoneID: Double])?
  /// A person lifted a delay that the weather made: the forecast is not heeded until then, by the boot's clock, s.
  var weatherDeclinedUntil: Double?
  private var isStarted = false
  /// The records may be older than what was done last.
  let isRecovered: Bool
  /// Starts up to then may have been made, though the records do not know of them, or `nil` if it is not known how far that is.
  var recoveredUntil: WallInstant?
  /// Nothing can be due before.
  private var wake: WallInstant?

  /// - Parameters:
  ///   - boot: of the machine, or `nil` if it is not known, so that nothing can be told to be a power cut.
  ///   - isRecovered: the records are an earlier state, as a snapshot of the store is. What they leave to do may have been
  ///     done since: no run of theirs goes on, and no start before now is made up for.
  ///   - valvesClosed: when the valves were closed from outside, while the last process hung or after it had died, by the boot's clock, the earliest
  ///     first. A run is charged until the first of these instants after its valve was opened, or up to now if there is no such instant.
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

  /// One event at one instant. The first is `started`; anything else is our bug.
  ///
  /// Cost: a comparison when time passes and nothing is due; otherwise by the number of programs and runs.
  /// - Parameter now: the time of day, which may jump, with the boot's clock, which never goes back and goes on when the program is started
  ///   again.
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
    case .ended(let run, let seconds, let outcome): ended(run, ran: seconds, outcome, wall)
    case .refused(let run, let refusal): ended(run, ran: 0, RunOutcome(refusal), wall)
    case .progress(let list): note(list)
    case .weather(let verdict): weather(verdict)
    case .settings(let new): settings.takeRules(of: new)
    }
    if counters != (records.nextRun, records.nextProgram) {
      change(.counters(nextRun: records.nextRun, nextProgram: records.nextProgram))
    }
    if !effects.changes.isEmpty, records.seen != cursor { change(.seen(cursor)) }
    setWake(wall)
    return effects
  }

  /// When `timePassed` will next have something to do, if the clock is not set and nothing else happens, or `nil` for never.
  public var nextDeadline: WallInstant? { wake }

  /// What a zone has run on the local day of that instant, runs that are open not counted, s.
  public func ranToday(_ zone: ZoneID, at instant: WallInstant) -> Double {
    records.day == settings.zone.local(instant).date ? records.ranToday[zone] ?? 0 : 0
  }

  /// The rain delay if it is in force at that instant.
  public func rainDelay(at instant: WallInstant) -> RainDelay? {
    records.rainDelay.flatMap { $0.until > instant ? $0 : nil }
  }

  /// The records change, and the store's will.
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
    if let wait = rainDelayWait { next = min(next, wall + wait) }
    wake = next
  }
}

/// Who asks, when.
struct Request {
  var caller: String?
  var wall: WallInstant
}

extension RunOutcome {
  /// What the log says of a run that the machine did not take.
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
