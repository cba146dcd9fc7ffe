import ArgumentParser
import Logging
import Tactus

/// How log lines look.
enum LogFormat: Equatable, Sendable {
  /// One JSON object a line: ts, level, label, msg, and the metadata's own members.
  case json
  /// For eyes: time, level, label, message, key=value.
  case text
  /// As the configuration says; the metadata follow the message.
  case pattern(LogPattern)

  func line(
    level: Logger.Level, label: String, message: String, metadata: Logger.Metadata, timestamp: String
  ) -> String {
    let sorted = metadata.sorted { $0.key < $1.key }
    switch self {
    case .json:
      var line = JSONLine()
      line.add("ts", timestamp)
      line.add("level", level.rawValue)
      line.add("label", label)
      line.add("msg", message)
      for (key, value) in sorted {
        line.add(["ts", "level", "label", "msg"].contains(key) ? key + "_" : key, raw: Self.json(value))
      }
      return line.text
    case .text:
      let time = timestamp.dropFirst(11).prefix(12)
      let level = level.rawValue.uppercased()
      let padding = String(repeating: " ", count: max(0, 8 - level.count))
      return
        "\(time) \(level)\(padding) \(label): \(Self.whole(message, sorted))"
    case .pattern(let pattern):
      return pattern.line(
        level: level, label: label, message: Self.whole(message, sorted), timestamp: timestamp)
    }
  }

  private static func whole(_ message: String, _ metadata: [(key: String, value: Logger.MetadataValue)]) -> String {
    ([oneLine(message)] + metadata.map { "\($0.key)=\(oneLine(text($0.value)))" }).joined(separator: " ")
  }

  /// Members of a value in the order of their names.
  private static func text(_ value: Logger.MetadataValue) -> String {
    guard case .dictionary(let members) = value else { return value.description }
    return "{" + members.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }.joined(separator: " ") + "}"
  }

  /// A message from outside may not forge a second line or move the cursor.
  private static func oneLine(_ text: String) -> String {
    String(JSONLine.quoted(text).dropFirst().dropLast()).replacing("\\\"", with: "\"")
  }

  private static func json(_ value: Logger.MetadataValue) -> String {
    switch value {
    case .string(let text): JSONLine.quoted(text)
    case .stringConvertible(let number as Int): String(number)
    case .stringConvertible(let number as Int64): String(number)
    case .stringConvertible(let number as Double) where number.isFinite: String(number)
    case .stringConvertible(let flag as Bool): String(flag)
    case .stringConvertible(let other): JSONLine.quoted(other.description)
    case .array(let items): "[" + items.map(json).joined(separator: ",") + "]"
    case .dictionary(let members):
      "{"
        + members.sorted { $0.key < $1.key }.map { JSONLine.quoted($0.key) + ":" + json($0.value) }
        .joined(separator: ",") + "}"
    }
  }
}

extension LogFormat: ExpressibleByArgument {
  init?(argument: String) {
    switch argument {
    case "json": self = .json
    case "text": self = .text
    default: return nil
    }
  }

  static var allValueStrings: [String] { ["json", "text"] }
  var defaultValueDescription: String { name }

  /// What a command line says for it: a pattern is for eyes.
  var name: String { self == .json ? "json" : "text" }
}
