import Tactus

/// What a scenario file says of one instant.
protocol ScenarioItem {
  var at: Nanoseconds { get }
}

/// What is still to happen and to be checked, in the order of time; of one instant what happens comes first.
struct ScenarioSchedule<Event: ScenarioItem, Expectation: ScenarioItem> {
  enum Step {
    case event(Event)
    case expectation(Expectation)
  }
  private var events: ArraySlice<Event>
  private var expectations: ArraySlice<Expectation>
  let end: TickInstant

  /// Both by time.
  init(_ events: [Event], _ expectations: [Expectation], duration: Nanoseconds) {
    (self.events, self.expectations) = (events[...], expectations[...])
    end = .zero + duration
  }

  /// Nil: nothing more before the end.
  mutating func next() -> (at: TickInstant, step: Step)? {
    let event = events.first.map { TickInstant.zero + $0.at } ?? .distantFuture
    let expectation = expectations.first.map { TickInstant.zero + $0.at } ?? .distantFuture
    guard min(event, expectation) <= end else { return nil }
    if event <= expectation { return (event, .event(events.removeFirst())) }
    return (expectation, .expectation(expectations.removeFirst()))
  }

  /// Beyond the end, and what that means.
  var late: [(at: Nanoseconds, text: String)] {
    expectations.map { ($0.at, "after the end of the scenario: never checked") }
      + events.map { ($0.at, "after the end of the scenario: never happened") }
  }
}
