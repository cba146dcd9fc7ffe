import Wire

/// What Home Assistant sees of a pump, another machine's or this one's own.
enum PumpEntities {
  /// Of its state: what a broker is told of now and then.
  static let movingMembers: Set<String> = [
    "waterCelsius", "skinCelsius", "temperatureCelsius", "temperaturesAgeMs", "statusAgeMs", "runtimeMinutes",
    "remainingMinutes", "pumpedS", "leftS", "restS",
  ]

  /// With commands a fan, since Home Assistant has nothing nearer to a pump with a speed.
  static func all(of name: String, on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    let temperatures = [("water", "waterCelsius"), ("skin", "skinCelsius")].map { place, member in
      var entity = HomeAssistantEntity(.sensor, id: "pump-\(place)", name: "Pump \(place)")
      entity.stateTopic = topics.state(name)
      entity.valueTemplate = "{{ value_json.\(member) }}"
      entity.deviceClass = "temperature"
      entity.stateClass = "measurement"
      entity.unit = "°C"
      return entity
    }
    let attributes = ["reason", "fault", "wayOut", "offConfirmed", "source", "contact"]
    return [.state("pump-state", name: "Pump state", of: name, attributes: attributes, on: topics)] + temperatures
      + (takesCommands ? [fan(name, topics)] : [])
  }

  private static func fan(_ name: String, _ topics: DeviceTopics) -> HomeAssistantEntity {
    var fan = HomeAssistantEntity(.fan, id: "pump", name: "Pump")
    fan.stateTopic = topics.state(name)
    fan.commandTopic = topics.command(name)
    fan.others = [
      "state_value_template": "{{ 'on' if value_json.state in ('on', 'starting') else 'off' }}",
      "payload_on": "on", "payload_off": "off",
      "percentage_state_topic": topics.state(name), "percentage_value_template": "{{ value_json.speedPercent }}",
      "percentage_command_topic": topics.command(name),
      "percentage_command_template":
        #"{% if value | int == 0 %}off{% else %}{"command":"on","speedPercent":{{ value | int }}}{% endif %}"#,
    ]
    return fan
  }
}

extension PumpDoor {
  var movingMembers: Set<String> { PumpEntities.movingMembers }

  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    PumpEntities.all(of: name, on: topics, takesCommands: takesCommands)
  }
}

extension PumpDeviceDoor {
  var movingMembers: Set<String> { PumpEntities.movingMembers }

  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    PumpEntities.all(of: name, on: topics, takesCommands: takesCommands)
  }
}
