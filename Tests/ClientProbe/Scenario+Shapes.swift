import Foundation
import TactusClient

/// Compares the client's types with the description that the daemon gives of itself, so that neither changes alone.
///
/// Of each schema two documents are made: one with all that may be there, and one in which all that may be `null` or absent is. The client's type must read
/// both; and what it writes of the first may have no member that the schema has not. So a member that is renamed, removed, made nullable, or of another
/// type is found; and so is a word that either side does not know.
extension Scenario {
  func shapes() async throws {
    guard let url = endpoint.url("/api/openapi.json") else { throw Unexpected("no address") }
    let transport = URLSessionTransport(endpoint)
    let answer = try await transport.answer(to: ClientRequest("GET", url.path, kind: .look), token: token)
    let schemas = Schemas(try JSONDecoder().decode(JSONValue.self, from: answer.body))
    var failures: [String] = []
    for shape in Shape.all {
      failures += shape.check(schemas).map { "\(shape.schema): \($0)" }
      say("compared: \(shape.schema)")
    }
    for (path, words) in Self.words {
      let found = Set(try schemas.words(path))
      if found != Set(words) {
        failures.append("\(path): the daemon says \(found.sorted()), the client knows \(words.sorted())")
      }
    }
    guard failures.isEmpty else {
      throw Unexpected("the client and the daemon differ:\n" + failures.joined(separator: "\n"))
    }
  }

  /// Words that the client knows, and where the description lists them.
  private static let words: [(path: String, words: [String])] = [
    ("Robot.state", RobotState.Mode.known.map(\.rawValue)), ("Legs.state", LegsState.Mode.known.map(\.rawValue)),
    ("Leg.state", LegsState.Mode.known.map(\.rawValue)), ("Sprinkler.state", SprinklerState.Mode.known.map(\.rawValue)),
    ("Pump.state", PumpState.Mode.known.map(\.rawValue)), ("Pump.contact", PumpState.Contact.known.map(\.rawValue)),
    ("Plants.state", PlantsState.Mode.known.map(\.rawValue)), ("Plant.state", PlantsState.Mode.known.map(\.rawValue)),
    ("Video.state", VideoState.Mode.known.map(\.rawValue)),
    ("WateringLog.runs[].outcome", WateringLog.Outcome.known.map(\.rawValue)),
    ("Health.status", DaemonHealth.Status.known.map(\.rawValue)),
  ]
}

/// A type of the client's and the schema that it goes by.
private struct Shape: Sendable {
  let schema: String
  let check: @Sendable (Schemas) -> [String]

  static let all = [
    answer("Robot", RobotState.self), answer("Legs", LegsState.self), answer("Sprinkler", SprinklerState.self),
    answer("Schedule", Schedule.self), answer("Pump", PumpState.self), answer("PumpSession", PumpSession.self),
    answer("Plants", PlantsState.self), answer("PlantHistory", PlantHistory.self), answer("Video", VideoState.self),
    answer("DeclaredSystem", DeclaredSystem.self), answer("SchedulePreview.starts[]", ScheduledStart.self),
    answer("SchedulePreview", SchedulePreview.self), answer("DraftPreview", DraftPreview.self),
    answer("WateringLog", WateringLog.self), answer("Seasonal", SeasonalLevel.self),
    answer("PumpHistory", PumpHistory.self), answer("PlantAlerts", PlantAlerts.self),
    answer("PlantPictures", PlantPictures.self), answer("Health", DaemonHealth.self),
    request(
      "NewSchedule",
      NewSchedule(name: "a", startTimes: ["06:00"], days: ["Mon"], zones: [Schedule.Step(zoneId: 1, minutes: 1)])),
    request(
      "ScheduleChange",
      ScheduleChange(name: "a", startTimes: [], days: [], zones: [], isEnabled: true, skipIfRain: true)),
    request("NewPlant", NewPlant(name: "a", sensors: ["b"], dryPercent: 1, wetPercent: 2)),
    request("PlantChange", PlantChange(name: "a", sensors: ["b"], dryPercent: 1, wetPercent: 2)),
  ]

  /// What the daemon says.
  private static func answer<Value: Codable & Sendable>(_ schema: String, _ type: Value.Type) -> Shape {
    Shape(schema: schema) { schemas in
      guard let found = schemas.find(schema) else { return ["the daemon has no such schema"] }
      var failures: [String] = []
      for isFull in [true, false] {
        let document = schemas.document(found, isFull: isFull)
        do {
          let value = try JSONDecoder().decode(type, from: JSONEncoder().encode(document))
          let written = try JSONDecoder().decode(JSONValue.self, from: JSONEncoder().encode(value))
          if isFull { failures += schemas.strangers(written, of: document) + missing(value) }
        } catch {
          failures.append("a document with all that may be \(isFull ? "there" : "null") is not read: \(error)")
        }
      }
      return failures
    }
  }

