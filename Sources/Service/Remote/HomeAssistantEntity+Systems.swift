import Wire

extension HomeAssistantEntity {
  /// A sensor of the member `state`, with the rest of the state as its attributes.
  public static func state(
    _ id: String, name: String, of system: String, _ item: String? = nil, on topics: DeviceTopics
  ) -> HomeAssistantEntity {
    var entity = HomeAssistantEntity(.sensor, id: id, name: name)
    entity.stateTopic = topics.state(system, item)
    entity.valueTemplate = "{{ value_json.state }}"
    entity.others["json_attributes_topic"] = topics.state(system, item)
    return entity
  }

  /// What belongs to the device and to none of its systems.
  public static func ofDevice(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    guard takesCommands else { return [] }
    return [("e-stop", "Emergency stop"), ("reset", "Reset")].map { word, name in
      var entity = HomeAssistantEntity(.button, id: word, name: name)
      entity.commandTopic = topics.commandForAll
      entity.pressPayload = word
      return entity
    }
  }
}
