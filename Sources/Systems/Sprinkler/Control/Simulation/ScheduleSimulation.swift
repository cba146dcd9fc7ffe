@_spi(FromOutside) import Conversions
import Tactus
import WallTime

/// A sprinkler in simulated time: the production scheduler and irrigation machine, with a value as the store, a clock that
/// can be set, and power that can fail.
///
/// The simulation jumps from deadline to deadline, so that a year costs only the events in it. It is deterministic: the same calls give the
/// same run. `checks` verifies the invariants all the time.
public struct ScheduleSimulation: ~Copyable {
  /// The time since the simulation started, including power cuts.
  public private(set) var now = TickInstant.zero
  public private(set) var scheduler: SprinklerScheduler
  /// The records that a store would hold.
  public private(set) var stored: SprinklerRecords
  public private(set) var log: [WateringRecord] = []
  /// The scheduler's notices, each with its wall time.
  public private(set) var notices: [(at: WallInstant, notice: SprinklerNotice)] = []
  public private(set) var checks: ScheduleChecks
  private var machine: IrrigationMachine
  // These are never written; they are variables because Swift 6.2 allows no mutating call in an initialiser of a type with constants.
  private var settings: SchedulerSettings
  private var irrigation: IrrigationSettings
  /// Whether the wall clock counts as synchronised, as by NTP.
  public var isClockSynchronised = true
  private var watch = WallWatch(boot: BootID("1"))
  /// The wall time at which `now` was zero, on the clock as currently set.
  private var wallAtZero: WallInstant
  private var nextProgress = TickInstant.distantFuture
  /// The number of boots so far.
  private var boots = 1
  /// The instant at which the current boot began.
  private var bootedAt = TickInstant.zero

  /// The interval at which the times of open runs are saved.
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

  /// Checks, at the end, that the log accounts for all the water.
  public mutating func settle() { checks.settle(at: now) }

  /// The wall time now.
  public var wall: WallInstant { wallAtZero + now.nanoseconds / 1_000_000_000 }

  /// Simulates the next `span`.
  public mutating func run(for span: Nanoseconds) { run(until: now + span) }

  /// Simulates the time until the wall clock shows `instant`.
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

  /// Carries out a person's command and returns its effects, or the refusal in them.
  @discardableResult
  public mutating func ask(_ command: SprinklerCommand, caller: String = "somebody") -> SprinklerEffects {
    step(.command(command, caller: caller))
  }

  /// Replaces the rules of the schedules from now on.
  public mutating func apply(_ settings: SchedulerSettings) { step(.settings(settings)) }

  public mutating func forecast(_ verdict: WeatherVerdict) { step(.weather(verdict)) }

  /// Passes the weather of the last days to the scheduler.
  public mutating func report(_ weather: PastWeather) { step(.pastWeather(weather)) }

  /// Passes readings of the soil to the scheduler, which receives no others.
  public mutating func moisten(_ readings: [MoistureReading]) { step(.moisture(readings)) }

  /// Passes a reading of the rain sensor to the scheduler.
  public mutating func senseRain(_ reading: RainSensorReading) { step(.rainSensor(reading)) }

  public mutating func emergencyStop() { stepMachine(.order(.emergencyStop)) }
  public mutating func reset() { stepMachine(.order(.reset)) }

  /// Sets the wall clock forward or, with a negative number, back.
  public mutating func stepClock(by seconds: Int64) {
    wallAtZero = wallAtZero + seconds
    step(.timePassed)
  }

  /// Cuts the power; after `outage` the sprinkler starts again with the stored records.
  ///
  /// - Parameter clockLoss: the seconds by which the clock of a computer without a battery then lags behind.
  public mutating func powerCut(for outage: Nanoseconds, clockLoss: Int64 = 0) {
    checks.valvesFell(at: now)
    now = now + outage
    wallAtZero = wallAtZero - clockLoss
    boots += 1
    bootedAt = now
    restart()
  }

  /// Kills the daemon, so that the guard closes the valves immediately; after `pause` the sprinkler starts again with the stored records.
  public mutating func kill(for pause: Nanoseconds) {
    checks.valvesFell(at: now)
    now = now + pause
    restart()
  }

  /// Shuts the daemon down in order, and starts it again after `pause`.
  ///
  /// - Parameter isReboot: whether the whole computer reboots.
  public mutating func restart(after pause: Nanoseconds, isReboot: Bool = false) {
    stepMachine(.shutdown)
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
    stepMachine(.tick)
    step(.started)
  }

  // MARK: one instant

  /// Handles the deadlines of the machine, the scheduler and the saving of progress that are due now.
  private mutating func tick() {
    if let deadline = machine.nextDeadline, deadline <= now { stepMachine(.tick) }
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
    // The store has the changes before a valve moves.
    for change in effects.changes {
      stored.apply(change)
      checks.record(change, at: now)
      if case .log(let record) = change { log.append(record) }
      if case .takenBack(let start) = change {
        for index in log.indices where log[index].isOf(start) { log[index].outcome = .wrongClock }
      }
    }
    for notice in effects.notices { notices.append((wall, notice)) }
    for order in effects.orders {
      let verdict = stepMachine(.order(order))
      if case .run(let run, _) = order, case .refused(let why) = verdict {
        step(.refused(run: run.id, why))
      }
    }
    return effects
  }

  @discardableResult
  private mutating func stepMachine(_ event: IrrigationEvent) -> IrrigationVerdict {
    let action = machine.step(event, at: now)
    if let lines = action.lines {
      checks.record(lines: lines, at: now)
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
        step(
          .ended(run: run.run.id, ranSeconds: run.ran.inSeconds, outcome: run.outcome, pulses: run.pulses))
      default: break
      }
    }
  }
}
