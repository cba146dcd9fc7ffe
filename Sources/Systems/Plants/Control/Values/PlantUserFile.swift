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
    guard let value = PlantJSON(text) else { return nil }
    let elements: [PlantJSON]
    switch value {
    case .array(let array): elements = array
    case .object: elements = [value]
    default: return nil
    }
    entries = []
    for element in elements {
      guard case .object(let members) = element, members.count == 2, case .string(let name)? = members["Name"],
        let sensors = members["Sensors"].flatMap(Self.sensors)
      else { return nil }
      entries.append(Entry(name: name, sensors: sensors))
    }
  }

  public var json: String { "[" + entries.map(\.json).joined(separator: ", ") + "]" }

  /// The names in a list as clients write it: a JSON array, the same with apostrophes, or one name alone. Nil: a list of
  /// something else.
  static func sensors(_ text: String) -> [String]? {
    let quoted = String(text.map { $0 == "'" ? "\"" : $0 })
    switch PlantJSON(quoted) {
    case .array(let elements)?: return strings(elements)
    case nil where PlantSensorID(text) != nil: return [text]
    default: return nil
    }
  }

  static func sensors(_ value: PlantJSON) -> [String]? {
    switch value {
    case .string(let text): sensors(text)
    case .array(let elements): strings(elements)
    default: nil
    }
  }

  private static func strings(_ elements: [PlantJSON]) -> [String]? {
    var strings: [String] = []
    for element in elements {
      guard case .string(let text) = element else { return nil }
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
