import Service
import Sprinkler
import Tactus
import WallTime

/// A sprinkler's days being played: the production scheduler and machine in simulated time, and the calendar of what happened.
struct SprinklerScenarioRun: ~Copyable {
  let scenario: SprinklerScenario
  /// Takes each line.
  private let print: (String) -> Void
  private var world: ScheduleSimulation
  private var calendar: SprinklerCalendar
  /// Notices that the calendar has.
  private var noted = 0

  init(_ scenario: SprinklerScenario, print: @escaping (String) -> Void) {
    self.scenario = scenario
    self.print = print
    world = ScheduleSimulation(
      scenario.records, settings: scenario.settings, irrigation: scenario.irrigation, start: scenario.start)
    calendar = SprinklerCalendar(scenario)
  }

  /// Plays it to the end. True when everything held that must hold.
  mutating func play() -> Bool {
    var settling: [(at: WallInstant, seconds: Int64)] = []
    for event in scenario.allEvents where event.at < scenario.end {
      while let step = settling.first, step.at <= event.at { setRight(&settling) }
      advance(to: event.at)
      apply(event, settling: &settling)
    }
    while !settling.isEmpty { setRight(&settling) }
    advance(to: scenario.end)
    world.settle()
    calendar.take(world.log)
    calendar.print(print)
    summarize()
    return world.checks.failures.isEmpty
  }

  /// By a clock that is always right.
  private var time: WallInstant { scenario.start + world.now.nanoseconds / 1_000_000_000 }

  private mutating func advance(to instant: WallInstant) {
    let missing = instant - time
    if missing > 0 { world.run(for: .seconds(missing)) }
    takeNotices()
  }

  /// A clock that stood still during an outage is set a minute after it.
  private mutating func setRight(_ settling: inout [(at: WallInstant, seconds: Int64)]) {
    let step = settling.removeFirst()
    advance(to: step.at)
    world.stepClock(by: step.seconds)
    takeNotices()
  }

  private mutating func apply(
    _ event: SprinklerScenario.Event, settling: inout [(at: WallInstant, seconds: Int64)]
  ) {
    switch event.action {
    case .command(let command):
      let effects = world.ask(command)
      calendar.note(time, SprinklerWords.command(command) + (effects.refusal.map { ": refused, \($0)" } ?? ""))
    case .forecast(let hours, let millimetres):
      let reason = "\(SprinklerWords.number(millimetres)) mm expected"
      calendar.note(time, "forecast: \(reason) within \(SprinklerWords.number(hours)) h")
      world.forecast(.rain(seconds: Int(saturating: hours * 3_600), reason: reason))
    case .powerCut(let outage, let clockStands):
      let seconds = outage.count / 1_000_000_000
      calendar.note(
        time,
        "the power fails for \(SprinklerWords.minutes(Double(seconds))) min"
          + (clockStands ? ", the clock stands still" : ""))
      world.powerCut(for: outage, clockLoss: clockStands ? seconds : 0)
      if clockStands { settling.append((time + 60, seconds)) }
    case .restart(let pause):
      calendar.note(time, "restarted, \(pause)")
      world.restart(after: pause)
    case .clockStep(let seconds):
      calendar.note(time, "the clock is set by \(seconds) s")
      world.stepClock(by: seconds)
    case .emergencyStop:
      calendar.note(time, "e-stop")
      world.emergencyStop()
    case .reset:
      calendar.note(time, "reset")
      world.reset()
    }
    takeNotices()
  }

  /// What the scheduler said that is not in the log's lines.
  private mutating func takeNotices() {
    for (at, notice) in world.notices[noted...] {
      switch notice {
      case .interrupted(_, let zone, _, let ran, let left, let isResumed):
        let rest = "\(SprinklerWords.minutes(Double(left))) min left: \(isResumed ? "resumed" : "closed")"
        calendar.note(at, "zone \(zone) was interrupted after \(SprinklerWords.minutes(ran)) min, \(rest)")
      case .longAbsence: calendar.note(at, "away for long: starts further back than a week are not looked for")
      case .startTakenBack(_, let name, let due, _):
        let (date, second) = scenario.settings.zone.local(due)
        calendar.note(at, "\(name) is due again: a wrong clock had written \(date) \(SprinklerWords.time(second)) off")
      case .programStarted, .programSkipped, .rainDelaySet, .rainDelayOver, .clockStepped, .clockBelieved,
        .queueNotResumed:
        break
      }
    }
    noted = world.notices.count
  }

  private borrowing func summarize() {
    let checks = world.checks
    let water = checks.flowed.values.reduce(0) { $0 + $1.inSeconds }
    let logged = checks.logged.values.reduce(0, +)
    let lost = checks.lost.values.reduce(0, +)
    // `lost` is never more than 0: an interrupted run is charged with at least what it ran.
    print(
      "water: \(SprinklerWords.number(water)) s flowed, \(SprinklerWords.number(logged)) s are in the log, "
        + "\(SprinklerWords.number(-lost)) s of them more than interrupted runs ran")
    for failure in checks.failures { print("FAILED \(failure)") }
    print(
      "checks: \(checks.looks) looks at valves, limits, starts, rain and accounts, "
        + (checks.failures.isEmpty ? "everything held" : "\(checks.failures.count) did not hold"))
  }
}
