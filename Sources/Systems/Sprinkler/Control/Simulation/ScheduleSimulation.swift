import Tactus
import WallTime

/// A sprinkler in simulated time: the production scheduler and the production machine, a store that is a value, a clock that
/// can be set, and power that can fail.
///
/// It goes from deadline to deadline, so that a year costs what happens in it. The same calls give the same run. What must
/// hold whatever happens is looked at all the time: `checks`.
public struct ScheduleSimulation: ~Copyable {
  /// Since the simulation's start; goes on while the power is off.
  public private(set) var now = TickInstant.zero
  public private(set) var scheduler: SprinklerScheduler
  /// What a store would have.
  public private(set) var stored: SprinklerRecords
  public private(set) var log: [WateringRecord] = []
  /// What the scheduler said, and when.
  public private(set) var notices: [(at: WallInstant, notice: SprinklerNotice)] = []
  public private(set) var checks: ScheduleChecks
  private var machine: IrrigationMachine
  // Never written. Swift 6.2 lets an initialiser call nothing that mutates once there is a constant.
  private var settings: SchedulerSettings
  private var irrigation: IrrigationSettings
  /// Whether something keeps the wall clock, as NTP does.
  public var isClockSynchronised = true
  private var watch = WallWatch(boot: BootID("1"))
  /// The wall clock at `now` zero, if it had not been set since.
  private var wallAtZero: WallInstant
  private var nextProgress = TickInstant.distantFuture
  /// The machine's boots so far, and when the last one began.
  private var boots = 1
  private var bootedAt = TickInstant.zero

  /// Open runs are noted so often, s.
  public static var progressPeriod: Nanoseconds { .seconds(60) }

  public init(
    _ records: SprinklerRecords, settings: SchedulerSettings, irrigation: IrrigationSettings, start: WallInstant
  ) {
    var settings = settings
    settings.noteSeconds = Int(Self.progressPeriod.count / 1_000_000_000)
    self.settings = settings
    self.irrigation = irrigation
    stored = records
    wallAtZero = start
    scheduler = SprinklerScheduler(records, settings: settings, boot: BootID("1"))
    machine = IrrigationMachine(irrigation)
    checks = ScheduleChecks(irrigation, settings)
    checks.know(records.zones, at: now)
    begin()
  }

  /// At the end: the accounts.
  public mutating func settle() { checks.settle(at: now) }

  /// What a clock on the wall shows now.
  public var wall: WallInstant { wallAtZero + now.nanoseconds / 1_000_000_000 }

  /// Lets time pass.
  public mutating func run(for span: Nanoseconds) { run(until: now + span) }

  /// Lets time pass until the wall clock shows that instant.
  public mutating func run(untilWall instant: WallInstant) {
    guard wall < instant else { return }
    run(until: TickInstant(nanoseconds: (instant - wallAtZero) * 1_000_000_000))
  }

  private mutating func run(until end: TickInstant) {
    while true {
      var next = min(end, nextProgress)
      if let deadline = machine.nextDeadline { next = min(next, deadline) }
      if let deadline = scheduler.nextDeadline {
        next = min(next, TickInstant(nanoseconds: (deadline - wallAtZero) * 1_000_000_000))
      }
      now = max(now, next)
      tick()
      if next >= end { return }
    }
  }

  /// A person asks. What comes of it, or why nothing.
  @discardableResult
  public mutating func ask(_ command: SprinklerCommand, caller: String = "somebody") -> SprinklerEffects {
    step(.command(command, caller: caller))
  }

  /// Other rules from now on.
  public mutating func take(_ settings: SchedulerSettings) { step(.settings(settings)) }

  public mutating func forecast(_ verdict: WeatherVerdict) { step(.weather(verdict)) }

  public mutating func emergencyStop() { tell(.emergencyStop) }
  public mutating func reset() { tell(.reset) }

  /// Somebody, or something, sets the wall clock.
  public mutating func stepClock(by seconds: Int64) {
    wallAtZero = wallAtZero + seconds
    step(.timePassed)
  }

