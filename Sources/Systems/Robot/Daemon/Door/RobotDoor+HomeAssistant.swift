import Wire

extension RobotDoor {
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    [.state(name, name: "Robot", of: name, on: topics)]
  }
}
