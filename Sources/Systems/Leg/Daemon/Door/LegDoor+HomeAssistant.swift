import Wire

extension LegDoor {
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    legs.enumerated().flatMap { index, leg in
      var pulse = HomeAssistantEntity(.sensor, id: "leg-\(index)-pulse", name: "\(leg.name) pulse")
      pulse.stateTopic = topics.state(name, "\(index)")
      pulse.valueTemplate = "{{ value_json.pulseUs }}"
      pulse.unit = "µs"
      return [.state("leg-\(index)", name: leg.name, of: name, "\(index)", on: topics), pulse]
    }
  }
}
