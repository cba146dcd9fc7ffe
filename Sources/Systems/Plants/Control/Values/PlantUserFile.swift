import Wire

/// The original host's file of one user: `[{"Sensors": "[\"0x36\"]", "Name": "Basil"}]`, where `Sensors` is a text that holds a JSON array.
public struct PlantUserFile: Sendable, Hashable {
  public struct Entry: Sendable, Hashable {
    public var name: String
    public var sensors: [String]

    public init(name: String, sensors: [String]) {
      self.name = name
      self.sensors = sensors
    }
  }
  public var entries: [Entry]

  public init(_ entries: [Entry]) { self.entries = entries }

  /// Nil unless `text` is an array of such objects. One object alone counts as an array of one.
  public init?(json text: String) {
    guard let value = Self.value(text) else { return nil }
    let elements: [JSONValue]
    switch value {
    case .list(let list): elements = list
    case .object: elements = [value]
    default: return nil
    }
    entries = []
    for element in elements {
      guard case .object(let members) = element, members.count == 2,
        case .text(let name)? = members.first(where: { $0.name == "Name" })?.value,
        let sensors = members.first(where: { $0.name == "Sensors" }).flatMap({ Self.sensors($0.value) })
      else { return nil }
      entries.append(Entry(name: name, sensors: sensors))
    }
  }

  /// A JSON value as Python reads it, which the app's host was written in: of a repeated key the last counts. Nil: it is none.
  static func value(_ text: String) -> JSONValue? {
    try? JSONParser.parse(Array(text.utf8), repeated: .lastCounts)
  }

  public var json: String { "[" + entries.map(\.json).joined(separator: ", ") + "]" }

  /// The names in a list as clients write it: a JSON array, the same with apostrophes, or one name alone. Nil: a list of
  /// something else.
  static func sensors(_ text: String) -> [String]? {
    let quoted = String(text.map { $0 == "'" ? "\"" : $0 })
    switch value(quoted) {
    case .list(let elements)?: return strings(elements)
    case nil where PlantSensorID(text) != nil: return [text]
    default: return nil
    }
  }

  static func sensors(_ value: JSONValue) -> [String]? {
    switch value {
    case .text(let text): sensors(text)
    case .list(let elements): strings(elements)
    default: nil
    }
  }

  private static func strings(_ elements: [JSONValue]) -> [String]? {
    var strings: [String] = []
    for element in elements {
      guard case .text(let text) = element else { return nil }
      strings.append(text)
    }
    return strings
  }
}

extension PlantUserFile.Entry {
  /// As Python's `json.dumps` writes it.
  public var json: String {
    let list = "[" + sensors.map(JSONText.quoted).joined(separator: ", ") + "]"
    return "{\"Name\": \(JSONText.quoted(name)), \"Sensors\": \(JSONText.quoted(list))}"
  }
}
