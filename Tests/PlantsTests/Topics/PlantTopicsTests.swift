import Foundation
import Plants
import Testing
import Wire

@Suite("Plants: topics of a broker") struct PlantTopicsTests {
  let topics = DeviceTopics(device: "greenhouse.1")!

  @Test("topics: state, command and availability; a command's plant, and what is none")
  func topicNames() {
    #expect(PlantTopics.state(of: PlantID(7), on: topics) == "tactus/greenhouse.1/plants/7/state")
    #expect(topics.availability == "tactus/greenhouse.1/status")
    #expect(
      topics.commandFilters("plants") == ["tactus/greenhouse.1/plants/command", "tactus/greenhouse.1/plants/+/command"])
    #expect(PlantTopics.plant(ofCommand: "tactus/greenhouse.1/plants/7/command", on: topics) == PlantID(7))
    for topic in [
      "tactus/greenhouse.1/plants/command", "tactus/greenhouse.1/plants//command", "tactus/other/plants/7/command",
      "tactus/greenhouse.1/plants/x/command", "tactus/greenhouse.1/plants/7/state",
      "tactus/greenhouse.1/plants/-1/command",
      "tactus/greenhouse.1/plants/7/8/command",
    ] {
      #expect(PlantTopics.plant(ofCommand: topic, on: topics) == nil, "\(topic)")
    }
    #expect(topics.commandItem("tactus/greenhouse.1/pump/command", of: "pump") == .some(nil))
    for name in ["", "a/b", "a+", "#", "a b", "é", String(repeating: "a", count: 65)] {
      #expect(DeviceTopics(device: name) == nil)
    }
  }

  @Test("state: JSON with the plant's condition; unknown is null")
  func document() throws {
    var plant = Plant(
      id: PlantID(7), user: PlantUser(sender: "a"), name: try PlantName("Grünkohl"), sensors: [PlantSensorID("0x36")!])
    #expect(
      PlantTopics.document(plant, nil)
        == #"{"name":"Grünkohl","moisturePercent":null,"temperatureCelsius":null,"alerts":[],"lastWatered":null,"sensors":["0x36"]}"#
    )
    plant.lastWatered = PlantInstant(secondsSince1970: 1_770_091_506)
    var condition = PlantCondition()
    condition.moisturePercent = 12.345
    condition.celsius = 21
    condition.alerts = [.silent, .dry]
    #expect(
      PlantTopics.document(plant, condition)
        == #"{"name":"Grünkohl","moisturePercent":12.3,"temperatureCelsius":21.0,"alerts":["dry","silent"],"#
        + #""lastWatered":"2026-02-03T04:05:06Z","sensors":["0x36"]}"#)
    #expect(PlantJSON(PlantTopics.document(plant, condition)) != nil)
  }

  @Test("golden: what Home Assistant is told of a plant's moisture and of its button")
  func discovery() {
    let entities = PlantTopics.entities(of: PlantID(7), name: "Basil", on: topics)
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
    for entity in entities { #expect(PlantJSON(entity.document(of: topics)) != nil) }
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
