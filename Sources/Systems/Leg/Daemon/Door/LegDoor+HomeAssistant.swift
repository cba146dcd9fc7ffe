import Wire

extension LegDoor {
  /// The pulse that is out is a sensor of its own, and moves only while somebody drives.
  var movingMembers: Set<String> {
    [
      "ageMs", "deadlineNs", "batteryMv", "readings", "writes", "channelsWritten", "retries", "failures",
      "framesReceived", "framesMalformed", "framesLost", "framesSent", "sendFailures",
    ]
  }

  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    legs.enumerated().flatMap { index, leg in
      var pulse = HomeAssistantEntity(.sensor, id: "leg-\(index)-pulse", name: "\(leg.name) pulse")
      pulse.stateTopic = topics.state(name, "\(index)")
      pulse.valueTemplate = "{{ value_json.pulseUs }}"
      pulse.unit = "µs"
      let attributes = ["error", "fault", "wayOut", "offConfirmed"]
      return [
        .state("leg-\(index)", name: leg.name, of: name, "\(index)", attributes: attributes, on: topics), pulse,
      ]
    }
  }
}
