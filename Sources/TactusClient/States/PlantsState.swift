/// The state of all plants and probes, as `GET /api/plants` reports it.
public struct PlantsState: Codable, Equatable, Sendable {
  /// The condition of plants.
  public struct Mode: DaemonWord {
    /// The daemon's word for the condition.
    public var rawValue: String
    /// Creates a condition from any word.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// There is no alert.
    public static let ok: Mode = "ok"
    /// There is an alert.
    public static let problem: Mode = "problem"
    /// All words that this client knows.
    public static let known: [Mode] = [.ok, .problem]
  }

  /// The state of one plant.
  public struct Plant: Codable, Equatable, Sendable, Identifiable {
    /// The link of a plant to a zone of the sprinkler.
    public struct Watering: Codable, Equatable, Sendable {
      /// The number of the zone.
      public var zone: Int
      /// The length of each watering, in seconds.
      public var seconds: Int
      /// Whether a person must confirm first that the plant may be watered.
      public var needsConfirmation: Bool
      /// The reason, in words, why a dry plant is not watered yet, or `nil` if there is none.
      public var waitsFor: String?
    }

    /// The number of the plant, which is never used again.
    public var id: Int
    /// The condition of the plant.
    public var state: Mode
    /// The name of the plant.
    public var name: String
    /// The names of the plant's probes.
    public var sensors: [String]
    /// The moisture in percent, or `nil` if no probe answers.
    public var moisturePercent: Double?
    /// The temperature in °C, or `nil` if no thermometer answers.
    public var temperatureCelsius: Double?
    /// The alerts: `dry`, `wet`, `cold`, `hot`, `silent`; empty if there is none.
    public var alerts: [String]
    /// The moisture in percent below which the plant is dry, or `nil` if there is no limit.
    public var dryPercent: Double?
    /// The moisture in percent above which the plant is wet, or `nil` if there is no limit.
    public var wetPercent: Double?
    /// The temperature in °C below which the plant is cold, or `nil` if there is no limit.
    public var coldCelsius: Double?
    /// The temperature in °C above which the plant is hot, or `nil` if there is no limit.
    public var hotCelsius: Double?
    /// The instant of the last watering in ISO 8601, or `nil` if it is unknown.
    public var lastWateredISO: String?
    /// The link to a zone of the sprinkler, or `nil` if there is none.
    public var watering: Watering?
  }

  /// The state of one soil probe.
  public struct Sensor: Codable, Equatable, Sendable, Identifiable {
    /// The name of the probe.
    public var id: String
    /// The moisture in percent, or `nil` if the probe does not answer.
    public var moisturePercent: Double?
    /// The temperature in °C, or `nil` if the probe has no thermometer.
    public var temperatureCelsius: Double?
    /// Whether the reading is recent enough to count.
    public var isFresh: Bool
    /// The age of the reading in milliseconds, or `nil` if there is none.
    public var ageMs: Double?
    /// The reason why the probe cannot be read now, or `nil` if it can.
    public var lastFailure: String?
    /// The numbers of the plants to which the probe belongs.
    public var plants: [Int]
  }

  /// The condition of all plants together.
  public var state: Mode
  /// The plants, by number. By WebSocket only the first hundred are sent.
  public var plants: [Plant]
  /// The number of plants.
  public var plantCount: Int
  /// The number of plants that have an alert.
  public var alertCount: Int
  /// The state of the probes.
  public var sensors: [Sensor]
}

/// The settings of a plant that is to be added. Limits that are `nil` are the configuration's.
public struct NewPlant: Codable, Equatable, Sendable {
  /// The name of the plant, 1…15 characters.
  public var name: String
  /// The names of the plant's probes, one to four.
  public var sensors: [String]
  /// The moisture in percent below which the plant is dry.
  public var dryPercent: Double?
  /// The moisture in percent above which the plant is wet.
  public var wetPercent: Double?

