import Service
import Sprinkler

/// How long a valve is to be open: `minutes`, which may have a fraction, or `seconds`. At most one of them is given.
struct WateringTime {
  static let longestSeconds = 86_400

  /// It is `nil` if neither is given, or null.
  static func read(
    _ body: inout JSONReader, minutes: String = "minutes", seconds: String = "seconds"
  ) throws(APIError) -> Int? {
    let byMinutes = try body.optional(minutes, .minutes)
    let bySeconds = try body.optional(seconds, .integer(1...longestSeconds))
    if byMinutes != nil, bySeconds != nil {
      throw body.refusal(seconds, expected: "\(minutes) or \(seconds)", got: "both")
    }
    return bySeconds ?? byMinutes
  }

  static func minutes(_ seconds: Int) -> Double { Double(seconds) / 60 }

  /// Minutes as JSON writes them: `12`, `0.5`.
  static func text(_ seconds: Int) -> String { String(decoding: encodeJSON(minutes(seconds)), as: UTF8.self) }
}

extension JSONKind where Value == Int {
  /// Minutes with or without a fraction, as whole seconds.
  static var minutes: JSONKind {
    JSONKind("minutes, 0.02…1440") { value in
      guard case .number(let digits) = value, let minutes = Double(digits), minutes.isFinite, minutes <= 1440,
        case let seconds = Int(saturating: (minutes * 60).rounded()), seconds >= 1
      else { return nil }
      return seconds
    }
  }
}
