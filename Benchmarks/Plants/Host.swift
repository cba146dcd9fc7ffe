import Glibc
import MQTTMosquitto
import Plants
import Synchronization
import Tactus
import Wire

func runHost(port: String, spamLimit: String) throws {
  guard let port = UInt16(port), let limit = Int(spamLimit) else { fail("expected two numbers") }
  #if MQTT
    let host = try BenchHost(port: port, spamLimit: limit > 0 ? limit : nil)
    _ = readLine()
    let outcomes = host.stop().sorted { $0.key < $1.key }
    print("{" + outcomes.map { "\"\($0.key)\":\($0.value)" }.joined(separator: ",") + "}")
  #else
    fail("built without MQTT")
  #endif
}

#if MQTT
  /// The host's machine and the client, put together as in the daemon; one probe that always reads the same.
  final class BenchHost: Sendable {
    private let host: Mutex<PlantHost>
    private let client = Mutex<MQTTClient?>(nil)
    private let readings: [PlantSensorID: PlantReading]

    init(port: UInt16, spamLimit: Int?) throws {
      let sensor = PlantSensorID("0x36")!
      var settings = PlantHostSettings()
      settings.spamLimit = spamLimit
      settings.staleAfter = .seconds(3600)
      host = Mutex(PlantHost(settings, book: PlantBook(sensors: [sensor])))
      readings = [
        sensor: PlantReading(raw: 650, moisturePercent: 25, scale: 5, celsius: 22.2, at: MonotonicClock.now)
      ]
      var connection = MQTTSettings(clientID: "tactus-plants")
      connection.port = port
      let client = try MQTTClient(connection) { [unowned self] in answer($0) }
      client.subscribe(PlantTopics.toHost)
      self.client.withLock { $0 = client }
      client.start()
    }

    private func answer(_ message: MQTTMessage) {
      let now = MonotonicClock.now
      let action = host.withLock { host in
        message.payload.withUnsafeBytes { host.step($0, at: now, readings: readings) }
      }
      client.withLock { client in
        for reply in action.replies { client?.publish(MQTTMessage(topic: PlantTopics.fromHost, text: reply.encoded)) }
      }
    }

    /// Messages by outcome, and replies that the client refused.
    func stop() -> [String: Int64] {
      let client = client.withLock { $0 }
      client?.stop()
      var outcomes = host.withLock { $0.outcomes }
      for (refusal, count) in client?.status.refused ?? [:] { outcomes["unsent-\(refusal.rawValue)"] = count }
      return outcomes
    }
  }
#endif
