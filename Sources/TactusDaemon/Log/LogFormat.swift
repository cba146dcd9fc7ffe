import ArgumentParser
import Logging
import Tactus

/// How log lines look.
enum LogFormat: String, ExpressibleByArgument, CaseIterable {
  /// One JSON object a line: ts, level, label, msg, and the metadata's own members.
  case json
  /// For eyes: time, level, label, message, key=value.
  case text

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
        (["\(time) \(level)\(padding) \(label): \(Self.oneLine(message))"]
        + sorted.map { "\($0.key)=\(Self.oneLine($0.value.description))" }).joined(separator: " ")
    }
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
