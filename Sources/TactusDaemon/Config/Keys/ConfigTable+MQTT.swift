/// The keys of the MQTT broker.
extension ConfigTable {
  static let mqtt: [ConfigKey] = [
    ConfigKey(
      "mqtt.broker", .text, .text("127.0.0.1"),
      "The broker's name or address; or spawn: Debian's mosquitto, started by this program on 127.0.0.1 for this machine alone."
    ).found(by: .announced(type: "_mqtt._tcp", port: "mqtt.port", standard: 1883)),
    ConfigKey(
      "mqtt.port", .integer(1...65535), nil, "The broker's TCP port. Unless given: 1883, or 8883 with mqtt.tls."),
    ConfigKey(
      "mqtt.user", .text, nil,
      "The name we give the broker; none unless given. A spawned one lets only this one publish, and who has no name read."
    ),
    ConfigKey("mqtt.password", .text, nil, "The password with it: ${NAME} takes it from the environment."),
    ConfigKey(
      "mqtt.password_file", .text, nil,
      "File that holds the password instead, without the line's end; read when the program starts."),
    ConfigKey(
      "mqtt.tls", .boolean, .boolean(false),
      "TLS toward the broker, whose certificate must be valid and name mqtt.broker."),
    ConfigKey(
      "mqtt.tls_ca", .text, nil, "PEM file of the authority that signed it. Unless given: those of the system."),
    ConfigKey("mqtt.tls_certificate", .text, nil, "PEM file of our own certificate, for a broker that asks for one."),
    ConfigKey("mqtt.tls_key", .text, nil, "PEM file of that certificate's key."),
    ConfigKey(
      "mqtt.device", .text, nil,
      "What this machine is called in topics, 1…64 of A-Z a-z 0-9 . _ -; one broker, one name each. Unless given: its host name."
    ),
    ConfigKey("mqtt.prefix", .text, .text("tactus"), "All topics of this machine begin with PREFIX/DEVICE/."),
    ConfigKey(
      "mqtt.commands", .boolean, .boolean(false),
      "Take commands. Whoever may publish on the broker can then drive what this file runs: give the broker users and an "
        + "access list, as config/mosquitto.acl. On a spawned one that is mqtt.user alone."),
    ConfigKey(
      "mqtt.state_interval_s", .integer(1...3600), .integer(60),
      "Seconds between two states of a system in which nothing changes but what moves by itself: temperatures, ages, counts. What happens is "
        + "told within 0.1 s, any other change within 5 s."),
    ConfigKey(
      "mqtt.discovery", .boolean, .boolean(true),
      "Announce what there is to Home Assistant; false takes back what was announced."),
    ConfigKey("mqtt.discovery_prefix", .text, .text("homeassistant"), "Where Home Assistant looks."),
    ConfigKey(
      "mqtt.keepalive_s", .integer(5...65535), .integer(30),
      "Seconds between two signs of life, by which broker and machine miss each other."),
  ]
}
