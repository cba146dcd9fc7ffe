/// All plants and probes, as `GET /api/plants` says them.
public struct PlantsState: Codable, Equatable, Sendable {
  /// How plants are.
  public struct Mode: DaemonWord {
    /// The word.
    public var rawValue: String
    /// Takes any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// All is well.
    public static let ok: Mode = "ok"
    /// Something is wrong; the alerts say what.
    public static let problem: Mode = "problem"
    /// All of them.
    public static let known: [Mode] = [.ok, .problem]
  }

  /// One plant.
  public struct Plant: Codable, Equatable, Sendable, Identifiable {
    /// Its link to a zone of the sprinkler.
    public struct Watering: Codable, Equatable, Sendable {
      /// The zone.
      public var zone: Int
      /// How much water each time, seconds.
      public var seconds: Int
      /// Whether somebody must say first that it may be watered.
      public var needsConfirmation: Bool
      /// What a dry plant waits for, in words; `nil` for nothing.
      public var waitsFor: String?
    }

    /// Its number, given once and never again.
    public var id: Int
    /// How it is.
    public var state: Mode
    /// Its name.
    public var name: String
    /// The names of its probes.
    public var sensors: [String]
    /// Its moisture, percent; `nil` if no probe answers.
    public var moisturePercent: Double?
    /// Its temperature, °C; `nil` if no thermometer answers.
    public var temperatureCelsius: Double?
    /// What is wrong: `dry`, `wet`, `cold`, `hot`, `silent`; empty if all is well.
    public var alerts: [String]
    /// Below it the plant is dry, percent; `nil` for no limit.
    public var dryPercent: Double?
    /// Above it the plant is wet, percent; `nil` for no limit.
    public var wetPercent: Double?
    /// Below it the plant is cold, °C; `nil` for no limit.
    public var coldCelsius: Double?
    /// Above it the plant is hot, °C; `nil` for no limit.
    public var hotCelsius: Double?
    /// When it was last watered, ISO 8601; `nil` if that is not known.
    public var lastWateredISO: String?
    /// Its link to the sprinkler; `nil` if there is none.
    public var watering: Watering?
  }

  /// One soil probe.
  public struct Sensor: Codable, Equatable, Sendable, Identifiable {
    /// What clients call it.
    public var id: String
    /// Its moisture, percent; `nil` if it does not answer.
    public var moisturePercent: Double?
    /// Its temperature, °C; `nil` if it has none.
    public var temperatureCelsius: Double?
    /// Whether it was read lately enough to count.
    public var isFresh: Bool
    /// Since it was read, milliseconds; `nil` if it never was.
    public var ageMs: Double?
    /// Why it cannot be read now; `nil` if it can.
    public var lastFailure: String?
    /// The numbers of the plants that it is in.
    public var plants: [Int]
  }

  /// How all plants are.
  public var state: Mode
  /// The plants, by number; of more than a hundred the first hundred while news come by WebSocket.
  public var plants: [Plant]
  /// How many plants there are.
  public var plantCount: Int
  /// How many of them are not well.
  public var alertCount: Int
  /// The probes.
  public var sensors: [Sensor]
}

/// A plant that is to be added. Limits that are not given are the configuration's.
public struct NewPlant: Codable, Equatable, Sendable {
  /// Its name, 1…15 characters.
  public var name: String
  /// Its probes, one to four.
  public var sensors: [String]
  /// Below it the plant is dry, percent.
  public var dryPercent: Double?
  /// Above it the plant is wet, percent.
  public var wetPercent: Double?

  /// Creates a plant.
  public init(name: String, sensors: [String], dryPercent: Double? = nil, wetPercent: Double? = nil) {
    self.name = name
    self.sensors = sensors
    self.dryPercent = dryPercent
    self.wetPercent = wetPercent
  }
}

/// What is to become different of a plant. What is `nil` stays as it is.
public struct PlantChange: Codable, Equatable, Sendable {
  /// Its name.
  public var name: String?
  /// Its probes.
  public var sensors: [String]?
  /// Below it the plant is dry, percent.
  public var dryPercent: Double?
  /// Above it the plant is wet, percent.
  public var wetPercent: Double?

  /// Creates a change.
  public init(name: String? = nil, sensors: [String]? = nil, dryPercent: Double? = nil, wetPercent: Double? = nil) {
    self.name = name
    self.sensors = sensors
    self.dryPercent = dryPercent
    self.wetPercent = wetPercent
  }
}

/// What the probes of a plant have read.
public struct PlantHistory: Codable, Equatable, Sendable {
  /// A span of time of one probe.
  public struct Row: Codable, Equatable, Sendable {
    /// When it begins, ISO 8601.
    public var startISO: String
    /// How long it is, seconds.
    public var spanSec: Int
    /// The lowest moisture, percent.
    public var leastPercent: Double
    /// The mean moisture, percent.
    public var meanPercent: Double
    /// The highest moisture, percent.
    public var greatestPercent: Double
    /// The mean temperature, °C; `nil` without a thermometer.
    public var meanCelsius: Double?
  }

  /// The rows of one probe.
  public struct Series: Codable, Equatable, Sendable {
    /// The probe.
    public var sensor: String
    /// Its rows, oldest first.
    public var rows: [Row]
  }

  /// The plant.
  public var plantId: Int
  /// One series for each probe.
  public var sensors: [Series]
}
