/// An entity of a device in Home Assistant, and the document that announces it (MQTT discovery).
public struct HomeAssistantEntity: Sendable, Hashable {
  public enum Component: String, Sendable, Hashable {
    case sensor
    case binarySensor = "binary_sensor"
    case button
    /// An entity with a number that can be set.
    case number
    /// An entity with a boolean that can be set.
    case `switch`
    /// An entity whose value is one of several words that can be chosen.
    case select
    case valve
    case fan
  }
  public var component: Component
  /// The identifier of the entity, unique on the device: letters, digits, `_` and `-`.
  public var id: String
  public var name: String
  /// The topic of the entity's state, or `nil` for a button.
  public var stateTopic: String?
  /// The template that extracts the value from the state's JSON, or `nil` if there is none.
  public var valueTemplate: String?
  public var unit: String?
  public var deviceClass: String?
  /// The state class, or `nil` if there is none. `measurement` makes Home Assistant keep statistics.
  public var stateClass: String?
  /// The topic to which the entity sends commands, which for a button are `pressPayload`, or `nil` if it sends none.
  public var commandTopic: String?
  public var pressPayload: String?
  /// Further keys that only some components have, by Home Assistant's names, such as `payload_open`.
  public var others: [String: String] = [:]

  /// The words of a select.
  public var options: [String] = []

  public init(_ component: Component, id: String, name: String) {
    self.component = component
    self.id = id
    self.name = name
  }

  /// Returns the retained topic of the document. An empty document removes the entity.
  public func topic(of topics: DeviceTopics, prefix: String = "homeassistant") -> String {
    "\(prefix)/\(component.rawValue)/\(Self.node(of: topics))/\(id)/config"
  }

  /// Returns the document in JSON, with its keys in a fixed order.
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

  /// Returns the level of a device's discovery topics, which must not contain a dot. Two devices may share a level: `a.b` and `a_b`.
  public static func node(of topics: DeviceTopics) -> String {
    String(topics.identity.map { $0 == "." ? "_" : $0 })
  }
}
