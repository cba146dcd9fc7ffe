import Wire

/// Conversion between the protocol's payloads, without their escapes, and values.
enum PlantPayloadReading {
  /// Decodes a new plant: `Basil:["0x36", "0x37"]` as the app sends it, or an object of the user file: `{"Sensors": "0x36", "Name": "Basil"}`.
  static func newPlant(_ payload: String) throws(PlantRefusal) -> PlantUserFile.Entry {
    if let file = PlantUserFile(json: payload), file.entries.count == 1 { return file.entries[0] }
    guard let colon = payload.firstIndex(of: ":") else { return .init(name: payload, sensors: []) }
    let list = String(payload[payload.index(after: colon)...])
    guard let sensors = PlantUserFile.sensors(list.trimmed) else {
      throw PlantRefusal(.invalidPlantSensorID, field: "sensors", "expected a JSON array of sensors")
    }
    return .init(name: String(payload[..<colon]), sensors: sensors)
  }

  /// Decodes an edit: `Old,New`, or an object with `name` and the values to change: `newName`, `sensors` and the limits, where null removes a limit.
  ///
  /// - Parameter isPlant: returns whether a text is the name of a plant. Names may contain commas: the longest prefix that is a plant's name is the
  ///   old name.
  static func edit(
    _ payload: String, isPlant: (String) -> Bool
  ) throws(PlantRefusal) -> (name: String, PlantEdit) {
    if case .object(let members)? = PlantUserFile.value(payload) { return try edit(members) }
    let commas = payload.indices.filter { payload[$0] == "," }
    guard let first = commas.first else {
      throw PlantRefusal(.invalidPlantName, field: "payload", "expected Old,New or a JSON object")
    }
    let comma = commas.last { isPlant(String(payload[..<$0])) } ?? first
    return (String(payload[..<comma]), PlantEdit(name: String(payload[payload.index(after: comma)...])))
  }

  private static func edit(_ members: [JSONValue.Member]) throws(PlantRefusal) -> (name: String, PlantEdit) {
    guard case .text(let name)? = members.first(where: { $0.name == "name" })?.value else {
      throw PlantRefusal(.invalidPlantSettings, field: "name", "expected the plant's name")
    }
    var edit = PlantEdit()
    // The keys are read in alphabetical order, so that of two errors always the same one is reported.
    for (key, value) in members.map({ ($0.name, $0.value) }).sorted(by: { $0.0 < $1.0 }) {
      switch key {
      case "name": break
      case "newName":
        guard case .text(let text) = value else { throw wrongType(key, "a text") }
        edit.name = text
      case "sensors":
        guard let sensors = PlantUserFile.sensors(value) else { throw wrongType(key, "an array of sensors") }
        edit.sensors = sensors
      case "dryPercent": edit.dryPercent = try limit(value, key)
      case "wetPercent": edit.wetPercent = try limit(value, key)
      case "coldCelsius": edit.coldCelsius = try limit(value, key)
      case "hotCelsius": edit.hotCelsius = try limit(value, key)
      default: throw PlantRefusal(.invalidPlantSettings, field: String(key.prefix(32)), "unknown key")
      }
    }
    return (name, edit)
  }

  /// Decodes a limit; `.some(nil)` removes it.
  private static func limit(_ value: JSONValue, _ key: String) throws(PlantRefusal) -> Double?? {
    if case .null = value { return .some(nil) }
    guard case .number(let digits) = value, let number = Double(digits), number.isFinite else {
      throw wrongType(key, "a number or null")
    }
    return number
  }

  private static func wrongType(_ key: String, _ expected: String) -> PlantRefusal {
    PlantRefusal(.invalidPlantSettings, field: key, "expected \(expected)")
  }

  /// Encodes a reading as a Python dictionary, as the original host prints it; the app replaces its apostrophes by quotation marks. A sensor without
  /// a thermometer has no `temperature`. Names contain no character that Python would escape.
  static func sensorData(_ reading: PlantReading, plant: PlantName, sensor: PlantSensorID) -> String {
    let temperature = reading.fahrenheit.map { ", 'temperature': \($0)" } ?? ""
    return "{'moisture': \(reading.scale)\(temperature), 'plant': '\(plant)', 'sensor': '\(sensor)'}"
  }
}
