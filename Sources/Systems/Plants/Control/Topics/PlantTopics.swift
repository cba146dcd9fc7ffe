import Wire

/// The plants' topics on a broker: the app's topics, a retained state for each plant, and the discovery by Home Assistant.
public enum PlantTopics {
  /// The app's topics, from clients to hosts and back. Every client receives every message; nothing is retained.
  public static let toHost = "rpi/torpi"
  public static let fromHost = "rpi/fromrpi"
  public static let system = "plants"

  /// Returns `tactus/DEVICE/plants/ID/state`, the topic of the retained document of one plant, as in the API.
  public static func state(of plant: PlantID, on topics: DeviceTopics) -> String {
    topics.state(system, plant.description)
  }

  /// Returns the entities of a plant for Home Assistant, in a fixed order.
  ///
  /// - Parameters:
  ///   - takesCommands: whether to add a button that notes a watering by a person.
  ///   - asksForWater: whether to show that the first watering waits for a confirmation, with a button to confirm it.
  public static func entities(
    of id: PlantID, name: String, on topics: DeviceTopics, takesCommands: Bool, asksForWater: Bool = false
  ) -> [HomeAssistantEntity] {
    func entity(_ component: HomeAssistantEntity.Component, _ key: String, _ label: String) -> HomeAssistantEntity {
      var entity = HomeAssistantEntity(component, id: "plant-\(id)-\(key)", name: "\(name) \(label)")
      if component != .button { entity.stateTopic = state(of: id, on: topics) }
      return entity
    }
    var moisture = entity(.sensor, "moisture", "moisture")
    moisture.valueTemplate = "{{ value_json.moisturePercent }}"
    moisture.unit = "%"
    moisture.deviceClass = "moisture"
    moisture.stateClass = "measurement"
    var temperature = entity(.sensor, "temperature", "temperature")
    temperature.valueTemplate = "{{ value_json.temperatureCelsius }}"
    temperature.unit = "°C"
    temperature.deviceClass = "temperature"
    temperature.stateClass = "measurement"
    var watered = entity(.sensor, "watered", "last watered")
    watered.valueTemplate = "{{ value_json.lastWateredISO }}"
    watered.deviceClass = "timestamp"
    var problem = entity(.binarySensor, "problem", "problem")
    problem.valueTemplate = "{{ 'ON' if value_json.alerts else 'OFF' }}"
    problem.deviceClass = "problem"
    var waits = entity(.binarySensor, "waits", "waits for a confirmation")
    waits.valueTemplate = "{{ 'ON' if value_json.watering and value_json.watering.waitsFor else 'OFF' }}"
    let shown = [moisture, temperature, watered, problem] + (asksForWater ? [waits] : [])
    guard takesCommands else { return shown }
    func button(_ key: String, _ label: String, _ command: String) -> HomeAssistantEntity {
      var button = entity(.button, key, label)
      button.commandTopic = topics.command(system, id.description)
      button.pressPayload = command
      return button
    }
    let confirm = asksForWater ? [button("confirm", "may be watered", confirmCommand)] : []
    return shown + [button("water", "was watered", wateredCommand)] + confirm
  }

  /// The command that notes a watering.
  public static let wateredCommand = "watered"
  /// The command that confirms that a plant may be watered for the first time.
  public static let confirmCommand = "confirm-watering"
}

extension PlantInstant {
  /// The instant as RFC 3339 in UTC, for example `2026-02-03T04:05:06Z`.
  public var text: String {
    var days = secondsSince1970 / 86_400
    var rest = secondsSince1970 % 86_400
    if rest < 0 {
      rest += 86_400
      days -= 1
    }
    // Days to a date of the Gregorian calendar whose years begin in March: Hinnant, "chrono-compatible low-level date algorithms".
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    func pad(_ number: Int64, _ digits: Int) -> String {
      let text = String(number)
      return String(repeating: "0", count: max(0, digits - text.count)) + text
    }
    return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T"
      + "\(pad(rest / 3_600, 2)):\(pad(rest / 60 % 60, 2)):\(pad(rest % 60, 2))Z"
  }
}
