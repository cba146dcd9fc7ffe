/// The pump's temperatures and speed of a span of time.
public struct PumpHistory: Codable, Equatable, Sendable {
  /// The readings of one part of the span. A part in which the pump did not answer has no row.
  public struct Row: Codable, Equatable, Sendable {
    /// The start of the part in ISO 8601.
    public var startISO: String
    /// The number of readings, about one a second while the pump answers.
    public var samples: Int
    /// The number of readings in which the pump was on.
    public var runningSamples: Int
    /// The mean speed while the pump was on in percent, or `nil` if it is unknown or the pump was off.
    public var speedPercent: Double?
    /// The water's lowest temperature in °C, or `nil` if none was measured. The other temperatures have the same meaning.
    public var waterLeastCelsius: Double?
    /// The water's mean temperature, °C.
    public var waterMeanCelsius: Double?
    /// The water's highest temperature, °C.
    public var waterHighestCelsius: Double?
    /// The skin's lowest temperature, °C.
    public var skinLeastCelsius: Double?
    /// The skin's mean temperature, °C.
    public var skinMeanCelsius: Double?
    /// The skin's highest temperature, °C.
    public var skinHighestCelsius: Double?
  }

  /// The start of the span in ISO 8601, rounded down to a minute.
  public var sinceISO: String
  /// The end of the span in ISO 8601, which is not in it.
  public var untilISO: String
  /// The length of each row's part in seconds, a multiple of 60.
  public var spanSec: Int
  /// The rows, the oldest first.
  public var rows: [Row]
}
