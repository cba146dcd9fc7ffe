import WallTime

/// The weather of a local day that is over, as far as it is known.
public struct DayWeather: Sendable, Hashable {
  /// The date by the provider's clock, in the time zone of the schedules.
  public var date: LocalDate
  /// The lowest temperature of the air, in °C.
  public var minimumCelsius: Double?
  /// The highest temperature of the air, in °C.
  public var maximumCelsius: Double?
  /// The rain, in mm.
  public var rainMillimetres: Double?
  /// The mean dew point, in °C.
  public var dewPointCelsius: Double?
  /// The mean wind 10 m above the ground, in m/s.
  public var windMetresPerSecond: Double?
  /// The sun's radiation on the ground, MJ/m².
  public var sunMegajoules: Double?

  /// Creates a day of which only these values are known, without checking them.
  public init(
    date: LocalDate, minimumCelsius: Double? = nil, maximumCelsius: Double? = nil, rainMillimetres: Double? = nil
  ) {
    self.date = date
    self.minimumCelsius = minimumCelsius
    self.maximumCelsius = maximumCelsius
    self.rainMillimetres = rainMillimetres
  }
}

/// The weather of the last days at the place of the schedules.
public struct PastWeather: Sendable, Hashable {
  /// The days that are over, in any order. The provider decides which days are over, so a wrong clock of this computer adds and skips none.
  public var days: [DayWeather]
  /// The height of the place above the sea, in metres, or `nil` if the provider does not tell it.
  public var elevationMetres: Double?

  /// Creates the value, not checked.
  public init(days: [DayWeather], elevationMetres: Double? = nil) {
    self.days = days
    self.elevationMetres = elevationMetres
  }
}
