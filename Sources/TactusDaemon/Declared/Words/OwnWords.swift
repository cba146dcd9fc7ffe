import Service
import ServiceDocuments
import Tactus
import Wire

/// Adopted by a system whose card is written by hand, and in part its description in OpenAPI: what the file says is
/// written over what is made from the declaration. `GET /api/systems` does not describe the system.
public protocol HasDocuments: DeviceSystem {
  /// The files that are written by hand.
  static var documents: SystemDocuments { get }
  /// The name of the schema of the state in OpenAPI; by default `PumpSnapshot` for `pump`.
  static var stateSchema: String { get }
  /// The name of the schema of the answer to `GET /api/NAME`, which is the state and `ok`; by default `Pump` for `pump`.
  static var documentSchema: String { get }
}

extension HasDocuments {
  /// The name of the system, followed by `Snapshot`.
  public static var stateSchema: String { "\(documentSchema)Snapshot" }
  /// The name of the system.
  public static var documentSchema: String { name.titled }
}

/// Adopted by a system with scenarios of its own besides those that every declared system has.
public protocol Plays: DeviceSystem {
  /// Plays a scenario, which `file.play(in: World.self, seed: seed)` does of a `ScenarioWorld`.
  ///
  /// - Returns: whether every expectation of the file was met, or `nil` if the file is not in this language.
  /// - Throws: `ConfigErrors` if the file is invalid.
  static func play(_ file: YAMLFile, seed: UInt64?) throws -> Bool?
  /// The subject of the simulation as part of a sentence in the help of `sim`.
  static var scenarioHelp: String { get }
}

/// Adopted by a system whose scenarios have events and checks besides those that are made of the declaration. Their names
/// must differ from the names of those.
public protocol PlaysMore: DeviceSystem {
  /// The events, which act on what the twins share.
  static var scenarioEvents: [ScenarioWord<DeclaredScenario<Self>>] { get }
  /// The checks of the state or of what the twins share.
  static var scenarioChecks: [ScenarioCheck<DeclaredScenario<Self>>] { get }
}

extension PlaysMore {
  /// There are no more events.
  public static var scenarioEvents: [ScenarioWord<DeclaredScenario<Self>>] { [] }
  /// There are no more checks.
  public static var scenarioChecks: [ScenarioCheck<DeclaredScenario<Self>>] { [] }
  // Of this system.
  static func events<World>(in _: World.Type) -> [ScenarioWord<World>] { scenarioEvents as! [ScenarioWord<World>] }
  static func checks<World>(in _: World.Type) -> [ScenarioCheck<World>] { scenarioChecks as! [ScenarioCheck<World>] }
}

/// Adopted by a system whose keys had other names in earlier versions.
public protocol Moved: DeviceSystem {
  /// The current names of keys by their names in earlier versions.
  static var movedKeys: [String: String] { get }
}

/// Adopted by a system whose entities in Home Assistant differ from those that its fields would make.
public protocol ShowsEntities: DeviceSystem {
  /// Returns the entities that Home Assistant shows for the system.
  static func entities(_ look: Look<Self>, on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity]
  /// The names of document members, at any depth, whose values change continuously. Their changes alone are published
  /// to the broker only occasionally.
  static var movingMembers: Set<String> { get }
}

extension ShowsEntities {
  static func shown(_ look: Any, on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    // Of this system.
    entities(look as! Look<Self>, on: topics, takesCommands: takesCommands)
  }
}

/// Adopted by a system with metrics that fields cannot express, such as histograms.
public protocol MeasuresMore: DeviceSystem {
  /// Writes these metrics, after those of the fields, for the state that the loop has last published. May be called
  /// from any thread.
  static func write(_ published: Published<State>, _ look: Look<Self>, into writer: inout MetricsWriter)
}

extension MeasuresMore {
  static func written(_ published: Any, _ look: Any, into writer: inout MetricsWriter) {
    // Of this system.
    write(published as! Published<State>, look as! Look<Self>, into: &writer)
  }
}
