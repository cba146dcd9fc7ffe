import WallTime

/// The rule by which schedules follow a rain sensor.
public struct RainSensorRule: Sendable, Hashable {
  /// The time for which the sensor must have been wet before a rain delay begins, in seconds.
  public var delaySeconds: Int
  /// The length of the rain delay that begins when the sensor is dry again, 0…1,209,600 s.
  public var drySeconds: Int

  /// Creates a rule, not checked.
  public init(delaySeconds: Int = 0, drySeconds: Int = 0) {
    self.delaySeconds = delaySeconds
    self.drySeconds = drySeconds
  }
}

/// A reading of the rain sensor's line.
public enum RainSensorReading: Sendable, Hashable, CaseIterable, BitwiseCopyable {
  /// The sensor is dry.
  case dry
  /// The sensor is wet.
  case wet
  /// The line could not be read.
  case unreadable
}

/// The state of the rain sensor as the schedules see it.
public struct RainSensorStatus: Sendable, Hashable {
  /// The state of a rain sensor in one word.
  public enum Word: String, Sendable, CaseIterable {
    /// The line has not been read, or cannot be read: schedules run as they are.
    case unknown
    /// The sensor is dry.
    case dry
    /// The sensor is wet, but not for as long as the rule demands.
    case waits
    /// The sensor is wet, and there is a rain delay as long as it is.
    case wet
    /// The sensor is wet, and a person has ended the rain delay: schedules run as they are until it has been dry.
    case lifted
    /// The sensor has been wet for so long that its wire counts as broken, and schedules run unchanged.
    case stuck
  }
  /// The state of the sensor in one word.
  public var word: Word
  /// The instant at which the present reading began, or `nil` if the line has not been read.
  public var since: WallInstant?
}
