import Wire

/// What a weather provider answers, as Open-Meteo does: `{"daily":{"time":["2026-05-01",…],"precipitation_sum":[8.2,…]}}`.
enum WeatherAnswer {
  /// The first days' sums together.
  static func millimetres(_ body: [UInt8], days: Int) -> Result<Double, WeatherFailure> {
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
    var total = 0.0
    for sum in sums.prefix(days) {
      switch sum {
      case .number(let digits):
        guard let value = Double(digits), value.isFinite, value >= 0 else {
          return .failure(WeatherFailure("expected millimetres, got \(JSONValue.shortened(digits))"))
        }
        total += value
      // Unknown for that day.
      case .null: continue
      default: return .failure(WeatherFailure("expected numbers in daily.precipitation_sum"))
      }
    }
    guard total.isFinite else { return .failure(WeatherFailure("expected millimetres, got more than can be added up")) }
    return .success(total)
  }
}

/// Why there is no forecast.
struct WeatherFailure: Error, Hashable {
  let reason: String

  init(_ reason: String) { self.reason = reason }
}

extension JSONValue {
  /// Returns the member of an object; `nil` if it has no such member, or if the value is no object.
  fileprivate func member(_ name: String) -> JSONValue? {
    if case .object(let members) = self { members.first { $0.name == name }?.value } else { nil }
  }
}
