import WallTime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Computes the reference evapotranspiration of a day: the water that a well-watered lawn gives to the air, in mm.
///
/// The functions are total: an impossible value gives `nil`, never a trap and never a number that is not finite.
/// Source: FAO Irrigation and Drainage Paper 56, "Crop evapotranspiration", chapters 3 and 4; the numbers of its
/// equations stand beside them.
public struct Evapotranspiration: Sendable {
  /// The weather of a day that the equation of Penman and Monteith needs.
  public struct Day: Sendable, Hashable {
    /// The day of the year, 1…366.
    public var dayOfYear: Int
    /// The highest temperature of the air, in °C; −90…70.
    public var maximumCelsius: Double
    /// The lowest temperature of the air, in °C; −90…70.
    public var minimumCelsius: Double
    /// The actual vapour pressure, in kPa; 0…20.
    public var vapourKilopascals: Double
    /// The mean wind 2 m above the ground, in m/s; 0…100.
    public var windMetresPerSecond: Double
    /// The sun's radiation on the ground, MJ/m²; 0…60.
    public var sunMegajoules: Double
    /// The heat that the soil takes, MJ/m²; −20…20. It is near 0 over one day.
    public var soilHeatMegajoules: Double

    /// Creates a day without checking the values, which the equation checks.
    public init(
      dayOfYear: Int, maximumCelsius: Double, minimumCelsius: Double, vapourKilopascals: Double,
      windMetresPerSecond: Double, sunMegajoules: Double, soilHeatMegajoules: Double = 0
    ) {
      (self.dayOfYear, self.maximumCelsius, self.minimumCelsius) = (dayOfYear, maximumCelsius, minimumCelsius)
      (self.vapourKilopascals, self.windMetresPerSecond) = (vapourKilopascals, windMetresPerSecond)
      (self.sunMegajoules, self.soilHeatMegajoules) = (sunMegajoules, soilHeatMegajoules)
    }
  }

  private static let celsius = -90.0...70
  /// The millimetres of water that one MJ/m² evaporates.
  private static let millimetresPerMegajoule = 0.408

  private let latitude: Double
  private let elevation: Double

  /// Creates the equations for a place, or returns `nil` for a place that is not on Earth.
  ///
  /// - Parameters:
  ///   - place: the place.
  ///   - elevationMetres: its height above the sea, in metres; −500…9,000.
  public init?(_ place: GeographicPlace, elevationMetres: Double) {
    guard (-90.0...90).contains(place.latitude), (-500.0...9_000).contains(elevationMetres) else { return nil }
    (latitude, elevation) = (place.latitude * .pi / 180, elevationMetres)
  }

  /// Returns the radiation of the sun above the atmosphere, MJ/m² a day (equations 21…25), or `nil` for a day outside 1…366.
  public func extraterrestrialMegajoules(dayOfYear: Int) -> Double? {
    guard (1...366).contains(dayOfYear) else { return nil }
    let angle = 2 * .pi / 365 * Double(dayOfYear)
    let distance = 1 + 0.033 * cos(angle)
    let declination = 0.409 * sin(angle - 1.39)
    // The clamp serves places beyond the polar circles, where the sun may not rise or not set.
    let sunset = acos(max(-1, min(1, -tan(latitude) * tan(declination))))
    let height =
      sunset * sin(latitude) * sin(declination) + cos(latitude) * cos(declination) * sin(sunset)
    return max(0, 1_440 / .pi * 0.0820 * distance * height)
  }

  /// Returns the reference evapotranspiration by Hargreaves from temperatures alone (equation 52), in mm, or `nil` for
  /// impossible values.
  ///
  /// - Parameters:
  ///   - maximumCelsius: the day's highest temperature, in °C; −90…70 and no less than the lowest.
  ///   - minimumCelsius: the day's lowest temperature, in °C; −90…70.
  ///   - dayOfYear: 1…366.
  public func hargreaves(maximumCelsius: Double, minimumCelsius: Double, dayOfYear: Int) -> Double? {
    guard Self.areTemperatures(minimumCelsius, maximumCelsius),
      let above = extraterrestrialMegajoules(dayOfYear: dayOfYear)
    else { return nil }
    let mean = (maximumCelsius + minimumCelsius) / 2
    let spread = (maximumCelsius - minimumCelsius).squareRoot()
    return max(0, 0.0023 * (mean + 17.8) * spread * above * Self.millimetresPerMegajoule)
  }

