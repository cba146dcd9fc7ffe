import Wire

extension RobotDoor {
  public func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    [.state(name, name: "Robot", of: name, on: topics)]
  }
}
