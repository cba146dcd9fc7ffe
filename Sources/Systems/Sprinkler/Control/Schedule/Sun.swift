@_spi(FromOutside) import Conversions
import WallTime

#if canImport(Glibc)
  import Glibc
#else
  import Darwin
#endif

/// Computes sunrise and sunset by NOAA's equations, within a minute of the almanac up to the polar circles. The refraction of the
/// standard atmosphere is included.
///
/// Source: NOAA Global Monitoring Laboratory, Solar Calculator spreadsheets, after Meeus, "Astronomical Algorithms".
public struct Sun: Sendable {
  public enum Edge: Sendable, Hashable {
    case rise
    case set
  }
  /// The angle between the zenith and the sun's centre at which the upper limb touches the horizon, degrees.
  private static let zenith = 90.833

  public let place: GeographicPlace

  public init(_ place: GeographicPlace) { self.place = place }

  /// Returns the sunrise before, or the sunset after, the noon of a local date, or `nil` if the sun does not rise or set on that date.
  ///
  /// - Parameter zone: the time zone of the local date.
  public func instant(of edge: Edge, on date: LocalDate, in zone: ZoneRules) -> WallInstant? {
    // The solar noon of the UTC date is tried first, then those of the neighbouring dates, for zones far from their longitude (Kiritimati).
    let day = date.daysSince1970
    for candidate in [day, day - 1, day + 1] {
      let noon = self.noon(utcDay: candidate)
      guard zone.local(WallInstant(secondsSince1970: Int64(saturating: noon * 60))).date == date else { continue }
      return instant(of: edge, near: noon)
    }
    return nil  // A date that the zone skipped.
  }

  /// Returns the instant at which the sun is highest, in minutes since 1970.
  private func noon(utcDay: Int) -> Double {
    let start = Double(utcDay) * 1_440
    var noon = start + 720 - 4 * place.longitude
    for _ in 0..<2 { noon = start + 720 - 4 * place.longitude - Position(minutes: noon).equationOfTime }
    return noon
  }

  private func instant(of edge: Edge, near noon: Double) -> WallInstant? {
    var minutes = noon
    // The sun moves on between noon and the event; the third pass changes seconds.
    for _ in 0..<3 {
      let position = Position(minutes: minutes)
      let latitude = place.latitude * .pi / 180
      let cosine =
        cos(Self.zenith * .pi / 180) / (cos(latitude) * cos(position.declination))
        - tan(latitude) * tan(position.declination)
      guard abs(cosine) <= 1 else { return nil }
      let quarter = acos(cosine) * 180 / .pi * 4
      let localNoon = noon + Position(minutes: noon).equationOfTime - position.equationOfTime
      minutes = edge == .rise ? localNoon - quarter : localNoon + quarter
    }
    return WallInstant(secondsSince1970: Int64(saturating: (minutes * 60).rounded()))
  }

  /// The position of the sun.
  private struct Position {
    /// The minutes by which a sundial is ahead of the clock.
    let equationOfTime: Double
    /// The declination in radians, north positive.
    let declination: Double

    /// Computes the position at an instant.
    ///
    /// - Parameter minutes: the instant, in minutes since 1970.
    init(minutes: Double) {
      let radians = Double.pi / 180
      let century = (minutes / 1_440 - 10_957.5) / 36_525
      let meanLongitude = (280.46646 + century * (36_000.76983 + century * 0.0003032)).remainder(dividingBy: 360)
      let anomaly = (357.52911 + century * (35_999.05029 - 0.0001537 * century)) * radians
      let eccentricity = 0.016708634 - century * (0.000042037 + 0.0000001267 * century)
      let centre =
        sin(anomaly) * (1.914602 - century * (0.004817 + 0.000014 * century))
        + sin(2 * anomaly) * (0.019993 - 0.000101 * century) + sin(3 * anomaly) * 0.000289
      let node = (125.04 - 1_934.136 * century) * radians
      let apparentLongitude = (meanLongitude + centre - 0.00569 - 0.00478 * sin(node)) * radians
      let meanObliquity =
        23 + (26 + (21.448 - century * (46.815 + century * (0.00059 - century * 0.001813))) / 60) / 60
      let obliquity = (meanObliquity + 0.00256 * cos(node)) * radians
      declination = asin(sin(obliquity) * sin(apparentLongitude))
      let y = tan(obliquity / 2) * tan(obliquity / 2)
      let longitude = meanLongitude * radians
      let equation =
        y * sin(2 * longitude) - 2 * eccentricity * sin(anomaly)
        + 4 * eccentricity * y * sin(anomaly) * cos(2 * longitude) - 0.5 * y * y * sin(4 * longitude)
        - 1.25 * eccentricity * eccentricity * sin(2 * anomaly)
      equationOfTime = 4 * equation / radians
    }
  }
}

/// A place on Earth. An accuracy of about a kilometre is enough for sunrise and sunset.
public struct GeographicPlace: Sendable, Hashable {
  /// The latitude in degrees, north positive; −90…90.
  public var latitude: Double
  /// The longitude in degrees, east positive; −180…180.
  public var longitude: Double

  public init(latitude: Double, longitude: Double) {
    self.latitude = latitude
    self.longitude = longitude
  }
}
