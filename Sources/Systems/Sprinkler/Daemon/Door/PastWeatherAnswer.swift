import Sprinkler
import Wire

/// The days before today in the answer of a weather provider in the format of Open-Meteo, for the deficits of zones.
enum PastWeatherAnswer {
  /// The weather variables of a day that are requested in addition to the rain.
  static let variables = [
    "temperature_2m_max", "temperature_2m_min", "dew_point_2m_mean", "wind_speed_10m_mean", "shortwave_radiation_sum",
  ]
  /// The ranges of a day's values on Earth, with some room on both sides. A value outside its range counts as unknown, because the arithmetic of
  /// deficits takes squares and sums.
  private static let ranges: [String: ClosedRange<Double>] = [
    "precipitation_sum": WeatherAnswer.mostRain, "temperature_2m_max": -100...70, "temperature_2m_min": -100...70,
    "dew_point_2m_mean": -120...50, "wind_speed_10m_mean": 0...120, "shortwave_radiation_sum": 0...60,
  ]
  /// The units that the values must have if the answer names a unit.
  private static let units = [
    "precipitation_sum": "mm", "temperature_2m_max": "°C", "temperature_2m_min": "°C", "dew_point_2m_mean": "°C",
    "wind_speed_10m_mean": "m/s", "shortwave_radiation_sum": "MJ/m²",
  ]

  /// Reads an answer. Values that are missing, are no numbers, are outside `ranges` or have other units count as
  /// unknown; a day without a date is left out.
  ///
  /// - Parameters:
  ///   - body: the answer's bytes.
  ///   - days: the number of days before today that were asked for, which come first.
  static func read(_ body: [UInt8], days: Int) -> PastWeather {
    guard let document = try? JSONParser.parse(body), let daily = document.member("daily"),
      case .list(let dates)? = daily.member("time")
    else { return PastWeather(days: []) }
    let units = document.member("daily_units")
    func values(_ name: String) -> [Double?] {
      if case .text(let unit)? = units?.member(name), unit != Self.units[name] { return [] }
      guard case .list(let list)? = daily.member(name) else { return [] }
      let range = Self.ranges[name] ?? 0...0
      return list.prefix(days).map { number($0).flatMap { range.contains($0) ? $0 : nil } }
    }
    let (rain, highest, lowest) = (
      values("precipitation_sum"), values("temperature_2m_max"), values("temperature_2m_min")
    )
    let (dew, wind, sun) = (
      values("dew_point_2m_mean"), values("wind_speed_10m_mean"), values("shortwave_radiation_sum")
    )
    func at(_ place: Int, _ list: [Double?]) -> Double? { place < list.count ? list[place] : nil }
    var past = PastWeather(
      days: [],
      elevationMetres: document.member("elevation").flatMap(number).flatMap { (-500...9_000).contains($0) ? $0 : nil })
    for (place, date) in dates.prefix(days).enumerated() {
      guard case .text(let text) = date, let date = ScheduleWords.date(text) else { continue }
      var day = DayWeather(
        date: date, minimumCelsius: at(place, lowest), maximumCelsius: at(place, highest),
        rainMillimetres: at(place, rain))
      day.dewPointCelsius = at(place, dew)
      day.windMetresPerSecond = at(place, wind)
      day.sunMegajoules = at(place, sun)
      past.days.append(day)
    }
    return past
  }

  private static func number(_ value: JSONValue) -> Double? {
    guard case .number(let digits) = value, let number = Double(digits), number.isFinite else { return nil }
    return number
  }
}
