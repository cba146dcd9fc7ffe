import Wire

extension HomeAssistantEntity {
  /// A sensor of the member `state`, with some other members of it as its attributes.
  public static func state(
    _ id: String, name: String, of system: String, _ item: String? = nil, attributes: [String], on topics: DeviceTopics
  ) -> HomeAssistantEntity {
    var entity = HomeAssistantEntity(.sensor, id: id, name: name)
    entity.stateTopic = topics.state(system, item)
    entity.valueTemplate = "{{ value_json.state }}"
    entity.show(attributes)
    return entity
  }

  /// Makes these members of the state its attributes.
  ///
  /// - Parameter attributes: members that change when something happens. Home Assistant keeps a row for every change of any of them, so
  ///   nothing that moves by itself belongs here.
  public mutating func show(_ attributes: [String]) {
    others["json_attributes_topic"] = stateTopic
    let members = attributes.map { "'\($0)': value_json.\($0)" }.joined(separator: ", ")
    others["json_attributes_template"] = "{{ {\(members)} | tojson }}"
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
