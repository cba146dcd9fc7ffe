import Testing
import Wire

@Suite("topics of a device") struct DeviceTopicsTests {
  let topics = DeviceTopics(device: "garden", prefix: "farm/east")!

  @Test("below prefix and device; a prefix with an empty level or a wildcard is none")
  func places() {
    #expect(topics.availability == "farm/east/garden/status" && topics.commandForAll == "farm/east/garden/command")
    #expect(topics.state("sprinkler", "zone/1") == "farm/east/garden/sprinkler/zone/1/state")
    #expect(topics.event("robot") == "farm/east/garden/robot/event")
    for prefix in ["", "/a", "a/", "a//b", "+", "a/#", "$SYS"] {
      #expect(DeviceTopics(device: "x", prefix: prefix) == nil, "\(prefix)")
    }
  }

  @Test("a command: meant for what stands before the last level; nothing else is one")
  func commands() {
    #expect(topics.everyCommandFilter.first == "farm/east/garden/command")
    #expect(topics.everyCommandFilter.last == "farm/east/garden/+/+/+/command")
    #expect(topics.commandPath("farm/east/garden/command") == [])
    #expect(topics.commandPath("farm/east/garden/sprinkler/zone/1/command") == ["sprinkler", "zone", "1"])
    for topic in ["farm/east/garden", "farm/east/garden/robot/state", "farm/east/gardens/command", "command", ""] {
      #expect(topics.commandPath(topic) == nil, "\(topic)")
    }
    #expect(topics.commandItem("farm/east/garden/plants/fern/command", of: "plants") == .some("fern"))
    #expect(topics.commandItem("farm/east/garden/plants/command", of: "plants") == .some(nil))
    for topic in ["plants/f[rn/command", "plants/a/b/command", "plants//command", "pump/command"] {
      let isCommand = topics.commandItem("farm/east/garden/\(topic)", of: "plants") != nil
      #expect(!isCommand, "\(topic) is no command of the plants")
    }
    #expect(topics.reply([]) == "farm/east/garden/reply")
    #expect(topics.reply(["leg", "0"]) == "farm/east/garden/leg/0/reply")
  }
}
