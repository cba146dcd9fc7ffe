import Wire

/// The original host's file of one user: `[{"Sensors": "[\"0x36\"]", "Name": "Basil"}]`, where `Sensors` is a text that contains a JSON array.
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

  /// Parses the text of a file. Returns `nil` unless it is an array of objects with `Sensors` and `Name`. A single
  /// object counts as an array of one.
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

  /// Returns a JSON value, parsed as by Python, the language of the original host: the last of repeated keys counts. Returns `nil` if the text is not
  /// JSON.
  static func value(_ text: String) -> JSONValue? {
    try? JSONParser.parse(Array(text.utf8), repeated: .lastCounts)
  }

  public var json: String { "[" + entries.map(\.json).joined(separator: ", ") + "]" }

  /// Returns the names in a list as clients write it: a JSON array, one with apostrophes instead of quotation marks, or a single name. Returns `nil`
  /// if the list contains anything but texts.
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
  /// The entry as Python's `json.dumps` writes it.
  public var json: String {
    let list = "[" + sensors.map(JSONText.quoted).joined(separator: ", ") + "]"
    return "{\"Name\": \(JSONText.quoted(name)), \"Sensors\": \(JSONText.quoted(list))}"
  }
}
