import Foundation
import Plants
import Testing
import Wire

@Suite("Plants: topics of a broker") struct PlantTopicsTests {
  let topics = DeviceTopics(device: "greenhouse.1")!

  @Test("topics: state, command and availability, by the plant's number")
  func topicNames() {
    #expect(PlantTopics.state(of: PlantID(7), on: topics) == "tactus/greenhouse.1/plants/7/state")
    #expect(topics.availability == "tactus/greenhouse.1/status")
    #expect(
      topics.commandFilters("plants") == ["tactus/greenhouse.1/plants/command", "tactus/greenhouse.1/plants/+/command"])
    #expect(
      topics.commandItem(topics.command(PlantTopics.system, "7"), of: PlantTopics.system) == .some(.some("7")))
    #expect(topics.commandItem("tactus/greenhouse.1/pump/command", of: "pump") == .some(nil))
    for name in ["", "a/b", "a+", "#", "a b", "é", String(repeating: "a", count: 65)] {
      #expect(DeviceTopics(device: name) == nil)
    }
  }

  @Test("golden: what Home Assistant is told of a plant's moisture and of its button")
  func discovery() throws {
    let entities = PlantTopics.entities(of: PlantID(7), name: "Basil", on: topics, takesCommands: true)
    #expect(
      PlantTopics.entities(of: PlantID(7), name: "Basil", on: topics, takesCommands: false) == entities.dropLast())
    #expect(
      entities.map { $0.topic(of: topics) } == [
        "homeassistant/sensor/tactus-greenhouse_1/plant-7-moisture/config",
        "homeassistant/sensor/tactus-greenhouse_1/plant-7-temperature/config",
        "homeassistant/sensor/tactus-greenhouse_1/plant-7-watered/config",
        "homeassistant/binary_sensor/tactus-greenhouse_1/plant-7-problem/config",
        "homeassistant/button/tactus-greenhouse_1/plant-7-water/config",
      ])
    let device =
      #""availability_topic":"tactus/greenhouse.1/status","device":{"identifiers":["tactus-greenhouse.1"],"#
      + #""name":"greenhouse.1","manufacturer":"Tactus"}}"#
    #expect(
      entities[0].document(of: topics)
        == #"{"name":"Basil moisture","unique_id":"tactus-greenhouse.1-plant-7-moisture","#
        + #""state_topic":"tactus/greenhouse.1/plants/7/state","value_template":"{{ value_json.moisturePercent }}","#
        + #""unit_of_measurement":"%","device_class":"moisture","state_class":"measurement","# + device)
    #expect(
      entities[4].document(of: topics)
        == #"{"name":"Basil was watered","unique_id":"tactus-greenhouse.1-plant-7-water","#
        + #""command_topic":"tactus/greenhouse.1/plants/7/command","payload_press":"watered","# + device)
    // Of a plant that asks for water: whether it waits for a confirmation, and a button that gives it.
    let linked = PlantTopics.entities(
      of: PlantID(7), name: "Basil", on: topics, takesCommands: true, asksForWater: true)
    #expect(
      Set(linked.map { $0.topic(of: topics) }).subtracting(entities.map { $0.topic(of: topics) }) == [
        "homeassistant/binary_sensor/tactus-greenhouse_1/plant-7-waits/config",
        "homeassistant/button/tactus-greenhouse_1/plant-7-confirm/config",
      ])
    #expect(linked.last?.document(of: topics).contains(#""payload_press":"confirm-watering""#) == true)
    for entity in linked { _ = try JSONParser.parse(Array(entity.document(of: topics).utf8)) }
  }

  @Test("times: as Foundation writes them, from 1600 to 2400")
  func times() {
    let formatter = ISO8601DateFormatter()
    for second in stride(from: Int64(-11_676_096_000), to: 13_569_465_600, by: 86_400 * 397 + 3_671) {
      let expected = formatter.string(from: Date(timeIntervalSince1970: Double(second)))
      #expect(PlantInstant(secondsSince1970: second).text == expected)
    }
  }
}
