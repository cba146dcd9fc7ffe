@testable import VideoDaemon

#if MQTT
  import DaemonSupport
  import Foundation
  import MQTTMosquitto
  import MQTTSupport
  import Synchronization
  import TestSupport
  import Testing

  @testable import TactusDaemon

  /// The whole program on Debian's broker, with another client as a user's.
  @Suite(
    "daemon on an MQTT broker", .serialized, .ownThread,
    .enabled(if: Mosquitto.isInstalled, "mosquitto and its clients are not installed"))
  final class DaemonMQTTTests {
    /// A user's client: everything that it hears.
    final class Listener {
      private final class Box: Sendable {
        let messages = Mutex<[MQTTMessage]>([])
      }
      private let box: Box
      let client: MQTTClient

      init(_ settings: MQTTSettings, _ filter: String) throws {
        let box = Box()
        self.box = box
        client = try MQTTClient(settings) { message in box.messages.withLock { $0.append(message) } }
        client.subscribe(filter)
        client.start()
      }

      /// Of a topic, in their order.
      func texts(_ topic: String) -> [String] {
        box.messages.withLock { $0.filter { $0.topic == topic }.map(\.text) }
      }

      func hears(_ topic: String, _ part: String) -> Bool {
        eventually { self.texts(topic).last?.contains(part) == true }
      }

      /// Of what a loaded machine may have followed by more before anybody looks.
      func hasHeard(_ topic: String, _ part: String) -> Bool {
        eventually { self.texts(topic).contains { $0.contains(part) } }
      }

      /// The answer to a command; asked again when a loaded machine has let it wait so long that it was refused for that.
      func answer(_ path: String, _ word: String, _ members: String = "") -> [String: Any]? {
        for _ in 0..<20 {
          let answer = answerOnce(path, word, members)
          if answer?["code"] as? String != "STALE" { return answer }
        }
        return nil
      }

      /// Publishes a command, once a second until its answer has come: before the daemon's subscription stands nobody hears it.
      private func answerOnce(_ path: String, _ word: String, _ members: String) -> [String: Any]? {
        let id = "\(word)-\(UInt64.random(in: 0...UInt64.max))"
        let text = #"{"command":"\#(word)","id":"\#(id)"\#(members.isEmpty ? "" : ",")\#(members)}"#
        let (to, from) = ("tactus/bed" + path + "/command", "tactus/bed" + path + "/reply")
        var (found, looks): (String?, Int) = (nil, 0)
        _ = eventually {
          found = self.texts(from).first { $0.contains(id) }
          if found == nil, looks % 200 == 0 { self.client.publish(MQTTMessage(topic: to, text: text)) }
          looks += 1
          return found != nil
        }
        guard let found else { return nil }
        return try? JSONSerialization.jsonObject(with: Data(found.utf8)) as? [String: Any]
      }

      deinit { client.stop() }
    }

    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func daemon(_ mqtt: String, environment: [String: String] = [:]) throws -> TactusProcess {
      let config = try folder.write(
        """
        network: { http_port: 0, motor_udp_port: 0, leg_udp_port: 0, rtsp_port: 0 }
        service: { auth: none }
        motors: { backend: sim }
        leg: { backend: sim }
        pump: { backend: sim }
        camera: { source: test }
        sprinkler: { backend: sim, zones: [{name: Roses, pin: 12}] }
        store: { folder: '\(folder.path("state"))' }
        mqtt: { device: bed, commands: true, state_interval_s: 1, \(mqtt) }
        runtime:
          robot: { safe_state_after: 1000 }
          leg: { safe_state_after: 1000 }
          sprinkler: { safe_state_after: 1000 }
        """, to: "config.yaml")
      let daemon = try TactusProcess(
        ["run", "--config", config], environment: environment.merging(["XDG_STATE_HOME": folder.path("home")]) { $1 })
      try #require(daemon.waitFor("Ctrl-C stops"), "\(daemon.said)")
      return daemon
    }

    private func endpoint(_ daemon: TactusProcess) throws -> String {
      let line = try #require(daemon.said.split(separator: "\n").first { $0.contains(#""msg":"serving http""#) })
      let log = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      return try #require(log["listen"] as? String)
    }

    @Test(
      "states of every system, retained; commands answered as over HTTP; a silent driver, an e-stop; offline at the end"
    )
    func whole() throws {
      let broker = try TestBroker()
      try broker.start()
      let daemon = try daemon("port: \(broker.port)")
      let user = try Listener(broker.settings("user"), "#")
      #expect(user.hears("tactus/bed/status", "online"))
      #expect(user.hears("tactus/bed/robot/state", #""state":"stopped""#))
      #expect(user.hears("tactus/bed/leg/0/state", #""state":"disarmed""#))
      #expect(user.hears("tactus/bed/sprinkler/state", #""state":"idle""#))
      #expect(user.hears("tactus/bed/pump/state", #""state":"off""#))
      if Video.isBuilt { #expect(user.hears("tactus/bed/video/state", #""state":"idle""#)) }
      #expect(user.hears("tactus/bed/sprinkler/zone/1/state", #""isOn":false"#))
      #expect(user.hears("homeassistant/valve/tactus-bed/zone-1/config", #""name":"Roses""#))

      #expect(user.answer("/robot", "drive", #""left":30,"right":30"#)?["verdict"] as? String == "accepted")
      #expect(user.hasHeard("tactus/bed/robot/event", #""state":"driving""#))
      // Nothing more comes: the deadman.
      #expect(user.hears("tactus/bed/robot/event", #""state":"stopped""#))
      #expect(user.answer("/robot", "drive", #""left":300,"right":30"#)?["field"] as? String == "left")
      #expect(
        user.answer("/sprinkler", "run-once", #""zones":[{"zoneId":1.5,"minutes":5}]"#)?["message"] as? String
          == "zones[0].zoneId: expected an integer 1…64, got 1.5")
      #expect(user.answer("/robot", "fly")?["code"] as? String == "NOT_FOUND")

      #expect(user.answer("/sprinkler/zone/1", "on", #""minutes":30"#)?["isOn"] as? Bool == true)
      #expect(user.hears("tactus/bed/sprinkler/zone/1/state", #""isOn":true"#))
      #expect(user.answer("/leg/0", "arm")?["ok"] as? Bool == true)
      #expect(user.answer("/pump", "on", #""speedPercent":40"#)?["ok"] as? Bool == true)
      #expect(user.hears("tactus/bed/pump/state", #""state":"on""#))

      #expect(user.answer("", "e-stop")?["ok"] as? Bool == true)
      for system in ["robot", "leg", "pump", "sprinkler"] {
        #expect(user.hears("tactus/bed/\(system)/state", #""state":"emergencyStopped""#), "\(system)")
      }
      #expect(user.answer("/sprinkler/zone/1", "on")?["code"] as? String == "EMERGENCY_STOPPED")
      let document = try ask("/api/mqtt", of: endpoint(daemon))
      #expect(document["connected"] as? Bool == true && document["connections"] as? Int == 2)
      #expect((document["commands"] as? [String: Int])?["ok", default: 0] ?? 0 >= 5)

      kill(daemon.identifier, SIGTERM)
      #expect(daemon.finish() == 0, "\(daemon.said)")
      #expect(user.hears("tactus/bed/status", "offline"))
    }

    @Test("left on the broker and no more: taken away at the first connection; what others have there stays")
    func leftovers() throws {
      let broker = try TestBroker()
      try broker.start()
      let user = try Listener(broker.settings("user"), "#")
      let document = #"{"state":"ok"}"#
      func announcement(_ device: String) -> String { #"{"availability_topic":"\#(device)/status"}"# }
      let ours = [
        "tactus/bed/plants/7/state": document, "tactus/bed/plants/state": document, "tactus/bed/leg/1/state": document,
        "tactus/bed/sprinkler/zone/9/state": document,
        "homeassistant/sensor/tactus-bed/plant-7-moisture/config": announcement("tactus/bed"),
      ]
      let others = [
        "tactus/bed/leg/robot/state": document, "tactus/bed/leg/robot/0/state": document,
        "tactus/bed/notes/state": document, "tactus/bed/plants/7/photo": document,
        "tactus/bed2/plants/7/state": document,
        "homeassistant/sensor/tactus-bed/plant-8-moisture/config": announcement("farm/bed"),
        "homeassistant/sensor/tactus-bed/plant-9-moisture/config": document,
        "homeassistant/sensor/tactus-bed2/plant-7-moisture/config": announcement("tactus/bed"),
      ]
      for (topic, text) in ours.merging(others, uniquingKeysWith: { $1 }) {
        #expect(eventually { user.client.publish(MQTTMessage(topic: topic, text: text, isRetained: true)) == nil })
        #expect(user.hears(topic, text))
      }
      let daemon = try daemon("port: \(broker.port)")
      for topic in ours.keys { #expect(eventually { user.texts(topic).last == "" }, "\(topic)") }
      #expect(user.hears("tactus/bed/leg/0/state", #""state""#))
      #expect(user.answer("/robot", "stop")?["ok"] as? Bool == true)
      for (topic, text) in others { #expect(user.texts(topic) == [text], "\(topic)") }
      kill(daemon.identifier, SIGKILL)
    }

    @Test("broker dies and comes back with nothing in mind: states retained again, commands taken; the log says both")
    func brokerDies() throws {
      let broker = try TestBroker()
      let daemon = try daemon("port: \(broker.port)")
      #expect(daemon.waitFor("no MQTT broker"), "unreachable at the start: \(daemon.said)")
      for round in 1...2 {
        try broker.start()
        let user = try Listener(broker.settings("user\(round)"), "tactus/#")
        #expect(user.hears("tactus/bed/status", "online"))
        #expect(user.hears("tactus/bed/sprinkler/zone/1/state", #""isOn":false"#))
        #expect(user.answer("/robot", "stop")?["ok"] as? Bool == true)
        broker.stop()
      }
      let document = try ask("/api/mqtt", of: endpoint(daemon))
      // Twice two of them.
      #expect(document["connections"] as? Int == 4)
      kill(daemon.identifier, SIGKILL)
    }

    @Test("a foreign offline, retained on its status topic: the daemon hears it and says online again")
    func foreignOffline() throws {
      let broker = try TestBroker()
      try broker.start()
      let daemon = try daemon("port: \(broker.port)")
      let user = try Listener(broker.settings("user"), "tactus/#")
      #expect(user.hears("tactus/bed/status", "online"))
      // Whoever commands now is heard at once.
      user.client.publish(MQTTMessage(topic: "tactus/bed/robot/command", text: #"{"command":"stop","id":"at-once"}"#))
      #expect(user.hasHeard("tactus/bed/robot/reply", "at-once"))
      let before = user.texts("tactus/bed/status").count
      user.client.publish(MQTTMessage(topic: "tactus/bed/status", text: "offline", isRetained: true))
      #expect(eventually { user.texts("tactus/bed/status").dropFirst(before).suffix(2) == ["offline", "online"] })
      kill(daemon.identifier, SIGKILL)
    }

    @Test("killed: the broker says offline in its stead")
    func killed() throws {
      let broker = try TestBroker()
      try broker.start()
      let daemon = try daemon("port: \(broker.port)")
      let user = try Listener(broker.settings("user"), "tactus/#")
      #expect(user.hears("tactus/bed/status", "online"))
      kill(daemon.identifier, SIGKILL)
      #expect(user.hears("tactus/bed/status", "offline"))
    }

    @Test("wrong password: the daemon runs, says that the broker refuses it, and the password stands nowhere")
    func wrongPassword() throws {
      let broker = try TestBroker.withPassword(user: "ann", "right-s3cret")
      try broker.start()
      let wrong = try daemon(
        "port: \(broker.port), user: ann, password: '${SECRET}'", environment: ["SECRET": "wr0ng-s3cret"])
      #expect(wrong.waitFor("ot authori"), "\(wrong.said)")
      let document = try ask("/api/mqtt", of: endpoint(wrong))
      #expect(document["connected"] as? Bool == false)
      #expect(!"\(document)".contains("s3cret") && !wrong.said.contains("s3cret"))
      kill(wrong.identifier, SIGTERM)
      #expect(wrong.finish() == 0)
      let file = try folder.write("right-s3cret\n", to: "password")
      let right = try daemon("port: \(broker.port), user: ann, password_file: '\(file)'")
      #expect(right.waitFor("connected to the MQTT broker"), "\(right.said)")
      #expect(!right.said.contains("s3cret"))
      kill(right.identifier, SIGKILL)
    }

    @Test("TLS: with the authority that signed the broker's certificate; without it there is no connection")
    func tls() throws {
      let broker = try TestBroker.withTLS()
      try broker.start()
      let authority = broker.folder.appending(path: "ca.pem").path
      let good = try daemon("broker: localhost, port: \(broker.port), tls: true, tls_ca: '\(authority)'")
      #expect(good.waitFor("connected to the MQTT broker"), "\(good.said)")
      kill(good.identifier, SIGTERM)
      #expect(good.finish() == 0)
      let bad = try daemon("broker: localhost, port: \(broker.port), tls: true")
      #expect(bad.waitFor("no MQTT broker"), "\(bad.said)")
      #expect(!bad.said.contains("connected to the MQTT broker"))
      kill(bad.identifier, SIGKILL)
    }

    @Test("broker: spawn: a mosquitto that is started again when it dies, and goes with the daemon however that ends")
    func spawned() throws {
      let reserved = ReservedPort()
      let daemon = try daemon("broker: spawn, port: \(reserved.number), user: demo, password: demo")
      #expect(daemon.waitFor("connected to the MQTT broker"), "\(daemon.said)")
      func broker() throws -> Int32? {
        let found = try Mosquitto.run("/usr/bin/pgrep", ["-P", "\(daemon.identifier)", "-x", "mosquitto"])
        return Int32(found.output.trimmingCharacters(in: .whitespacesAndNewlines))
      }
      let first = try #require(try broker())
      kill(first, SIGKILL)
      #expect(daemon.waitFor("mosquitto was ended by signal 9"), "\(daemon.said)")
      #expect(eventually { (try? broker()).flatMap { $0 } ?? first != first })
      let second = try #require(try broker())
      kill(daemon.identifier, SIGKILL)
      // Gone, or nobody has yet asked how it ended: its command line is empty.
      #expect(eventually { ((try? String(contentsOfFile: "/proc/\(second)/cmdline", encoding: .utf8)) ?? "").isEmpty })
    }
  }
#endif
