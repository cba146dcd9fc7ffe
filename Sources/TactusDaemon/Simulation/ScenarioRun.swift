import Tactus

/// A scenario being played: production loops in simulated time, and the timeline of what happened.
public protocol ScenarioRun {
  /// What the simulated system is made of.
  associatedtype Setup
  /// What an event does to it.
  associatedtype Action
  /// One thing that an expectation demands.
  associatedtype Check

  /// What is played.
  var scenario: Scenario<Setup, Action, Check> { get }
  /// Takes every line of the run, and counts the expectations that were not met.
  var timeline: ScenarioTimeline { get set }
  /// The instant up to which everything has happened.
  var now: TickInstant { get }

  /// Lets time pass, and says what happened. `instant` may be now.
  mutating func run(to instant: TickInstant)
  /// Does at `now` what an event says, and says so.
  mutating func apply(_ action: Action)
  /// Compares the system with one check and puts the result on the timeline. Time has passed up to `at`.
  ///
  /// - Parameter at: the time since the start at which the check is due.
  mutating func check(_ check: Check, at: Nanoseconds)
  /// Ends the run, says what happened meanwhile, and the sums.
  mutating func finish()
}

extension ScenarioRun {
  /// Plays it to the end. True when every expectation was met.
  mutating func play() -> Bool {
    timeline.print("\(scenario.name) (seed \(scenario.seed))")
    var schedule = ScenarioSchedule(scenario.events, scenario.expectations, duration: scenario.duration)
    while let (at, step) = schedule.next() {
      run(to: at)
      switch step {
      case .event(let event): apply(event.action)
      case .expectation(let expectation):
        for one in expectation.checks { check(one, at: expectation.at) }
      }
    }
    run(to: schedule.end)
    for (at, text) in schedule.late { timeline.fail(at, text) }
    finish()
    return timeline.conclude()
  }

  /// Adds a line to the timeline at `now`: the text behind `who`, who or what did it.
  public func say(_ who: String, _ text: String) { timeline.say(now, who, text) }
}

extension ScenarioTimeline {
  /// The last sum: what two equal runs have in common.
  public func printTrace(_ hash: UInt64) {
    print("trace \(String(hash, radix: 16)): the same for the same file and seed")
  }
}
