import DaemonSupport
import Foundation
import MQTTMosquitto
import Testing
import Wire

@testable import TactusDaemon

@Suite("configuration of the MQTT broker")
struct MQTTConfigTests {
  #if MQTT
    @Test("an empty section: loopback, this host's name, no commands; the will is the status")
    func defaults() throws {
      let mqtt = try #require(try read("mqtt: { }\nmotors: { }").mqtt)
      #expect(mqtt.broker == .address("127.0.0.1") && mqtt.port == 1883 && mqtt.security == nil)
      #expect(!mqtt.takesCommands && mqtt.discoveryPrefix == "homeassistant")
      #expect(
        mqtt.settings.will == MQTTMessage(topic: "tactus/\(mqtt.device)/status", text: "offline", isRetained: true))
      #expect(try read("motors: { }").mqtt == nil)
    }

    @Test("every key reaches the client")
    func keys() throws {
      let text = """
        mqtt: { broker: mqtt.example, user: ann, password: "${SECRET}", tls: true, tls_ca: /ca.pem, tls_certificate: /c.pem,
          tls_key: /k.pem, device: bed-2, prefix: farm/east, commands: true, state_interval_s: 60, discovery: false,
          keepalive_s: 10 }
        """
      let mqtt = try #require(try read(text, environment: ["SECRET": "s3cret"]).mqtt)
      let settings = mqtt.settings
      #expect(settings.host == "mqtt.example" && settings.port == 8883 && settings.user == "ann")
      #expect(settings.password == "s3cret" && settings.keepAliveSeconds == 10)
      #expect(settings.security == MQTTSecurity(authorities: "/ca.pem", certificate: "/c.pem", key: "/k.pem"))
      #expect(settings.clientID == "farm-east-bed-2" && mqtt.topics.base == "farm/east/bed-2")
      #expect(mqtt.takesCommands && mqtt.stateIntervalSeconds == 60 && mqtt.discoveryPrefix == nil)
      #expect(!mqtt.summary.contains("s3cret"))
    }

    @Test(
      "what cannot be: refused with line and key",
      arguments: [
        ("broker: 'host:1883'", "mqtt.broker"), ("broker: ''", "mqtt.broker"),
        ("broker: 'mqtt://host'", "mqtt.broker"), ("port: 0", "mqtt.port"), ("password: x", "mqtt.password"),
        ("password_file: x", "mqtt.password_file"), ("user: u, password: x, password_file: y", "mqtt.password_file"),
        ("tls: true, tls_key: k", "mqtt.tls_key"), ("broker: spawn, tls: true", "mqtt.tls"),
        ("broker: spawn, user: u", "mqtt.user"),
        ("broker: spawn, user: 'a:b', password: x", "mqtt.user"),
        ("broker: spawn, user: u, password: 'a:b'", "mqtt.password"),
        ("broker: spawn, commands: true", "mqtt.commands"), ("broker: spawn, port: 8000", "mqtt.port"),
        ("device: 'a b'", "mqtt.device"), ("device: a/b", "mqtt.device"), ("prefix: 'a/+'", "mqtt.prefix"),
        ("prefix: /a", "mqtt.prefix"), ("discovery_prefix: '#'", "mqtt.discovery_prefix"),
        ("keepalive_s: 1", "mqtt.keepalive_s"), ("qos: 1", "mqtt.qos"),
      ])
    func refused(line: String, key: String) throws {
      let errors = try #require(throws: ConfigErrors.self) { try read("mqtt: { \(line) }\nmotors: { }") }
      #expect(errors.errors.map(\.key) == [key] && errors.errors[0].line == 1, "\(errors)")
    }

    @Test(
      "what the broker's files or MQTT cannot carry: refused with the key, the character and its place, and without the text",
      arguments: [
        (
          "broker: spawn, user: u, password: 's3cret '", "mqtt.password", "no blank at its end",
          "U+0020 (a blank) as character 7"
        ),
        (
          "broker: spawn, user: u, password: ' s3cret'", "mqtt.password", "no blank at its beginning",
          "U+0020 (a blank) as character 1"
        ),
        (
          "broker: spawn, user: u, password: \"s3cret\\t\"", "mqtt.password", "no blank at its end",
          "U+0009 (a tab) as character 7"
        ),
        (
          "broker: spawn, user: u, password: \"s3c\\nret\"", "mqtt.password", "no line break",
          "U+000A (a line break) as character 4"
        ),
        (
          "broker: spawn, user: u, password: 's3cret:x'", "mqtt.password", "no colon", "U+003A (a colon) as character 7"
        ),
        (
          "broker: spawn, user: 'u ', password: s3cret", "mqtt.user", "no blank at its end",
          "U+0020 (a blank) as character 2"
        ),
        (
          "broker: spawn, user: '#u', password: s3cret", "mqtt.user", "another beginning than '#'",
          "U+0023 as character 1"
        ),
        ("user: \"a\\eb\", password: s3cret", "mqtt.user", "no control character", "U+001B as character 2"),
        ("broker: spawn, user: u, password: \"s3c\\0ret\"", "mqtt.password", "without a NUL", "character 4"),
        ("user: u, password: \"s3c\\0ret\"", "mqtt.password", "without a NUL", "character 4"),
        ("user: u, password: x, tls: true, tls_ca: \"/ca\\0.pem\"", "mqtt.tls_ca", "without a NUL", "character 4"),
      ])
    func notCarried(line: String, key: String, expected: String, came: String) throws {
      let errors = try #require(throws: ConfigErrors.self) { try read("mqtt: { \(line) }\nmotors: { }") }
      #expect(errors.errors.first?.key == key && errors.errors[0].line == 1, "\(errors)")
      let message = errors.errors[0].message
      #expect(message.contains(expected) && message.contains(came) && !message.contains("s3c"), "\(message)")
    }

    @Test("a broker that is not spawned takes a password with blanks at its ends and a colon within")
    func carriedByMQTT() throws {
      for password in ["' s3cret '", "'a:b'"] {
        #expect(try read("mqtt: { user: u, password: \(password) }\nmotors: { }").mqtt?.password != nil)
      }
      #expect(try read("mqtt: { broker: spawn, user: a b, password: 'c d#' }\nmotors: { }").mqtt?.password == "c d#")
    }

    @Test("a password in a file that the broker's cannot carry: refused when it is read")
    func fileNotCarried() throws {
      let folder = try TemporaryFolder()
      let file = try folder.write("s3cret \n", to: "password")
      var mqtt = try #require(try read("mqtt: { broker: spawn, user: u, password_file: \(file) }").mqtt)
      #expect { try mqtt.readPassword() } throws: { "\($0)".contains("got U+0020 (a blank) as character 7") }
    }

    @Test("our own broker does not accept the account written for it: said as that, and only while it runs and refuses")
    func accountRefused() {
      let running = SpawnedBroker(isRunning: true, starts: 1, lastFailure: nil)
      var client = MQTTStatus()
      #expect(running.asTold(by: client).lastFailure == nil)
      client.isAccountRefused = true
      #expect(running.asTold(by: client).lastFailure?.contains("does not accept the user and the password") == true)
      let ended = SpawnedBroker(isRunning: false, starts: 1, lastFailure: "mosquitto ended with status 1")
      #expect(ended.asTold(by: client) == ended)
      client.isConnected = true
      #expect(running.asTold(by: client) == running)
    }

    @Test(
      "a password without TLS: said, unless the broker is on this machine",
      arguments: [
        ("broker: mqtt.example, user: u, password: s3cret-pass", true),
        ("broker: 192.168.1.5, user: u, password_file: /p", true),
        ("broker: '127.example', user: u, password: s3cret-pass", true),
        ("broker: mqtt.example, user: u, password: s3cret-pass, tls: true", false),
        ("broker: mqtt.example, user: u", false), ("broker: mqtt.example", false),
        ("user: u, password: s3cret-pass", false), ("broker: localhost, user: u, password: s3cret-pass", false),
        ("broker: '::1', user: u, password: s3cret-pass", false), ("broker: spawn", false),
      ])
    func passwordWithoutTLS(line: String, isExposed: Bool) throws {
      let mqtt = try #require(try read("mqtt: { \(line) }\nmotors: { }").mqtt)
      #expect(mqtt.isPasswordExposed == isExposed && mqtt.summary.contains("WITHOUT TLS") == isExposed)
      #expect(!mqtt.summary.contains("s3cret"))
    }

    @Test("a broker's URL with a password in it: refused without saying it")
    func passwordInURL() throws {
      for broker in ["mqtt://ann:s3cret-pass@host", "ann:s3cret-pass@host:1883"] {
        let errors = try #require(throws: ConfigErrors.self) { try read("mqtt: { broker: '\(broker)' }\nmotors: { }") }
        #expect(!"\(errors)".contains("s3cret-pass") && "\(errors)".contains("mqtt.broker"), "\(errors)")
      }
    }

    @Test("the password's file: its first line; missing or empty, and the program does not start")
    func passwordFile() throws {
      let folder = try TemporaryFolder()
      let file = try folder.write("s3cret\nsecond\n", to: "password")
      var mqtt = try #require(try read("mqtt: { user: u, password_file: \(file) }").mqtt)
      #expect(mqtt.password == nil)
      try mqtt.readPassword()
      #expect(mqtt.password == "s3cret")
      for path in [folder.path("none"), try folder.write("\n", to: "empty")] {
        var mqtt = try #require(try read("mqtt: { user: u, password_file: \(path) }").mqtt)
        #expect { try mqtt.readPassword() } throws: { "\($0)".contains("mqtt.password_file") }
      }
    }
  #else
    @Test("built without MQTT: the section is refused, and says why")
    func refused() throws {
      let errors = try #require(throws: ConfigErrors.self) { try read("mqtt: { }\nmotors: { }") }
      #expect("\(errors)".hasPrefix("c.yaml:1:1: mqtt: expected no such section: this program was built without"))
    }
  #endif

  @Test(
    "a device's name from a host's",
    arguments: [("pi", "pi"), ("pi.example.org", "pi"), ("a b+c", "a-b-c"), ("", "tactus")])
  func names(host: String, name: String) {
    #expect(Configuration.MQTT.name(of: host) == name)
  }

  @Test("topics that are ours: the shapes of our states; a document for Home Assistant by whose status it names")
  func ownTopics() throws {
    let topics = try #require(DeviceTopics(device: "bed.1", prefix: "farm/east"))
    let own = OwnTopics(topics, homeAssistantPrefix: "ha")
    func isOurs(_ topic: String, _ text: String = "{}") -> Bool {
      let message = MQTTMessage(topic: topic, text: text, isRetained: true)
      // What is not heard cannot be taken for ours.
      return own.filters.contains { TopicFilter($0).matches(topic) } && own.isOurs(message)
    }
    for path in ["robot", "leg", "leg/15", "sprinkler/zone/64", "plants/1048576", "pump"] {
      #expect(isOurs("farm/east/bed.1/\(path)/state"), "\(path)")
    }
    for path in [
      "robots", "leg/robot", "leg/robot/0", "zone/1", "sprinkler/zone/x", "sprinkler/zone/", "plants/", "plants/7/8",
    ] {
      #expect(!isOurs("farm/east/bed.1/\(path)/state"), "\(path)")
    }
    #expect(
      !isOurs("farm/east/bed.1/state") && !isOurs("farm/east/bed.1/status") && !isOurs("farm/east/bed.1/pump/event"))
    #expect(!isOurs("farm/east/bed.10/pump/state") && !isOurs("farm/east/pump/state"))
    #expect(!isOurs("farm/east/bed.1/pump/state", ""), "taken away already")
    let document = #"{"availability_topic":"farm/east/bed.1/status"}"#
    #expect(isOurs("ha/fan/farm-east-bed_1/pump/config", document))
    #expect(!isOurs("ha/fan/farm-east-bed_1/pump/config", #"{"availability_topic":"farm/east/bed_1/status"}"#))
    #expect(
      !isOurs("ha/fan/farm-east-bed_1/pump/config", "not JSON") && !isOurs("ha/fan/tactus-bed/pump/config", document))
  }

  @Test("topic filters: levels, + for one, # for the rest; the broker's own topics only by name")
  func filters() {
    func matches(_ filter: String, _ topic: String) -> Bool { TopicFilter(filter).matches(topic) }
    #expect(matches("a/b", "a/b") && !matches("a/b", "a/b/c") && !matches("a/b/c", "a/b"))
    #expect(matches("a/+", "a/b") && !matches("a/+", "a") && !matches("a/+", "a/b/c") && matches("+/+", "/b"))
    #expect(matches("a/#", "a") && matches("a/#", "a/b/c") && matches("#", "a/b") && !matches("a/#", "ab"))
    #expect(!matches("#", "$SYS/x") && !matches("+/x", "$SYS/x") && matches("$SYS/#", "$SYS/x"))
  }
}
