import Tactus

/// The events and expectations of a simulated world.
struct Scenario<World: ScenarioWorld> {
  /// An event or an expectation.
  struct Step {
    var at: Nanoseconds
    /// The participle of the error about a step after the end: `happened` or `checked`.
    var late: String
    /// Performs the event or checks the expectation, and adds the result to the timeline.
    var act: (inout World) -> Void
  }

  var name: String
  /// The seed of all random numbers in the run; 1 unless the file or the command line gives another.
  var seed: UInt64 = 1
  /// The duration that the file gives, or `nil` for the one that the world has with this setup.
  var duration: Nanoseconds?
  /// The setup from the file. Values that the file does not give are those of `World.standard`.
  var setup = World.standard
  /// The steps in the order of time. At the same instant events precede expectations.
  var steps: [Step] = []

  /// Plays the scenario to the end, and gives each line of its timeline to `print`, with what a person would not see
  /// escaped. Returns whether every expectation was met.
  ///
  /// - Throws: what the world's initializer throws.
  func play(print: @escaping (String) -> Void) throws -> Bool {
    // The texts of the file are in the lines.
    let show: (String) -> Void = { print(JSONLine.inOneLine($0)) }
    var world = try World(setup, seed: seed, ScenarioTimeline(print: show))
    show("\(name) (seed \(seed))")
    let (end, checks) = (duration ?? World.duration(setup), World.checks(setup))
    func trace() { for case let seen? in checks.map(\.seen) { world.timeline.trace.add(seen(world)) } }
    for step in steps where step.at <= end {
      world.run(to: .zero + step.at)
      step.act(&world)
      trace()
    }
    world.run(to: .zero + end)
    trace()
    for step in steps where step.at > end {
      world.timeline.fail(step.at, "after the end of the scenario: never \(step.late)")
    }
    world.finish()
    return world.timeline.conclude()
  }
}
