/// A protocol for a system whose file can select simulated hardware (`backend: sim`) while the rest of the program is
/// real.
public protocol MayBeSimulated: DeviceSystem {
  /// Returns whether the file selects simulated hardware. In that case the system claims only UDP ports, and the guard
  /// has no outputs of the system.
  static func isSimulated(_ wiring: Wiring) -> Bool
}

extension MayBeSimulated {
  /// Returns whether values of this system, passed without their type, select simulated hardware.
  static func isSimulatedBy(_ wiring: any Settings) -> Bool { (wiring as? Wiring).map { isSimulated($0) } ?? false }
}

/// A protocol for a system with scenarios of its own besides those that every declared system has.
public protocol Plays: DeviceSystem {
  /// Plays a scenario. For a `ScenarioWorld` the call `file.play(in: World.self, seed: seed)` does it.
  ///
  /// - Returns: whether every expectation of the file was met, or `nil` if the file is not in this language.
  /// - Throws: `ConfigErrors` if the file is invalid.
  static func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool?
  /// The subject of the simulation as part of a sentence in the help of `sim`.
  static var scenarioHelp: String { get }
}

/// A protocol for a system whose scenarios have events and checks in addition to those that are made from the
/// declaration. Their names must differ from those of the latter.
public protocol PlaysMore: DeviceSystem {
  /// The events, which change the state that the twins share.
  static var scenarioEvents: [ScenarioWord<DeclaredScenario<Self>>] { get }
  /// The checks of the system's state or of the state that the twins share.
  static var scenarioChecks: [ScenarioCheck<DeclaredScenario<Self>>] { get }
}

extension PlaysMore {
  /// An empty list: scenarios of the system have only the events that are made from the declaration.
  public static var scenarioEvents: [ScenarioWord<DeclaredScenario<Self>>] { [] }
  /// An empty list: scenarios of the system have only the checks that are made from the declaration.
  public static var scenarioChecks: [ScenarioCheck<DeclaredScenario<Self>>] { [] }
  // `World` is the scenario of this system, passed without its type.
  static func events<World>(in _: World.Type) -> [ScenarioWord<World>] { scenarioEvents as! [ScenarioWord<World>] }
  static func checks<World>(in _: World.Type) -> [ScenarioCheck<World>] { scenarioChecks as! [ScenarioCheck<World>] }
}
