#if MQTT
  import Foundation
  @testable import MQTTMosquitto
  import MQTTSupport
  import Synchronization
  import Tactus
  import TestSupport
  import Testing

  @Suite(
    "MQTT by libmosquitto, against Debian's broker", .ownThread,
    .enabled(if: Mosquitto.isInstalled, "mosquitto and its clients are not installed"))
  struct MQTTClientTests {
    /// Messages that came, from any thread.
    final class Box: Sendable {
      private let messages = Mutex<[MQTTMessage]>([])
      func add(_ message: MQTTMessage) { messages.withLock { $0.append(message) } }
      var texts: [String] { messages.withLock { $0.map { "\($0.topic) \($0.text)" } } }
    }

    /// `tactus`, which confines itself and becomes the broker.
    private let launcher = URL(filePath: CommandLine.arguments[0]).deletingLastPathComponent().appending(path: "tactus")
      .path

    func client(_ settings: MQTTSettings, _ box: Box = Box()) throws -> MQTTClient {
      let client = try MQTTClient(settings) { box.add($0) }
      client.start()
      return client
    }

    @Test("both ways: mosquitto_pub to us, and from us to mosquitto_sub; retained state for whoever comes later")
    func bothWays() throws {
      let broker = try TestBroker()
      try broker.start()
      let box = Box()
      let client = try client(broker.settings(), box)
      client.subscribe("in/+")
      #expect(eventually { client.status.isConnected })
      client.publish(MQTTMessage(topic: "out/state", text: "one", isRetained: true))
      client.publish(MQTTMessage(topic: "out/state", text: "grün", isRetained: true))
      #expect(eventually { client.status.sent >= 1 })
      // The subscription is on its way: the tool asks until its message has come.
      #expect(
        eventually {
          try? Mosquitto.publish("hello", to: "in/a", port: broker.port)
          return box.texts.contains("in/a hello")
        })
      let heard = try Mosquitto.run(
        "/usr/bin/mosquitto_sub",
        ["-p", "\(broker.port)", "-t", "out/#", "-C", "1", "-W", "\(patience / 1_000)", "-F", "%t %r %p"])
      #expect(heard.output == "out/state 1 grün\n")
      client.stop()
      #expect(!client.status.isConnected)
    }

    @Test(
      "broker gone: refused meanwhile; back, subscriptions and retained state are, too, though the broker forgot them")
    func reconnects() throws {
      let broker = try TestBroker()
      let box = Box()
      let client = try client(broker.settings(), box)
      client.subscribe("in")
      #expect(client.publish(MQTTMessage(topic: "x", text: "reply")) == .notConnected)
      #expect(client.publish(MQTTMessage(topic: "state", text: "1", isRetained: true)) == nil)
      #expect(eventually { client.status.failures > 0 })
      #expect(client.status.lastFailure?.hasPrefix("broker 127.0.0.1:\(broker.port): ") == true)
      for round in 1...2 {
        try broker.start()
        #expect(eventually { client.status.isConnected })
        let state = try Mosquitto.run(
          "/usr/bin/mosquitto_sub", ["-p", "\(broker.port)", "-t", "state", "-C", "1", "-W", "\(patience / 1_000)"])
        #expect(state.output == "\(round)\n")
        #expect(
          eventually {
            try? Mosquitto.publish("round \(round)", to: "in", port: broker.port)
            return box.texts.contains("in round \(round)")
          })
        broker.stop()
        #expect(eventually { !client.status.isConnected })
        client.publish(MQTTMessage(topic: "state", text: "\(round + 1)", isRetained: true))
      }
      #expect(client.status.connections == 2)
      #expect(client.status.refused[.notConnected] == 1)
      client.stop()
    }

    @Test("unsubscribed: nothing more comes, after a reconnection neither")
    func unsubscribes() throws {
      let broker = try TestBroker()
      try broker.start()
      let box = Box()
      let client = try client(broker.settings(), box)
      for filter in ["gone", "stays"] { client.subscribe(filter) }
      var number = 0
      /// Both topics in turn until the second comes, and whether the first did.
      func comes() -> Bool {
        let heard = eventually {
          number += 1
          for topic in ["gone", "stays"] { try? Mosquitto.publish("\(number)", to: topic, port: broker.port) }
          return eventually { box.texts.contains("stays \(number)") || !client.status.isConnected }
            && client.status.isConnected
        }
        #expect(heard)
        return box.texts.contains("gone \(number)")
      }
      #expect(eventually { client.status.isConnected && comes() })
      client.unsubscribe("gone")
      #expect(eventually { !comes() })
      broker.stop()
      #expect(eventually { !client.status.isConnected })
      try broker.start()
      #expect(eventually { client.status.isConnected })
      #expect(!comes())
      client.stop()
    }

    @Test("will: the broker tells of a client that vanishes, and we tell of one that goes")
    func will() throws {
      let broker = try TestBroker()
      try broker.start()
      let box = Box()
      let watcher = try client(broker.settings("watcher"), box)
      watcher.subscribe("tactus/a/availability")
      #expect(eventually { watcher.status.isConnected })
      var settings = broker.settings()
      settings.will = MQTTMessage(topic: "tactus/a/availability", text: "offline", isRetained: true)
      let first = try client(settings)
      first.publish(MQTTMessage(topic: "tactus/a/availability", text: "online", isRetained: true))
      #expect(eventually { box.texts.last == "tactus/a/availability online" })
      first.stop()
      #expect(eventually { box.texts.last == "tactus/a/availability offline" })
      let second = try client(settings)
      second.publish(MQTTMessage(topic: "tactus/a/availability", text: "online", isRetained: true))
      #expect(eventually { box.texts.last == "tactus/a/availability online" })
      // Another client of the same name: the broker throws the first one out, as if it had vanished.
      let usurper = try client(broker.settings())
      #expect(eventually { box.texts.contains("tactus/a/availability offline") && usurper.status.connections > 0 })
      second.stop()
      usurper.stop()
      watcher.stop()
    }

    @Test("user and password: the right ones connect; wrong ones are told without being told")
    func password() throws {
      let broker = try TestBroker.withPassword(user: "ann", "s3cret")
      try broker.start()
      var settings = broker.settings()
      settings.user = "ann"
      settings.password = "s3cret"
      let good = try client(settings)
      #expect(eventually { good.status.isConnected })
      settings.clientID = "other"
      settings.password = "wr0ng"
      let bad = try client(settings)
      #expect(eventually { bad.status.lastFailure?.contains("ot authori") == true })
      #expect(!bad.status.isConnected && bad.status.connections == 0)
      #expect(bad.status.isAccountRefused && !good.status.isAccountRefused)
      #expect(!"\(bad.status)".contains("wr0ng") && !"\(bad.status)".contains("ann"))
      good.stop()
      bad.stop()
    }

    @Test("TLS: a broker whose certificate our authority signed; without it there is no connection")
    func tls() throws {
      let broker = try TestBroker.withTLS()
      try broker.start()
      var settings = broker.settings()
      settings.host = "localhost"
      settings.security = MQTTSecurity(authorities: broker.folder.appending(path: "ca.pem").path)
      let box = Box()
      let good = try client(settings, box)
      good.subscribe("echo")
      #expect(
        eventually {
          good.publish(MQTTMessage(topic: "echo", text: "x"))
          return box.texts.contains("echo x")
        })
      settings.clientID = "other"
      settings.security = MQTTSecurity()
      let bad = try client(settings)
      #expect(eventually { bad.status.failures >= 2 })
      #expect(bad.status.connections == 0)
      #expect(throws: MQTTError.self) {
        settings.security = MQTTSecurity(authorities: "/no/such/file")
        _ = try MQTTClient(settings) { _ in }
      }
      good.stop()
      bad.stop()
    }

    @Test("bounds: too long, no topic, too many waiting, too many retained topics, a full inbox; each counted")
    func bounds() throws {
      let broker = try TestBroker()
      try broker.start()
      var settings = broker.settings()
      settings.payloadLimit = 100
      settings.retainedLimit = 2
      settings.outgoingLimit = 8
      let inbox = try MQTTInbox(capacity: 3)
      let client = try MQTTClient(settings) { inbox.deliver($0) }
      client.start()
      client.subscribe("in")
      #expect(eventually { client.status.isConnected })
      let long = [UInt8](repeating: 0x78, count: 101)
      #expect(client.publish(MQTTMessage(topic: "x", payload: long)) == .tooLong)
      for topic in ["", "a/+", "#", "a\0"] {
        #expect(client.publish(MQTTMessage(topic: topic, text: "x")) == .invalidTopic)
      }
      for topic in ["a", "b", "a"] {
        #expect(client.publish(MQTTMessage(topic: topic, text: "x", isRetained: true)) == nil)
      }
      #expect(client.publish(MQTTMessage(topic: "c", text: "x", isRetained: true)) == .tooManyRetained)
      // An empty state gives its room back.
      #expect(client.publish(MQTTMessage(topic: "a", text: "", isRetained: true)) == nil)
      #expect(eventually { client.publish(MQTTMessage(topic: "c", text: "x", isRetained: true)) == nil })
      var refused = 0
      for _ in 0..<20_000 where client.publish(MQTTMessage(topic: "x", text: "y")) == .tooManyWaiting { refused += 1 }
      #expect(client.status.refused[.tooManyWaiting] ?? 0 == Int64(refused))
      #expect(refused > 0)
      #expect(
        eventually {
          for _ in 0..<5 { try? Mosquitto.publish("z", to: "in", port: broker.port) }
          return inbox.dropped > 0
        })
      try Mosquitto.publish(String(repeating: "x", count: 101), to: "in", port: broker.port)
      #expect(eventually { client.status.receivedTooLong == 1 })
      var taken = 0
      while inbox.take() != nil { taken += 1 }
      #expect(taken == 3)
      client.stop()
    }

    @Test("nobody there: stop comes back within two seconds", .realTime)
    func stopsSoon() throws {
      let client = try client(TestBroker().settings())
      #expect(eventually { client.status.failures > 0 })
      let before = MonotonicClock.now
      client.stop()
      #expect(MonotonicClock.now - before < .seconds(2))
    }

    @Test("nobody there: stop comes back, before a start, too; a client that was let go gives its thread back")
    func stops() throws {
      let broker = try TestBroker()
      let client = try client(broker.settings())
      #expect(eventually { client.status.failures > 0 })
      client.stop()
      client.stop()
      _ = try MQTTClient(broker.settings()) { _ in }
      var dropped: MQTTClient? = try self.client(broker.settings())
      #expect(dropped != nil)
      dropped = nil
    }

    @Test(
      "spawned broker: on loopback, not as root, started again when it dies, gone with stop; no program, and it says what to install"
    )
    func spawned() throws {
      let reserved = ReservedPort()
      let folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let broker = try MosquittoBroker(
        port: reserved.number, folder: folder.path, launcher: launcher, user: "ann", password: "s3cret")
      var settings = MQTTSettings(clientID: "tactus")
      settings.port = reserved.number
      settings.shortestDelay = .milliseconds(20)
      settings.longestDelay = .milliseconds(100)
      settings.user = "ann"
      settings.localSocket = broker.localSocket
      settings.password = "s3cret"
      let client = try client(settings)
      #expect(eventually { client.status.isConnected })
      let process = broker.process
      try #require(process > 0)
      // Real, effective, saved, and of files.
      let status = try String(contentsOfFile: "/proc/\(process)/status", encoding: .utf8)
      let user = geteuid() == 0 ? getpwnam("mosquitto").pointee.pw_uid : geteuid()
      #expect(status.contains("Uid:\t\(user)\t\(user)\t\(user)\t\(user)\n"), "root's broker is not root's")
      for line in ["CapEff:\t0000000000000000", "CapPrm:\t0000000000000000", "NoNewPrivs:\t1", "Seccomp:\t2"] {
        #expect(status.contains(line + "\n"), "\(status)")
      }
      kill(process, SIGKILL)
      #expect(eventually { broker.status.starts == 2 && client.status.connections == 2 })
      #expect(broker.status.lastFailure == "mosquitto was ended by signal 9")
      broker.stop()
      #expect(!broker.status.isRunning)
      #expect(eventually { !client.status.isConnected })
      client.stop()
      #expect {
        _ = try MosquittoBroker(
          port: 1, folder: folder.path, launcher: launcher, user: "ann", password: "s3cret", path: "/no/mosquitto")
      } throws: { "\($0)".contains("apt install mosquitto") }
    }

    @Test(
      "spawned broker: another has its port: not connected to, and its owner is told; the other gone: connected to its own"
    )
    func strangerOnItsPort() throws {
      let stranger = try TestBroker()
      try stranger.start()
      let visitor = try self.client(stranger.settings("visitor"))
      #expect(eventually { visitor.status.isConnected })
      visitor.stop()
      let folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let broker = try MosquittoBroker(
        port: stranger.port, folder: folder.path, launcher: launcher, user: "ann", password: "s3cret"
      ) { "a stranger has it" }
      defer { broker.stop() }
      var settings = stranger.settings()
      settings.localSocket = broker.localSocket
      let client = try client(settings)
      defer { client.stop() }
      #expect(eventually { broker.status.lastFailure == "a stranger has it" && client.status.failures > 3 })
      #expect(client.status.connections == 0)
      #expect(client.status.lastFailure?.contains("our own mosquitto does not listen") == true)
      stranger.stop()
      #expect(eventually { broker.status.isRunning && client.status.isConnected })
    }

    @Test(
      "spawned broker: without a name only the app's request is published, all is read; a wrong password is not let in")
    func accessOfSpawned() throws {
      let reserved = ReservedPort()
      let folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let broker = try MosquittoBroker(
        port: reserved.number, folder: folder.path, launcher: launcher, user: "ann", password: "s3cret")
      defer { broker.stop() }
      var settings = MQTTSettings(clientID: "tactus")
      settings.port = reserved.number
      settings.shortestDelay = .milliseconds(20)
      settings.longestDelay = .milliseconds(100)
      settings.user = "ann"
      settings.password = "s3cret"
      let heard = Mutex<[String]>([])
      let client = try MQTTClient(settings) { message in heard.withLock { $0.append(message.topic) } }
      client.subscribe("#")
      client.start()
      defer { client.stop() }
      // What it says itself comes back once it is connected and has subscribed.
      #expect(
        eventually {
          _ = client.publish(MQTTMessage(topic: "own", text: "x", isRetained: true))
          return heard.withLock { $0.contains("own") }
        })
      func publish(_ topic: String, _ more: [String] = []) throws -> Int32 {
        // Acknowledged: it has been dealt with when the program ends.
        try Mosquitto.run(
          "/usr/bin/mosquitto_pub", ["-p", "\(reserved.number)", "-q", "1", "-t", topic, "-m", "x"] + more
        ).status
      }
      for topic in ["tactus/demo/command", "rpi/fromrpi", "homeassistant/status", "rpi/torpi/x", "own"] {
        heard.withLock { $0 = [] }
        _ = try publish(topic)
        #expect(try publish("rpi/torpi") == 0)
        #expect(eventually { heard.withLock { $0.contains("rpi/torpi") } })
        #expect(!heard.withLock { $0.contains(topic) }, "\(topic)")
      }
      #expect(try publish("rpi/torpi", ["-u", "ann", "-P", "wrong"]) != 0)
      let read = try Mosquitto.run(
        "/usr/bin/mosquitto_sub", ["-p", "\(reserved.number)", "-t", "own", "-C", "1", "-W", "\(patience / 1_000)"])
      #expect(read.output == "x\n")
      for file in try FileManager.default.contentsOfDirectory(atPath: folder.path) {
        let path = folder.appending(path: file).path
        // The folder of its socket.
        if file == "socket" { continue }
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600, "\(file)")
        #expect(try !String(contentsOfFile: path, encoding: .utf8).contains("s3cret"), "\(file)")
      }
    }

    @Test(
      "config/mosquitto.acl: what the spawned broker has, but that nobody without a name reads more than the app does")
    func shippedAccessList() throws {
      let repository = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
      let shipped = try String(contentsOf: repository.appending(path: "config/mosquitto.acl"), encoding: .utf8)
      func rules(_ text: String) -> [Substring] { text.split(separator: "\n").filter { !$0.hasPrefix("#") } }
      #expect(
        rules(shipped) == ["topic write rpi/torpi", "topic read rpi/fromrpi", "user tactus", "topic readwrite #"])
      #expect(rules(MosquittoBroker.accessList(user: "tactus")).filter { $0 != "topic read #" } == rules(shipped))
    }

    @Test(
      "spawned broker: takes every user and password that its files can carry, and refuses the others before it starts")
    func accounts() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      for (user, password) in [("a b", "c d"), ("ann#", "#s3cret"), ("ann", "$7$x \\ \" '"), ("ä", "pä\u{2028}ss")] {
        let reserved = ReservedPort()
        let broker = try MosquittoBroker(
          port: reserved.number, folder: folder.path, launcher: launcher, user: user, password: password)
        defer { broker.stop() }
        var settings = MQTTSettings(clientID: "tactus")
        settings.port = reserved.number
        settings.shortestDelay = .milliseconds(20)
        settings.longestDelay = .milliseconds(100)
        (settings.user, settings.password, settings.localSocket) = (user, password, broker.localSocket)
        let client = try client(settings)
        #expect(eventually { client.status.isConnected }, "\(user): \(client.status)")
        client.stop()
      }
      for (user, password) in [
        ("ann ", "s"), ("#ann", "s"), ("ann", "s "), ("ann", " s"), ("ann", "s\0s"), ("ann", "s:s"),
      ] {
        #expect {
          _ = try MosquittoBroker(port: 1, folder: folder.path, launcher: launcher, user: user, password: password)
        } throws: { "\($0)".contains("as character") }
      }
    }

    @Test("spawned broker: gets nothing of our environment, which may hold secrets")
    func environment() throws {
      let folder = FileManager.default.temporaryDirectory.appending(path: "mqtt-\(UUID().uuidString)")
      try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
      defer { try? FileManager.default.removeItem(at: folder) }
      let program = folder.appending(path: "mosquitto")
      try RunnableFile.write("#!/bin/sh\nexec sleep 1000", to: program.path)
      let broker = try MosquittoBroker(
        port: 1, folder: folder.path, launcher: launcher, user: "ann", password: "s3cret", path: program.path)
      defer { broker.stop() }
      #expect(eventually { broker.status.isRunning })
      let found = try Mosquitto.run("/usr/bin/pgrep", ["-P", "\(getpid())", "-f", "^sleep 1000|\(program.path)"])
      let process = try #require(Int32(found.output.trimmingCharacters(in: .whitespacesAndNewlines)))
      let environment = try String(contentsOfFile: "/proc/\(process)/environ", encoding: .utf8).split(separator: "\0")
      // The shell adds what it finds out by itself.
      #expect(environment.allSatisfy { $0 == "PATH=/usr/bin:/bin" || $0.hasPrefix("PWD=") }, "\(environment)")
    }
  }
#endif
