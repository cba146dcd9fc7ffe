import Foundation
import TestSupport
import Testing
import Wire

@testable import Service

@Suite("Home Assistant's discovery of the sprinkler", .ownThread)
struct SprinklerEntitiesTests {
  private let topics = DeviceTopics(device: "garden")!

  private func object(_ entity: HomeAssistantEntity) throws -> [String: Any] {
    let data = Data(entity.document(of: topics).utf8)
    return try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }

  @Test("a zone: a valve that on and off open and close; without commands only what it shows")
  func zone() throws {
    let bench = try SprinklerDoorBench()
    let entities = bench.door.entities(on: topics, takesCommands: true)
    #expect(entities.map(\.id) == ["sprinkler", "zone-1", "zone-2", "zone-3"])
    let valve = entities[1]
    #expect(valve.topic(of: topics) == "homeassistant/valve/tactus-garden/zone-1/config")
    let members = try object(valve)
    #expect(members["name"] as? String == "Front" && members["device_class"] as? String == "water")
    #expect(members["state_topic"] as? String == "tactus/garden/sprinkler/zone/1/state")
    #expect(members["command_topic"] as? String == "tactus/garden/sprinkler/zone/1/command")
    #expect(members["payload_open"] as? String == "on" && members["payload_close"] as? String == "off")
    #expect(members["availability_topic"] as? String == "tactus/garden/status")
    let seen = bench.door.entities(on: topics, takesCommands: false)[1]
    #expect(seen.component == .binarySensor)
    #expect(try object(seen)["command_topic"] == nil)
  }

  @Test("parts of a state: each zone on its own")
  func parts() throws {
    let bench = try SprinklerDoorBench()
    #expect(bench.door.parts.map(\.path) == ["zone/1", "zone/2", "zone/3"])
    #expect(String(decoding: bench.door.parts[0].state, as: UTF8.self).contains(#""isOn":false"#))
  }
}