  /// Creates a plant.
  public init(name: String, sensors: [String], dryPercent: Double? = nil, wetPercent: Double? = nil) {
    self.name = name
    self.sensors = sensors
    self.dryPercent = dryPercent
    self.wetPercent = wetPercent
  }
}

/// A change of a plant's settings. Members that are `nil` do not change.
public struct PlantChange: Codable, Equatable, Sendable {
  /// The new name of the plant.
  public var name: String?
  /// The names of the plant's new probes.
  public var sensors: [String]?
  /// The moisture in percent below which the plant is dry.
  public var dryPercent: Double?
  /// The moisture in percent above which the plant is wet.
  public var wetPercent: Double?

  /// Creates a change of the settings that are not `nil`.
  public init(name: String? = nil, sensors: [String]? = nil, dryPercent: Double? = nil, wetPercent: Double? = nil) {
    self.name = name
    self.sensors = sensors
    self.dryPercent = dryPercent
    self.wetPercent = wetPercent
  }
}

/// The readings of a plant's probes.
public struct PlantHistory: Codable, Equatable, Sendable {
  /// The readings of one probe in a span of time.
  public struct Row: Codable, Equatable, Sendable {
    /// The start of the span in ISO 8601.
    public var startISO: String
    /// The length of the span in seconds.
    public var spanSec: Int
    /// The number of readings.
    public var samples: Int
    /// The lowest moisture, percent.
    public var leastPercent: Double
    /// The mean moisture, percent.
    public var meanPercent: Double
    /// The highest moisture, percent.
    public var greatestPercent: Double
    /// The mean temperature in °C, or `nil` without a thermometer.
    public var meanCelsius: Double?
  }

  /// The readings of one probe.
  public struct Series: Codable, Equatable, Sendable {
    /// The name of the probe.
    public var sensor: String
    /// The spans, the oldest first.
    public var rows: [Row]
  }

  /// The number of the plant.
  public var plantId: Int
  /// The start of the readings in ISO 8601.
  public var sinceISO: String
  /// The end of the readings in ISO 8601.
  public var untilISO: String
  /// The readings, with one series per probe.
  public var sensors: [Series]
}

/// The alerts of the plants, and what happened to the plants.
public struct PlantAlerts: Codable, Equatable, Sendable {
  /// An alert in force.
  public struct Alert: Codable, Equatable, Sendable {
    /// The number of the plant.
    public var plantId: Int
    /// The name of the plant.
    public var name: String
    /// The word for the alert: `dry`, `wet`, `cold`, `hot` or `silent`.
    public var alert: String
  }

  /// An event of a plant, such as a watering or the end of an alert.
  public struct Event: Codable, Equatable, Sendable {
    /// The instant in ISO 8601.
    public var atISO: String
    /// The number of the plant.
    public var plantId: Int
    /// The name of the plant at that time.
    public var name: String
    /// The word for what happened: `raised`, `cleared`, `watered`, `asked`, `refused` or `calibrated`.
    public var kind: String
    /// The alert, the origin of the watering, the zone, or the probe with its points.
    public var detail: String
  }

  /// The alerts in force.
  public var active: [Alert]
  /// The events of the plants, the newest first.
  public var events: [Event]
}

/// The daily pictures of the plants.
public struct PlantPictures: Codable, Equatable, Sendable {
  /// One daily picture of the plants.
  public struct Picture: Codable, Equatable, Sendable, Identifiable {
    /// The day of the picture, `YYYY-MM-DD`.
    public var day: String
    /// The instant at which the picture was taken in ISO 8601.
    public var takenISO: String
    /// The size of the picture, in bytes.
    public var bytes: Int

    /// The identity of the picture, which is its day.
    public var id: String { day }
  }

  /// Whether the configuration asks for a picture each day.
  public var isTaken: Bool
  /// The reason why the last attempt gave no picture, or `nil` if it did.
  public var failure: String?
  /// The pictures, the newest first.
  public var pictures: [Picture]
}
