@_spi(FromOutside) import Conversions
import Tactus
import Yams

/// The simulated world of one kind of scenario: production loops in simulated time, and the keys of the file that set
/// it up, act on it and check it. All kinds also have the keys `name`, `seed`, `duration_s`, `events` and `expect`.
public protocol ScenarioWorld {
  /// The description of the world in a file.
  associatedtype Setup

  /// The key by which a file is recognised as one of this kind, or `nil` if every file is one.
  static var part: String? { get }
  /// The setup of a file that does not describe one.
  static var standard: Setup { get }
  /// The keys of a file besides those that all kinds have. A file without them leaves the setup as it is.
  static var keys: [ScenarioWord<Setup>] { get }
  /// Returns the duration of a file that does not state one.
  static func duration(_ setup: Setup) -> Nanoseconds
  /// Returns the key that states the time since the start in an item of `events` or `expect`.
  static func instant(_ setup: Setup) -> ScenarioCompany<Nanoseconds>
  /// Returns the events, of which each item of `events` has exactly one.
  static func events(_ setup: Setup) -> [ScenarioWord<Self>]
  /// Returns the checks. Each item of `expect` contains one or more of them.
  static func checks(_ setup: Setup) -> [ScenarioCheck<Self>]

  /// Creates the world at the start.
  ///
  /// - Throws: the errors of the loops or of a temporary store.
  init(_ setup: Setup, seed: UInt64, _ timeline: ScenarioTimeline) throws
  /// The timeline, which receives every line of the run.
  var timeline: ScenarioTimeline { get set }
  /// The present instant of the simulation.
  var now: TickInstant { get }
  /// Runs the simulation to an instant, which may be the present one, and adds what happened to the timeline.
  mutating func run(to instant: TickInstant)
  /// Ends the run, and adds what happened meanwhile and the totals to the timeline.
  mutating func finish()
}

extension ScenarioWorld {
  /// Returns the key `at_s`, in seconds.
  public static func instant(_ setup: Setup) -> ScenarioCompany<Nanoseconds> {
    ScenarioCompany("at_s", ScenarioValue<Double>.number(0...86_400).map { .seconds($0) })
  }

  /// Returns whether a file is a scenario of this kind.
  static func reads(_ file: YAMLFile) -> Bool { part.map { file.root?.mapping?[$0] != nil } ?? true }

  /// Adds a line to the timeline at `now`. `who` is the source of the event, and `text` describes the event.
  public func say(_ who: String, _ text: String) { timeline.say(now, who, text) }
}

extension ScenarioWord where Target: ScenarioWorld {
  /// Returns the event `stall_s`, which makes the next tick of the world's loop take longer by a time.
  public static func stall(_ stall: @escaping (Target, Nanoseconds) -> Void) -> Self {
    Self("stall_s", .number(0.001...3600)) { world, seconds in
      stall(world, .seconds(seconds))
      world.say("loop", "the next tick takes \(Nanoseconds.seconds(seconds)) longer")
    }
  }
}

extension YAMLFile {
  /// Plays a scenario from its beginning to its end.
  ///
  /// - Returns: whether all its expectations were met, or `nil` if the file is no scenario of this world.
  /// - Throws: `ConfigErrors` of the file, and what the world's initializer throws.
  public func play<World: ScenarioWorld>(in world: World.Type, seed: UInt64?) throws -> Bool? {
    guard World.reads(self) else { return nil }
    var scenario = try Scenario<World>(self)
    if let seed { scenario.seed = seed }
    return try scenario.play { print($0) }
  }
}