  /// Members that are `nil` where the daemon has said all that it may say.
  private static func missing(_ value: Any, at path: String = "") -> [String] {
    let mirror = Mirror(reflecting: value)
    if mirror.displayStyle == .optional, mirror.children.isEmpty { return ["\(path): the daemon has no such member"] }
    return mirror.children.flatMap {
      missing($0.value, at: path + ($0.label.map { $0 == "some" ? "" : "." + $0 } ?? "[]"))
    }
  }

  /// What the client sends: no member that the daemon does not know, and all that it asks for.
  private static func request(_ schema: String, _ value: some Encodable & Sendable) -> Shape {
    Shape(schema: schema) { schemas in
      guard let found = schemas.find(schema), case .object(let properties)? = found["properties"],
        let data = try? JSONEncoder().encode(value),
        case .object(let written)? = try? JSONDecoder().decode(JSONValue.self, from: data)
      else { return ["the daemon has no such schema"] }
      let required = Set((found["required"]?.array ?? []).compactMap(\.string))
      return Set(written.keys).subtracting(properties.keys).sorted().map { "the daemon knows no \($0)" }
        + required.subtracting(written.keys).sorted().map { "the daemon asks for \($0)" }
    }
  }
}

/// The schemas of a description.
private struct Schemas: Sendable {
  let all: JSONValue

  init(_ description: JSONValue) { all = description["components"]?["schemas"] ?? .null }

  /// A schema by its name, or one within it: `Robot`, `SchedulePreview.starts[]`.
  func find(_ path: String) -> JSONValue? {
    var parts = path.split(separator: ".").map(String.init)[...]
    var schema = all[parts.removeFirst()]
    for part in parts {
      schema = schema?["properties"]?[part.replacingOccurrences(of: "[]", with: "")]
      if part.hasSuffix("[]") { schema = schema?["items"] }
      schema = schema.map(resolved)
    }
    return schema
  }

  /// The words that a schema lists.
  func words(_ path: String) throws -> [String] {
    guard let words = find(path)?["enum"]?.array else { throw Unexpected("\(path): the daemon lists no words") }
    return words.compactMap(\.string)
  }

  private func resolved(_ schema: JSONValue) -> JSONValue {
    guard let name = schema["$ref"]?.string?.split(separator: "/").last else { return schema }
    return all[String(name)] ?? .null
  }

  /// A document of a schema: with all that may be there, or with as little as may be.
  func document(_ schema: JSONValue, isFull: Bool) -> JSONValue {
    let schema = resolved(schema)
    for key in ["anyOf", "oneOf"] {
      guard let choices = schema[key]?.array, schema["properties"] == nil, !choices.isEmpty else { continue }
      let null = choices.first { $0["type"] == .string("null") }
      if !isFull, null != nil { return .null }
      return document(choices.first { $0["type"] != .string("null") } ?? choices[0], isFull: isFull)
    }
    let types = schema["type"]?.array?.compactMap(\.string) ?? [schema["type"]?.string].compactMap(\.self)
    if !isFull, types.contains("null") { return .null }
    if let constant = schema["const"] { return constant }
    if let word = schema["enum"]?.array?.first(where: { $0 != .null }) { return word }
    switch types.first(where: { $0 != "null" }) {
    case "object": return object(schema, isFull: isFull)
    case "array": return .array(isFull ? [document(schema["items"] ?? .null, isFull: true)] : [])
    case "string": return .string("word")
    // No whole number: a type that expects one is found.
    case "number": return .number(0.5)
    case "integer": return .number(1)
    case "boolean": return .bool(true)
    default: return isFull ? .string("anything") : .null
    }
  }

  private func object(_ schema: JSONValue, isFull: Bool) -> JSONValue {
    guard case .object(let properties)? = schema["properties"] else { return .object([:]) }
    let required = Set((schema["required"]?.array ?? []).compactMap(\.string))
    return .object(
      properties.filter { isFull || required.contains($0.key) }.mapValues { document($0, isFull: isFull) })
  }

  /// Members of `written` that the document has not, and members that came out otherwise than they went in.
  func strangers(_ written: JSONValue, of document: JSONValue, at path: String = "") -> [String] {
    switch (written, document) {
    case (.object(let ours), .object(let theirs)):
      ours.sorted { $0.key < $1.key }.flatMap { name, value in
        theirs[name].map { strangers(value, of: $0, at: "\(path).\(name)") } ?? [
          "\(path).\(name): the daemon has no such member"
        ]
      }
    case (.array(let ours), .array(let theirs)): zip(ours, theirs).flatMap { strangers($0, of: $1, at: path + "[]") }
    default: written == document ? [] : ["\(path): \(document) is read as \(written)"]
    }
  }
}
