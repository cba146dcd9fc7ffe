import Glibc
import MQTTMosquitto
import Service
import Wire

extension Configuration {
  /// The settings of the broker and of the daemon's account on it.
  public struct MQTT: Equatable, Sendable {
    enum Broker: Equatable {
      case address(String)
      /// A mosquitto process that this program starts.
      case spawn
    }
    var broker: Broker
    var port: UInt16
    var user: String?
    /// The password, which is secret. It comes from the file's key, or from `passwordFile` once `readPassword` has read
    /// that.
    var password: String?
    var passwordFile: SecretFile?
    /// The settings of TLS, or `nil` for a connection without TLS.
    var security: MQTTSecurity?
    var device: String
    var prefix: String
    /// The prefix under which Home Assistant looks for announcements, whether any are made or not.
    var homeAssistantPrefix: String
    var isAnnounced: Bool
    var takesCommands: Bool
    var stateIntervalSeconds: Int
    var keepAliveSeconds: Int
  }
}

extension Configuration.MQTT {
  /// Makes the settings of a simulated broker, to whose address no connection is made.
  package init(simulated device: DeviceTopics, takesCommands: Bool, stateIntervalSeconds: Int) {
    self.init(
      broker: .address(device.device), port: 1883, device: device.device, prefix: device.prefix,
      homeAssistantPrefix: "homeassistant", isAnnounced: false, takesCommands: takesCommands,
      stateIntervalSeconds: stateIntervalSeconds, keepAliveSeconds: 30)
  }

  /// Whether this build contains the MQTT client.
  static var isBuilt: Bool {
    #if MQTT
      true
    #else
      false
    #endif
  }

