import Sprinkler
import Wire

extension SprinklerDoor {
  /// How long a rain delay lasts is known by a clock that may be set; that it begins and ends is told.
  var movingMembers: Set<String> {
    [
      "localTime", "remainingSec", "pausedRemainingSec", "ranTodaySec", "inSec", "litresPerMinute", "pulses", "until",
      "millimetres", "answeredISO",
    ]
  }

  /// Zones are valves where they can be opened, and otherwise what a valve shows.
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    [
      .state(
        name, name: "Sprinkler", of: name, attributes: ["reason", "fault", "wayOut", "linesConfirmed", "nextRun"],
        on: topics)
    ]
      + desk.view.records.zones.map { zone in
        var entity = HomeAssistantEntity(
          takesCommands ? .valve : .binarySensor, id: "zone-\(zone.id)", name: zone.name)
        let item = "zone/\(zone.id)"
        entity.stateTopic = topics.state(name, item)
        entity.show(["id", "gpioPin", "isEnabled", "defaultMinutes", "maxMinutes"])
        if takesCommands {
          entity.deviceClass = "water"
          entity.valueTemplate = "{{ 'open' if value_json.isOn else 'closed' }}"
          entity.commandTopic = topics.command(name, item)
          entity.others["payload_open"] = "on"
          entity.others["payload_close"] = "off"
        } else {
          entity.deviceClass = "opening"
          entity.valueTemplate = "{{ 'ON' if value_json.isOn else 'OFF' }}"
        }
        return entity
      }
  }
}
