import Tactus

/// A scenario being played: production loops in simulated time, and the timeline of what happened.
package protocol ScenarioRun {
  associatedtype Setup
  associatedtype Action
  associatedtype Check

  var scenario: Scenario<Setup, Action, Check> { get }
  var timeline: ScenarioTimeline { get set }
  /// The instant up to which everything has happened.
  var now: TickInstant { get }

  /// Lets time pass, and says what happened. `instant` may be now.
  mutating func run(to instant: TickInstant)
  mutating func apply(_ action: Action)
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

  package func say(_ who: String, _ text: String) { timeline.say(now, who, text) }
}

extension ScenarioTimeline {
  /// The last sum: what two equal runs have in common.
  package func printTrace(_ hash: UInt64) {
    print("trace \(String(hash, radix: 16)): the same for the same file and seed")
  }
}
