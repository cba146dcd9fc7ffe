import Wire

extension RobotDoor {
  /// The reason counts the failures of a stop that is tried again and again.
  var movingMembers: Set<String> { ["ageMs", "speedsPercent", "reason", "retries"] }

  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    [
      .state(
        name, name: "Robot", of: name, attributes: ["fault", "wayOut", "emergencyStopped", "stopConfirmed"], on: topics)
    ]
  }
}
