import Foundation
import Service
import Testing
import Wire

/// Whether a JSON Schema (2020-12) accepts a value, for the keywords that the schema of the configuration file uses: another
/// one fails the test.
struct JSONSchemaChecker {
  let root: JSONValue

  func accepts(_ value: JSONValue) throws -> Bool { try accepts(value, root) }

  private func accepts(_ value: JSONValue, _ schema: JSONValue) throws -> Bool {
    for keyword in schema.members {
      guard try accepts(value, keyword.name, keyword.value, schema) else { return false }
    }
    return true
  }

  private func accepts(_ value: JSONValue, _ keyword: String, _ says: JSONValue, _ schema: JSONValue) throws -> Bool {
    switch keyword {
    case "$schema", "title", "description", "default", "$defs": return true
    case "type": return (says.items.isEmpty ? [says] : says.items).contains { Self.isType(value, $0.string ?? "") }
    case "$ref":
      let name = try #require(says.string?.split(separator: "/").last)
      return try accepts(value, try #require(root["$defs"]?[String(name)]))
    case "anyOf": return try says.items.contains { try accepts(value, $0) }
    case "enum": return says.items.contains(value)
    case "const": return says == value
    case "minimum", "maximum":
      guard let number = Self.number(value), let bound = Self.number(says) else { return true }
      return keyword == "minimum" ? number >= bound : number <= bound
    case "minLength": return value.string.map { Double($0.count) >= Self.number(says) ?? 0 } ?? true
    case "pattern":
      guard let text = value.string else { return true }
      let expression = try NSRegularExpression(pattern: try #require(says.string))
      return expression.firstMatch(in: text, range: NSRange(text.startIndex..., in: text)) != nil
    case "minItems", "maxItems":
      guard case .list(let items) = value, let bound = Self.number(says) else { return true }
      return keyword == "minItems" ? Double(items.count) >= bound : Double(items.count) <= bound
    case "uniqueItems": return !value.items.enumerated().contains { value.items.prefix($0).contains($1) }
    case "items": return try value.items.allSatisfy { try accepts($0, says) }
    case "properties":
      return try value.members.allSatisfy { member in
        try says[member.name].map { try accepts(member.value, $0) } ?? true
      }
    case "additionalProperties":
      return value.members.allSatisfy { schema["properties"]?[$0.name] != nil }
    default:
      Issue.record("the keyword \(keyword) is not checked here")
      return false
    }
  }

  private static func number(_ value: JSONValue) -> Double? {
    if case .number(let digits) = value { Double(digits) } else { nil }
  }

  private static func isType(_ value: JSONValue, _ type: String) -> Bool {
    switch value {
    case .null: type == "null"
    case .boolean: type == "boolean"
    case .number: type == "number" || type == "integer" && number(value).map { $0 == $0.rounded() } == true
    case .text: type == "string"
    case .list: type == "array"
    case .object: type == "object"
    }
  }
}
