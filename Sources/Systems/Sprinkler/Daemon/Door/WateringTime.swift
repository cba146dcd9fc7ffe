import Service
import Sprinkler

/// Reads the duration of a run: `minutes`, which may have a fraction, or `seconds`. At most one of them may be given.
struct WateringTime {
  static let longestSeconds = 86_400

  /// Returns the duration in seconds, or `nil` if neither member is given or the given one is null.
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

  /// Returns the duration in words, in both of the units in which it may be asked for: `120 min (7200 s)`.
  static func inBothUnits(_ seconds: Int) -> String {
    let minutes = (seconds.inMinutes * 100).rounded() / 100
    return "\(String(decoding: encodeJSON(minutes), as: UTF8.self)) min (\(seconds) s)"
  }

  /// Returns the duration in minutes in JSON notation: `12`, `0.5`.
  static func text(_ seconds: Int) -> String { String(decoding: encodeJSON(seconds.inMinutes), as: UTF8.self) }
}

extension JSONKind where Value == Double {
  /// The kind of an amount of water in litres.
  static var litres: JSONKind { .number(0.1...100_000) }
}

extension JSONKind where Value == Int {
  /// A duration in minutes with or without a fraction, converted to whole seconds.
  static var minutes: JSONKind {
    JSONKind("minutes, 0.02…1440") { value in
      guard case .number(let digits) = value, let minutes = Double(digits), (0.02...1440).contains(minutes) else {
        return nil
      }
      // The shortest duration, 0.02 min, is more than a second, so the result is at least 1.
      return Int(saturating: (minutes * 60).rounded())
    }
  }
}
