/// One entity that Home Assistant shows of a device, and the document that makes it known (MQTT discovery).
public struct HomeAssistantEntity: Sendable, Hashable {
  public enum Component: String, Sendable, Hashable {
    case sensor
    case binarySensor = "binary_sensor"
    case button
    /// A number that can be set.
    case number
    /// A yes or no that can be set.
    case `switch`
    /// One of some words that can be chosen.
    case select
    case valve
    case fan
  }
  public var component: Component
  /// Unique on the device: letters, digits, `_` and `-`.
  public var id: String
  public var name: String
  /// Nil for a button.
  public var stateTopic: String?
  /// Picks the value out of the state's JSON.
  public var valueTemplate: String?
  public var unit: String?
  public var deviceClass: String?
  /// `measurement` makes Home Assistant keep statistics.
  public var stateClass: String?
  /// Of a button, and what it sends there.
  public var commandTopic: String?
  public var pressPayload: String?
  /// What only some components have, by Home Assistant's names: `payload_open`.
  public var others: [String: String] = [:]

  /// Of a select: the words.
  public var options: [String] = []

  public init(_ component: Component, id: String, name: String) {
    self.component = component
    self.id = id
    self.name = name
  }

  /// Where the document goes, retained; an empty one takes the entity away.
  public func topic(of topics: DeviceTopics, prefix: String = "homeassistant") -> String {
    "\(prefix)/\(component.rawValue)/\(Self.node(of: topics))/\(id)/config"
  }

  /// The document: JSON, its keys in a fixed order.
  public func document(of topics: DeviceTopics) -> String {
    let device = topics.identity
    var members: [(String, String?)] = [
      ("name", name), ("unique_id", "\(device)-\(id)"), ("state_topic", stateTopic), ("value_template", valueTemplate),
      ("unit_of_measurement", unit), ("device_class", deviceClass), ("state_class", stateClass),
      ("command_topic", commandTopic), ("payload_press", pressPayload),
    ]
    members += others.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    members.append(("availability_topic", topics.availability))
    let texts = members.compactMap { key, value in
      value.map { "\(JSONText.quoted(key)):\(JSONText.quoted($0))" }
    }
    let choices =
      options.isEmpty ? "" : ",\"options\":[\(options.map { JSONText.quoted($0) }.joined(separator: ","))]"
    let owner =
      "{\"identifiers\":[\(JSONText.quoted(device))],\"name\":\(JSONText.quoted(topics.device)),"
      + "\"manufacturer\":\"Tactus\"}"
    return "{" + texts.joined(separator: ",") + choices + ",\"device\":\(owner)}"
  }

  /// The level of a device's discovery topics, which allow no dot. Two devices may share it: `a.b` and `a_b`.
  public static func node(of topics: DeviceTopics) -> String {
    String(topics.identity.map { $0 == "." ? "_" : $0 })
  }
}
