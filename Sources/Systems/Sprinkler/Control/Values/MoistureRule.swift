/// The probe that measures the soil for a rule.
public enum SoilProbe: Sendable, Hashable {
  /// The probes of a plant, by the number that the system that measures gives it.
  case plant(Int)
  /// The messages on a topic of the broker.
  case topic(SoilTopic)
  /// A comparator on a GPIO line, by its pin. It distinguishes only dry and wet, which count as 0 % and 100 %.
  case pin(Int)
}

extension SoilProbe: CustomStringConvertible {
  /// The probe in a sentence: `plant 3`, `topic garden/lawn`, `pin 23`.
  public var description: String {
    switch self {
    case .plant(let number): "plant \(number)"
    case .topic(let topic): "topic \(topic.name)" + (topic.member.map { " (\($0))" } ?? "")
    case .pin(let pin): "pin \(pin)"
    }
  }
}

/// A topic of the broker whose messages are readings of the soil.
public struct SoilTopic: Sendable, Hashable {
  /// The topic, without wildcards.
  public var name: String
  /// The member of the JSON object in a message that contains the number, with points between the names of nested
  /// objects, or `nil` if the whole message is a number.
  public var member: String?
  /// The factor from the number to percent.
  public var scale: Double
  /// The offset that is added after the factor, in %.
  public var offsetPercent: Double

  /// Creates a topic, not checked.
  public init(name: String, member: String? = nil, scale: Double = 1, offsetPercent: Double = 0) {
    self.name = name
    self.member = member
    self.scale = scale
    self.offsetPercent = offsetPercent
  }
}

/// A rule by which moist soil keeps schedules from watering zones. Runs by hand and of other systems go on.
public struct MoistureRule: Sendable, Hashable {
  /// The effect of wet soil on a start.
  public enum Effect: Sendable, Hashable {
    /// The zone is not watered.
    case skip
    /// The zone is watered for a part of its time, 1…99 %.
    case shorten(percent: Int)
    /// The zone is not watered, and a run of a schedule that is open or waits is ended.
    case stop
  }
  /// The probe that measures the soil.
  public var probe: SoilProbe
  /// The zones that the rule is for, or `nil` for every zone.
  public var zones: Set<ZoneID>?
  /// The moisture from which on the soil is wet, in %.
  public var wetPercent: Double
  /// The effect of wet soil on a start.
  public var effect: Effect
  /// The time for which the soil must have been wet before the rule acts, in seconds.
  public var delaySeconds: Int
  /// The age up to which a reading is valid, in seconds. Without a valid reading the schedule runs as it is.
  public var validSeconds: Int

  /// Creates a rule, not checked.
  public init(
    probe: SoilProbe, zones: Set<ZoneID>? = nil, wetPercent: Double, effect: Effect, delaySeconds: Int = 0,
    validSeconds: Int = 3_600
  ) {
    self.probe = probe
    self.zones = zones
    self.wetPercent = wetPercent
    self.effect = effect
    self.delaySeconds = delaySeconds
    self.validSeconds = validSeconds
  }
}

/// A reading of the soil.
public struct MoistureReading: Sendable, Hashable {
  /// The probe that took the reading.
  public var probe: SoilProbe
  /// The moisture, 0…100 %.
  public var percent: Double
  /// The age of the reading, in seconds.
  public var ageSeconds: Double

  /// Creates a reading, not checked. The scheduler ignores a percentage that is not finite.
  public init(probe: SoilProbe, percent: Double, ageSeconds: Double = 0) {
    self.probe = probe
    self.percent = percent
    self.ageSeconds = ageSeconds
  }
}
