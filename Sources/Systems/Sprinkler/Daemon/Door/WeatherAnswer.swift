import Wire

/// The answer of a weather provider in the format of Open-Meteo: `{"daily":{"time":["2026-05-01",…],"precipitation_sum":[8.2,…]}}`.
struct WeatherAnswer: Hashable {
  /// One day of the forecast.
  struct Day: Hashable {
    /// The date in the provider's notation, or `nil` if the answer has none.
    var date: String?
    /// The expected rain, in mm, or `nil` if the provider does not know it.
    var millimetres: Double?
  }
  /// The days of the forecast, as many as were asked for, today first; a day that is missing in the answer is unknown.
  var days: [Day]

  /// Reads an answer.
  ///
  /// - Parameters:
  ///   - body: the answer's bytes.
  ///   - days: the number of days from today on that were asked for, from 1 up.
  ///   - past: the number of days before today that were asked for, which come first.
  static func read(_ body: [UInt8], days: Int, after past: Int = 0) -> Result<WeatherAnswer, WeatherFailure> {
    let document: JSONValue
    do {
      document = try JSONParser.parse(body)
    } catch {
      return .failure(WeatherFailure("its answer is no JSON: \(error.reason) at byte \(error.offset)"))
    }
    guard case .list(let sums)? = document.member("daily")?.member("precipitation_sum"), !sums.isEmpty else {
      let reason = if case .text(let text)? = document.member("reason") { JSONValue.shortened(text) } else { "" }
      return .failure(
        WeatherFailure("expected daily.precipitation_sum in its answer\(reason.isEmpty ? "" : ", got: \(reason)")"))
    }
    if case .object? = document.member("daily_units"),
      case .text(let unit)? = document.member("daily_units")?
        .member("precipitation_sum"), unit != "mm"
    {
      return .failure(WeatherFailure("expected millimetres, got \(JSONValue.shortened(unit))"))
    }
    var dates: [JSONValue] = []
    if case .list(let list)? = document.member("daily")?.member("time") { dates = list }
    var answer = WeatherAnswer(days: Array(repeating: Day(), count: days))
    dates = Array(dates.dropFirst(past))
    for (place, sum) in sums.dropFirst(past).prefix(days).enumerated() {
      if place < dates.count, case .text(let date) = dates[place] { answer.days[place].date = date }
      switch sum {
      case .number(let digits):
        guard let value = Double(digits), mostRain.contains(value) else {
          return .failure(
            WeatherFailure("expected 0 to 2000 millimetres a day, got \(JSONValue.shortened(digits))"))
        }
        answer.days[place].millimetres = value
      case .null: continue
      default: return .failure(WeatherFailure("expected numbers in daily.precipitation_sum"))
      }
    }
    return .success(answer)
  }

  /// The rain of a day, in mm. No day has had more: 1,825 mm fell within 24 hours on La Réunion in January 1966 (World Meteorological
  /// Organization).
  static let mostRain = 0.0...2_000
}

/// The amount of rain that is expected, as far as it is known.
struct ExpectedRain: Hashable {
  /// The total of the days that are known, in mm, or `nil` if none is.
  var millimetres: Double?
  /// Whether every day is known; otherwise more rain is possible.
  var isWhole: Bool
}

extension ExpectedRain {
  /// Adds up the days of an answer.
  ///
  /// - Parameters:
  ///   - answer: the provider's answer.
  ///   - known: the last known value of each day in earlier answers, by the provider's date.
  init(_ answer: WeatherAnswer, known: [String: Double] = [:]) {
    let values = answer.days.map { day in day.millimetres ?? day.date.flatMap { known[$0] } }
    millimetres = values.contains { $0 != nil } ? values.compactMap(\.self).reduce(0, +) : nil
    isWhole = !values.contains(nil)
  }
}

/// The reason why there is no forecast.
struct WeatherFailure: Error, Hashable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}
