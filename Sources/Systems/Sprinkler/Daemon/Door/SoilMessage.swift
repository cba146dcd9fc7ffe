import Sprinkler
import Wire

/// A message on a topic of the broker, as a reading of the soil.
enum SoilMessage {
  /// The greatest number of bytes that are read.
  static let longest = 8_192
  /// The distance, in %, by which a reading may lie outside 0…100 % because of an inexact calibration.
  static let tolerance = 5.0

  /// The reason why a message is no reading, in words.
  struct Failure: Error, Equatable {
    let reason: String
  }

  /// Reads a message: a JSON number, or a JSON object with the topic's member. Returns the moisture, 0…100 %.
  static func read(_ body: [UInt8], _ topic: SoilTopic) throws(Failure) -> Double {
    guard body.count <= longest else {
      throw Failure(reason: "expected at most \(longest) bytes, got \(body.count)")
    }
    var value: JSONValue
    do throws(JSONParser.Failure) {
      value = try JSONParser.parse(body)
    } catch {
      throw Failure(reason: "expected a number or JSON: \(error.reason), at byte \(error.offset)")
    }
    for name in topic.member?.split(separator: ".", omittingEmptySubsequences: false) ?? [] {
      guard let inner = value.member(String(name)) else {
        throw Failure(reason: "expected a member \(topic.member ?? ""), got none")
      }
      value = inner
    }
    guard case .number(let digits) = value, let number = Double(digits), number.isFinite else {
      throw Failure(reason: "expected a number\(topic.member.map { " in \($0)" } ?? ""), got none")
    }
    let percent = number * topic.scale + topic.offsetPercent
    guard percent >= -tolerance, percent <= 100 + tolerance else {
      throw Failure(reason: "expected 0…100 % with scale and offset_percent, got \(percent)")
    }
    return min(100, max(0, percent))
  }
}
