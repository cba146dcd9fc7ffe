import ArgumentParser
import Logging
import Tactus

/// The format of log lines.
enum LogFormat: Equatable, Sendable {
  /// One JSON object a line: `ts`, `level`, `label`, `msg`, and the members of the metadata.
  case json
  /// A format for people: the local time with its zone, level, label, message, and metadata as key=value.
  case text
  /// The pattern of the configuration; the metadata follow the message.
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
      let time = LogTime(timestamp)
      let fraction = timestamp.dropFirst(19).prefix(4)
      let level = TerminalText.left(level.rawValue.uppercased(), 8)
      return "\(time.clock)\(fraction) \(time.zone) \(level) \(label): \(Self.whole(message, sorted))"
    case .pattern(let pattern):
      return pattern.line(
        level: level, label: label, message: Self.whole(message, sorted), timestamp: timestamp)
    }
  }

  private static func whole(_ message: String, _ metadata: [(key: String, value: Logger.MetadataValue)]) -> String {
    let values = metadata.map { "\($0.key)=\(JSONLine.inOneLine(text($0.value)))" }
    return ([JSONLine.inOneLine(message)] + values).joined(separator: " ")
  }

  /// Returns the text of a value, with members in the order of their names.
  private static func text(_ value: Logger.MetadataValue) -> String {
    guard case .dictionary(let members) = value else { return value.description }
    return "{" + members.sorted { $0.key < $1.key }.map { "\($0.key)=\(text($0.value))" }.joined(separator: " ") + "}"
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
    case "text":
      LogTime.readZone()
      self = .text
    default: return nil
    }
  }

  static var allValueStrings: [String] { ["json", "text"] }
  var defaultValueDescription: String { name }

  /// The format's name on a command line; a pattern counts as `text`.
  var name: String { self == .json ? "json" : "text" }
}
