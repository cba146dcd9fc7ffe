import Wire

extension HomeAssistantEntity {
  /// Returns a sensor that shows the member `state` of a system's state, with further members as its attributes.
  public static func state(
    _ id: String, name: String, of system: String, _ item: String? = nil, attributes: [String], on topics: DeviceTopics
  ) -> HomeAssistantEntity {
    var entity = HomeAssistantEntity(.sensor, id: id, name: name)
    entity.stateTopic = topics.state(system, item)
    entity.valueTemplate = "{{ value_json.state }}"
    entity.show(attributes)
    return entity
  }

  /// Makes these members of the state attributes of the entity.
  ///
  /// - Parameter attributes: members that change at events only. Home Assistant keeps a row for every change of any of
  ///   them, so a value that changes by itself does not belong here.
  public mutating func show(_ attributes: [String]) {
    others["json_attributes_topic"] = stateTopic
    let members = attributes.map { "'\($0)': value_json.\($0)" }.joined(separator: ", ")
    others["json_attributes_template"] = "{{ {\(members)} | tojson }}"
  }

  /// Returns the entities that belong to the device and to none of its systems: the buttons of the emergency stop and
  /// the reset. Empty if the device accepts no commands.
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