  /// Returns the reference evapotranspiration by Penman and Monteith (equation 6), in mm, or `nil` for impossible
  /// values.
  public func penmanMonteith(_ day: Day) -> Double? {
    guard Self.areTemperatures(day.minimumCelsius, day.maximumCelsius), (0.0...20).contains(day.vapourKilopascals),
      (0.0...100).contains(day.windMetresPerSecond), (-20.0...20).contains(day.soilHeatMegajoules),
      let net = netMegajoules(day)
    else { return nil }
    let mean = (day.maximumCelsius + day.minimumCelsius) / 2
    // Equations 13, 7 and 8, 12.
    let slope = 4_098 * Self.saturationKilopascals(mean) / ((mean + 237.3) * (mean + 237.3))
    let psychrometric = 0.000665 * 101.3 * pow((293 - 0.0065 * elevation) / 293, 5.26)
    let saturation =
      (Self.saturationKilopascals(day.maximumCelsius) + Self.saturationKilopascals(day.minimumCelsius)) / 2
    let deficit = max(0, saturation - day.vapourKilopascals)
    let wind = day.windMetresPerSecond
    let fromSun = Self.millimetresPerMegajoule * slope * (net - day.soilHeatMegajoules)
    let fromWind = psychrometric * 900 / (mean + 273) * wind * deficit
    return max(0, (fromSun + fromWind) / (slope + psychrometric * (1 + 0.34 * wind)))
  }

  /// Returns the reference evapotranspiration of a day, mm: by Penman and Monteith if dew point, wind and sun are known, else by Hargreaves;
  /// `nil` without temperatures.
  public func millimetres(of weather: DayWeather) -> Double? {
    guard let minimum = weather.minimumCelsius, let maximum = weather.maximumCelsius else { return nil }
    let dayOfYear = weather.date.daysSince1970 - LocalDate(year: weather.date.year, month: 1, day: 1).daysSince1970 + 1
    if let dew = weather.dewPointCelsius, Self.celsius.contains(dew), let wind = weather.windMetresPerSecond,
      let sun = weather.sunMegajoules
    {
      // Equation 14; equation 47 for wind that is measured 10 m above the ground.
      let day = Day(
        dayOfYear: dayOfYear, maximumCelsius: maximum, minimumCelsius: minimum,
        vapourKilopascals: Self.saturationKilopascals(dew), windMetresPerSecond: wind * 4.87 / log(67.8 * 10 - 5.42),
        sunMegajoules: sun)
      if let millimetres = penmanMonteith(day) { return millimetres }
    }
    return hargreaves(maximumCelsius: maximum, minimumCelsius: minimum, dayOfYear: dayOfYear)
  }

  /// Returns the radiation that the lawn keeps, MJ/m² (equations 37…40), or `nil` for an impossible radiation or day.
  private func netMegajoules(_ day: Day) -> Double? {
    guard (0.0...60).contains(day.sunMegajoules),
      let above = extraterrestrialMegajoules(dayOfYear: day.dayOfYear)
    else { return nil }
    let clear = (0.75 + 0.00002 * elevation) * above
    // In the polar night the cloud cover cannot be derived from the radiation; the sky counts as overcast.
    let clearness = clear > 0 ? min(1, day.sunMegajoules / clear) : 0.3
    func radiated(_ celsius: Double) -> Double { 4.903e-9 * pow(celsius + 273.16, 4) }
    let longwave =
      (radiated(day.maximumCelsius) + radiated(day.minimumCelsius)) / 2
      * (0.34 - 0.14 * day.vapourKilopascals.squareRoot()) * (1.35 * max(0.3, clearness) - 0.35)
    return 0.77 * day.sunMegajoules - longwave
  }

  private static func areTemperatures(_ minimum: Double, _ maximum: Double) -> Bool {
    celsius.contains(minimum) && celsius.contains(maximum) && minimum <= maximum
  }

  /// Returns the saturation vapour pressure, kPa (equation 11).
  private static func saturationKilopascals(_ celsius: Double) -> Double {
    0.6108 * exp(17.27 * celsius / (celsius + 237.3))
  }
}
