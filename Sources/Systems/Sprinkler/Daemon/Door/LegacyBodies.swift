import Service
import Sprinkler

/// A body with a duration in minutes, 1…720: `{"minutes":12}`.
struct LegacyMinutes: JSONReadable {
  /// The duration, or `nil` for 30 minutes or the zone's longest run, whichever is shorter.
  let seconds: Int?

  init(_ body: inout JSONReader) throws(APIError) {
    seconds = try body.optional("minutes", .integer(1...720)).map { $0 * 60 }
  }
}

/// The body of `POST /api/pins/BCM`: `{"name":"Lawn","is_enabled":true}`. Members that are missing leave the property unchanged.
struct LegacyPinBody: JSONReadable {
  let name: String?
  let isEnabled: Bool?

  init(_ body: inout JSONReader) throws(APIError) {
    name = try body.optional("name", .name(0...40)).flatMap { $0.isEmpty ? nil : $0 }
    isEnabled = try body.optional("is_enabled", .boolean)
  }
}

/// The body of `POST /api/pins/reorder`: the pins in the new order, `[17,27,22]`.
struct LegacyPinOrderBody: JSONReadable {
  let pins: [Int]

  init(_ body: inout JSONReader) throws(APIError) {
    pins = try body.required("pins", .list(of: .integer(0...1023), 0...1024))
  }
}

/// The body of `POST /api/rain/settings`: `{"zip_code":"12345","threshold_percent":60,"automation_enabled":true}`.
struct LegacyRainBody: JSONReadable {
  let zipCode: String?
  let thresholdPercent: Int?
  /// Whether the forecast may start rain delays, or `nil` to leave that unchanged.
  let isAutomatic: Bool?

  init(_ body: inout JSONReader) throws(APIError) {
    zipCode = try body.optional("zip_code", .text(0...20)).flatMap { $0.isEmpty ? nil : $0 }
    thresholdPercent = try body.optional("threshold_percent", .integer(0...100))
    isAutomatic = try body.optional("automation_enabled", .boolean)
  }
}