  /// The power fails; after so long everything begins with what the store has.
  ///
  /// - Parameter clockLoss: the clock of a machine without a battery goes on so many seconds behind.
  public mutating func powerCut(for outage: Nanoseconds, clockLoss: Int64 = 0) {
    checks.valvesFell(at: now)
    now = now + outage
    wallAtZero = wallAtZero - clockLoss
    boots += 1
    bootedAt = now
    restart()
  }

  /// The program is killed, its guard closes the valves at once, and after `pause` everything begins with what the store has.
  public mutating func kill(for pause: Nanoseconds) {
    checks.valvesFell(at: now)
    now = now + pause
    restart()
  }

  /// Ends the program in order, and starts it again after `pause`.
  ///
  /// - Parameter isReboot: whether the whole machine reboots.
  public mutating func restart(after pause: Nanoseconds, isReboot: Bool = false) {
    tell(.shutdown)
    checks.valvesFell(at: now)
    now = now + pause
    if isReboot {
      boots += 1
      bootedAt = now
    }
    restart()
  }

  private mutating func restart() {
    machine = IrrigationMachine(irrigation)
    scheduler = SprinklerScheduler(stored, settings: settings, boot: BootID("\(boots)"))
    nextProgress = .distantFuture
    watch = WallWatch(boot: BootID("\(boots)"))
    begin()
  }

  private mutating func begin() {
    // The first tick turns every line off.
    tell(.tick)
    step(.started)
  }

  // MARK: one instant

  /// The deadline of any of them.
  private mutating func tick() {
    if let deadline = machine.nextDeadline, deadline <= now { tell(.tick) }
    step(.timePassed)
    guard now >= nextProgress else { return }
    let progress = checks.progress(at: now)
    nextProgress = progress.isEmpty ? .distantFuture : now + Self.progressPeriod
    if !progress.isEmpty { step(.progress(progress)) }
  }

  @discardableResult
  private mutating func step(_ event: SprinklerEvent) -> SprinklerEffects {
    let reading = watch.read(
      WallWatch.Sample(
        microseconds: wallAtZero.secondsSince1970 * 1_000_000 + now.nanoseconds / 1_000,
        bootTime: TickInstant(nanoseconds: (now - bootedAt).count), isSynchronised: isClockSynchronised))
    let effects = scheduler.step(event, at: reading)
    // The store has it before a valve moves.
    for change in effects.changes {
      stored.apply(change)
      checks.take(change, at: now)
      if case .log(let record) = change { log.append(record) }
      if case .takenBack(let start) = change {
        for index in log.indices where log[index].isOf(start) { log[index].outcome = .wrongClock }
      }
    }
    for notice in effects.notices { notices.append((wall, notice)) }
    for order in effects.orders {
      guard let event = SprinklerRequest(number: 0, issued: now, order).event(at: now) else { continue }
      let verdict = tell(event)
      if case .run(let run, _) = order, case .refused(let why) = verdict {
        step(.refused(run: run.id, why))
      }
    }
    return effects
  }

  @discardableResult
  private mutating func tell(_ event: IrrigationEvent) -> IrrigationVerdict {
    let action = machine.step(event, at: now)
    if let lines = action.lines {
      checks.take(lines: lines, at: now)
      _ = machine.step(.linesConfirmed, at: now)
    }
    takeNotices()
    return action.verdict
  }

  private mutating func takeNotices() {
    while let notice = machine.takeNotice() {
      switch notice.subject {
      case .opened(let run):
        checks.opened(run, rain: scheduler.rainDelay(at: wall) != nil, at: now)
        if nextProgress == .distantFuture { nextProgress = now + Self.progressPeriod }
        step(.opened(run: run.id))
      case .reopened(let run, _): step(.opened(run: run.id))
      case .ended(let run):
        checks.ended(run)
        step(.ended(run: run.run.id, ranSeconds: run.ran.inSeconds, outcome: run.outcome))
      default: break
      }
    }
  }
}
