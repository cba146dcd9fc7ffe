import Wire

extension VideoDoor {
  public var movingMembers: Set<String> {
    ["statistics", "objects", "pictures", "failures", "detectMs", "retryMs", "bytes"]
  }

  public func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    var viewers = HomeAssistantEntity(.sensor, id: "video-viewers", name: "Video viewers")
    viewers.stateTopic = topics.state(name)
    viewers.valueTemplate = "{{ value_json.viewers.rtsp + value_json.viewers.mp4 + value_json.viewers.mjpeg }}"
    viewers.stateClass = "measurement"
    return [.state("video", name: "Video", of: name, attributes: ["reason", "wayOut"], on: topics), viewers]
  }
}