  /// Reads the section. Returns `nil` if the file has no `mqtt` section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("mqtt") else { return nil }
    let given = GivenValues(found)
    let hasTLS = given.boolean("mqtt.tls")
    let broker = given.text("mqtt.broker")
    self.init(
      broker: broker == "spawn" ? .spawn : .address(broker),
      port: UInt16(clamping: given.optionalInteger("mqtt.port") ?? (hasTLS ? 8883 : 1883)),
      user: given.optionalText("mqtt.user"), password: given.optionalText("mqtt.password"),
      passwordFile: given.secretFile("mqtt.password_file"),
      security: hasTLS
        ? MQTTSecurity(
          authorities: given.optionalText("mqtt.tls_ca"), certificate: given.optionalText("mqtt.tls_certificate"),
          key: given.optionalText("mqtt.tls_key"))
        : nil,
      device: given.optionalText("mqtt.device") ?? Self.name(of: HostRules.machineName),
      prefix: given.text("mqtt.prefix"),
      homeAssistantPrefix: given.text("mqtt.discovery_prefix"), isAnnounced: given.boolean("mqtt.discovery"),
      takesCommands: given.boolean("mqtt.commands"), stateIntervalSeconds: given.integer("mqtt.state_interval_s"),
      keepAliveSeconds: given.integer("mqtt.keepalive_s"))
  }

  /// Returns a device's name derived from a host name, without the domain and with `-` in place of characters that are not allowed.
  static func name(of host: String) -> String {
    let name = host.prefix { $0 != "." }.prefix(64)
    let plain = String(name.map { isPlain($0) ? $0 : "-" })
    return plain.isEmpty ? "tactus" : plain
  }

  private static func isPlain(_ character: Character) -> Bool {
    character.isASCII && (character.isLetter || character.isNumber || character == "_" || character == "-")
  }

  /// Returns the errors of rules over the keys of this section.
  func errors(file: String, places: ConfigPlaces) -> [ConfigError] {
    var errors: [ConfigError] = []
    func report(_ key: String, _ message: String, alone: Bool = false) {
      errors.append(places.error(file, key, message, alone: alone))
    }
    for (key, part, text) in [("mqtt.user", BrokerText.Part.user, user), ("mqtt.password", .password, password)] {
      if let text, let flaw = BrokerText.flaw(in: text, part, isSpawned: broker == .spawn) {
        report(key, flaw, alone: true)
      }
    }
    if !Self.isBuilt {
      report("mqtt", "expected no such section: this program was built without the trait MQTT", alone: true)
    }
    if case .address(let host) = broker {
      let isPort = host.split(separator: ":", omittingEmptySubsequences: false).count == 2
      if host.isEmpty || isPort || host.contains(where: { "/@[] ".contains($0) }) {
        // A URL may hold a password.
        let shown = host.contains("@") ? "a text with an @ (user and password have keys of their own)" : "'\(host)'"
        report(
          "mqtt.broker", "expected a name, an address or spawn (the port is mqtt.port's), got \(shown)", alone: true)
      }
    } else {
      if security != nil { report("mqtt.tls", "expected false while mqtt.broker is spawn, got true") }
      if user != nil, password == nil, passwordFile == nil {
        report("mqtt.user", "expected mqtt.password or mqtt.password_file with it while mqtt.broker is spawn, got none")
      }
      if user == nil, takesCommands {
        report(
          "mqtt.commands",
          "expected mqtt.user and mqtt.password with it while mqtt.broker is spawn, since its broker takes no other account; got none"
        )
      }
    }
    if password != nil, passwordFile != nil {
      report("mqtt.password_file", "expected one of mqtt.password and mqtt.password_file, got both")
    }
    if user == nil, password != nil || passwordFile != nil {
      report(password != nil ? "mqtt.password" : "mqtt.password_file", "expected mqtt.user with it, got none")
    }
    if (security?.certificate == nil) != (security?.key == nil) {
      let names = ["mqtt.tls_certificate", "mqtt.tls_key"]
      let (given, missing) = security?.key == nil ? (names[0], names[1]) : (names[1], names[0])
      report(given, "expected \(missing) with it, got none")
    }
    if DeviceTopics(device: device) == nil {
      report("mqtt.device", "expected 1…64 of A-Z a-z 0-9 . _ -, got '\(device)'", alone: true)
    }
    for (key, prefix) in [("mqtt.prefix", prefix), ("mqtt.discovery_prefix", homeAssistantPrefix)]
    where DeviceTopics(device: "x", prefix: prefix) == nil {
      report(key, "expected levels of A-Z a-z 0-9 . _ - with / between them, got '\(prefix)'", alone: true)
    }
    return errors
  }

  /// Reads the password from its file, if one is named. This is done when the program starts and not earlier, because
  /// the guard reads the same configuration and must not fail for a missing password.
  mutating func readPassword() throws(ConfigError) {
    guard let passwordFile else { return }
    let line = try passwordFile.read()
    if let flaw = BrokerText.flaw(in: line, .password, isSpawned: broker == .spawn) { throw passwordFile.error(flaw) }
    password = line
  }

  /// Whether the password crosses a network unencrypted on its way to the broker.
  var isPasswordExposed: Bool {
    guard case .address(let host) = broker, security == nil else { return false }
    return (password != nil || passwordFile != nil) && !Configuration.isLoopback(host)
  }

  /// The prefix that Home Assistant reads, or `nil` if announcements are switched off.
  var discoveryPrefix: String? { isAnnounced ? homeAssistantPrefix : nil }

  /// The settings for the MQTT client, including its will.
  package var settings: MQTTSettings {
    var settings = MQTTSettings(clientID: topics.identity)
    switch broker {
    case .address(let host): settings.host = host
    // The broker is on this machine and has just been started.
    case .spawn: settings.shortestDelay = .milliseconds(100)
    }
    settings.port = port
    settings.user = user
    settings.password = password
    settings.security = security
    settings.keepAliveSeconds = keepAliveSeconds
    settings.will = MQTTMessage(topic: topics.availability, text: DeviceTopics.offline, isRetained: true)
    return settings
  }

  var topics: DeviceTopics {
    guard let topics = DeviceTopics(device: device, prefix: prefix) else {
      preconditionFailure("the configuration let through names that are no topics")
    }
    return topics
  }

  /// The settings in words for people: `a mosquitto of our own on 127.0.0.1:1883, topics tactus/garden/…, takes commands`.
  var summary: String {
    let place =
      switch broker {
      case .spawn: "a mosquitto of our own on 127.0.0.1:\(port)"
      case .address(let host): "\(host):\(port)\(security == nil ? "" : " with TLS")"
      }
    return place + (isPasswordExposed ? " (PASSWORD WITHOUT TLS: it can be read on its way)" : "")
      + ", topics \(topics.base)/…, \(takesCommands ? "takes commands" : "takes no commands")"
  }
}

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
    ConfigKey("mqtt.password", .secret, nil, "The password with it: ${NAME} takes it from the environment."),
    ConfigKey(
      "mqtt.password_file", .secretFile, nil,
      "File that holds the password instead, without the line's end; read when the program starts."),
    ConfigKey(
      "mqtt.tls", .boolean, .boolean(false),
      "TLS toward the broker, whose certificate must be valid and name mqtt.broker."),
    ConfigKey(
      "mqtt.tls_ca", .file, nil, "PEM file of the authority that signed it. Unless given: those of the system."),
    ConfigKey("mqtt.tls_certificate", .file, nil, "PEM file of our own certificate, for a broker that asks for one."),
    ConfigKey("mqtt.tls_key", .file, nil, "PEM file of that certificate's key."),
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
