#if MQTT
  import Foundation
  import MQTTMosquitto
  import MQTTSupport
  import Plants
  import Synchronization
  import Tactus
  import TestSupport
  import Testing

  /// A plant host on a broker, as the daemon puts them together.
  final class HostOnBroker: Sendable {
    private let host: Mutex<PlantHost>
    private let client = Mutex<MQTTClient?>(nil)

    init(_ broker: TestBroker, spamLimit: Int? = nil) throws {
      var settings = PlantHostSettings()
      settings.spamLimit = spamLimit
      let sensors = ["0x36", "0x37"].map { PlantSensorID($0)! }
      host = Mutex(PlantHost(settings, book: PlantBook(sensors: Set(sensors))))
      let client = try MQTTClient(broker.settings("tactus-plants")) { [weak self] in self?.answer($0) }
      client.subscribe(PlantTopics.toHost)
      self.client.withLock { $0 = client }
      client.start()
    }

    private func answer(_ message: MQTTMessage) {
      let now = MonotonicClock.now
      let readings = [
        PlantSensorID("0x36")!: PlantReading(raw: 650, moisturePercent: 25, scale: 5, celsius: 22.2, at: now)
      ]
      let action = host.withLock { host in
        message.payload.withUnsafeBytes { host.step($0, at: now, readings: readings) }
      }
      client.withLock { client in
        for reply in action.replies { client?.publish(MQTTMessage(topic: PlantTopics.fromHost, text: reply.encoded)) }
      }
    }

    var outcomes: [String: Int64] { host.withLock { $0.outcomes } }
    var isConnected: Bool { client.withLock { $0?.status.isConnected ?? false } }
    func stop() { client.withLock { $0 }?.stop() }
  }

  @Suite(
    "Plant-Tracker over a real broker", .ownThread,
    .enabled(if: Mosquitto.isInstalled, "mosquitto and its clients are not installed"))
  struct PlantHostOverMQTTTests {
    @Test(
      "paho-mqtt as the app: a whole session",
      .enabled(if: Mosquitto.pahoPython != nil, "python3-paho-mqtt is not installed"))
    func app() throws {
      let broker = try TestBroker()
      try broker.start()
      let host = try HostOnBroker(broker)
      // Its subscription stands when a request has reached it.
      #expect(
        eventually {
          try? Mosquitto.publish(Self.request(0), to: PlantTopics.toHost, port: broker.port)
          return eventually { !host.outcomes.isEmpty || !host.isConnected } && !host.outcomes.isEmpty
        })
      let script = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "peers/app.py").path
      let requests = [
        "REQ_numPlants|", "REQ_addNewPlant|Basil--[\"0x36\"]", "REQ_numPlants|", "REQ_plantInfoOnStartup|0",
        "REQ_plantSensorData|all", "REQ_editPlant|Basil,Mint", "REQ_deletePlant|Basil", "REQ_deletePlant|Mint",
      ]
      let result = try Mosquitto.run(
        "/usr/bin/timeout",
        ["300", try #require(Mosquitto.pahoPython), script, "\(broker.port)", "6F2A", "8"] + requests)
      let lines = result.output.split(separator: "\n").map(String.init)
      #expect(
        lines == [
          "RES_numPlants 0", "RES_addNewPlant Basil", "RES_numPlants 1",
          #"RES_plantInfoOnStartup {"Name"-- "Basil", "Sensors"-- "[\"0x36\"]"}"#,
          "RES_plantSensorData {'moisture'-- 5, 'temperature'-- 71, 'plant'-- 'Basil', 'sensor'-- '0x36'}",
          "RES_editPlant Mint",
          "ERR_cannotDeletePlant ID--0||sender--6F2A||receiver--Host-RPI3B+||payload--Basil||operation--REQ_deletePlant",
          "RES_deletePlant Mint",
        ])
      host.stop()
    }

    @Test("5,000 requests as fast as they come: a reply for each, and an outcome counted for each")
    func flood() throws {
      let broker = try TestBroker("listener PORT 127.0.0.1\nallow_anonymous true\nmax_queued_messages 0\nlog_dest none")
      try broker.start()
      let host = try HostOnBroker(broker)
      let app = try MQTTClient(broker.settings("app")) { _ in }
      app.start()
      // Those before the subscriptions stand have the ID 0.
      let early = Counter()
      let counter = Counter()
      let listener = try MQTTClient(broker.settings("listener")) { message in
        if message.text.hasPrefix("ID:0;") { early.add() } else { counter.add() }
      }
      listener.subscribe(PlantTopics.fromHost)
      listener.start()
      #expect(eventually { host.isConnected && app.status.isConnected && listener.status.isConnected })
      #expect(
        eventually {
          app.publish(MQTTMessage(topic: PlantTopics.toHost, text: Self.request(0)))
          return early.count > 0
        })
      for number in 1...5_000 {
        let message = MQTTMessage(topic: PlantTopics.toHost, text: Self.request(number))
        #expect(eventually { app.publish(message) == nil })
      }
      #expect(eventually { counter.count == 5_000 })
      #expect(host.outcomes["answered"]! >= 5_000 && host.outcomes.count == 1)
      host.stop()
      app.stop()
      listener.stop()
    }

    static func request(_ number: Int) -> String {
      "ID:\(number);sender:app\(number % 50);receiver:Host-RPI3B+;payload:;operation:REQ_numPlants"
    }

    final class Counter: Sendable {
      private let value = Atomic<Int64>(0)
      func add() { value.wrappingAdd(1, ordering: .relaxed) }
      var count: Int64 { value.load(ordering: .relaxed) }
    }
  }
#endif
