import Wire

/// What a weather provider answers, as Open-Meteo does: `{"daily":{"time":["2026-05-01",…],"precipitation_sum":[8.2,…]}}`.
struct WeatherAnswer: Hashable {
  /// One day of the forecast.
  struct Day: Hashable {
    /// As the provider calls it, or `nil` if it does not.
    var date: String?
    /// `nil` if the provider does not know.
    var millimetres: Double?
  }
  /// As many as were asked for, today first; a day that is missing in the answer is unknown.
  var days: [Day]

  /// - Parameter days: so many were asked for, 1….
  static func read(_ body: [UInt8], days: Int) -> Result<WeatherAnswer, WeatherFailure> {
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
    for (place, sum) in sums.prefix(days).enumerated() {
      if place < dates.count, case .text(let date) = dates[place] { answer.days[place].date = date }
      switch sum {
      case .number(let digits):
        guard let value = Double(digits), value.isFinite, value >= 0 else {
          return .failure(WeatherFailure("expected millimetres, got \(JSONValue.shortened(digits))"))
        }
        answer.days[place].millimetres = value
      case .null: continue
      default: return .failure(WeatherFailure("expected numbers in daily.precipitation_sum"))
      }
    }
    guard answer.days.reduce(0, { $0 + ($1.millimetres ?? 0) }).isFinite else {
      return .failure(WeatherFailure("expected millimetres, got more than can be added up"))
    }
    return .success(answer)
  }
}

/// How much rain is expected, as far as is known.
struct ExpectedRain: Hashable {
  /// Of the days that are known, together, or `nil` if none is.
  var millimetres: Double?
  /// Whether every day is known. Otherwise more may come.
  var isWhole: Bool

  /// As much as that.
  init(millimetres: Double?, isWhole: Bool) {
    self.millimetres = millimetres
    self.isWhole = isWhole
  }

  /// - Parameter known: the last value of each day, by its date, that an earlier answer had.
  init(_ answer: WeatherAnswer, known: [String: Double] = [:]) {
    let values = answer.days.map { day in day.millimetres ?? day.date.flatMap { known[$0] } }
    let sum = values.compactMap(\.self).reduce(0, +)
    // A value that an earlier answer had may be beyond every number together with today's.
    millimetres = values.contains { $0 != nil } ? min(sum, .greatestFiniteMagnitude) : nil
    isWhole = !values.contains(nil)
  }
}

/// Why there is no forecast.
struct WeatherFailure: Error, Hashable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

extension JSONValue {
  /// Returns the member of an object, or `nil` if it has no such member, or if the value is no object.
  fileprivate func member(_ name: String) -> JSONValue? {
    if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
  }
}
