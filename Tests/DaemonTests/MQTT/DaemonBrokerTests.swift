import Foundation
import Logging
import MQTTMosquitto
import Service
import Synchronization
import Tactus
import Testing
import Wire

@testable import TactusDaemon

/// The daemon's two connections without a broker: a test says what becomes of them.
@Suite("the daemon's connections to its broker")
struct DaemonBrokerTests {
  /// The connections as a test has them, and what the daemon has published over the first.
  private final class Bench: Sendable {
    let status = Mutex(MQTTStatus())
    let commands = Mutex(MQTTStatus())
    /// What a simulated clock tells.
    let instant = Mutex(TickInstant.zero)
    let published = Mutex<[MQTTMessage]>([])
    let deliver = Mutex<@Sendable (MQTTMessage) -> Void>({ _ in })
    let filters = Mutex<(first: [String], commands: [String])>(([], []))

    func broker(
      takesCommands: Bool = true, now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
    ) throws -> DaemonBroker {
      let mqtt = Configuration.MQTT(
        simulated: DeviceTopics(device: "bed")!, takesCommands: takesCommands, stateIntervalSeconds: 60)
      let broker = try DaemonBroker(
        mqtt, served: [], others: [], logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }, now: now
      ) {
        deliver in
        self.deliver.withLock { $0 = deliver }
        return BrokerConnection(
          start: {}, stop: {}, subscribe: { filter in self.filters.withLock { $0.first.append(filter) } },
          unsubscribe: { _ in },
          publish: { message in
            self.published.withLock { $0.append(message) }
            return nil
          },
          status: { self.status.withLock { $0 } },
          commands: takesCommands
            ? CommandConnection(
              subscribe: { filter in self.filters.withLock { $0.commands.append(filter) } }, publish: { _ in nil },
              status: { self.commands.withLock { $0 } })
            : nil,
          spawned: { nil })
      }
      broker.start()
      _ = said
      return broker
    }

    func connect() {
      status.withLock { status in
        (status.isConnected, status.isSubscribed) = (true, true)
        status.connections += 1
      }
    }

    func connectCommands(isSubscribed: Bool) {
      commands.withLock { status in
        (status.isConnected, status.isSubscribed) = (true, isSubscribed)
        status.connections += 1
      }
    }

    /// The statuses that were published since the last look.
    var said: [String] {
      published.withLock { messages in
        defer { messages = [] }
        return messages.filter { $0.topic == "tactus/bed/status" && $0.isRetained }.map(\.text)
      }
    }
  }

  @Test("online when every subscription to commands is granted, not before; said again when either connection is new")
  func online() throws {
    let bench = Bench()
    let broker = try bench.broker()
    func said() -> [String] {
      broker.beat(at: .zero)
      return bench.said
    }
    #expect(said() == [], "nobody is connected")
    bench.connect()
    #expect(said() == ["offline"] && said() == [], "commands are not heard yet")
    bench.connectCommands(isSubscribed: false)
    #expect(said() == ["offline"] && said() == [], "not acknowledged")
    bench.commands.withLock { $0.isSubscribed = true }
    #expect(said() == ["online"] && said() == [])
    // The command connection goes and comes back.
    bench.commands.withLock { $0.ended() }
    #expect(said() == ["offline"] && said() == [])
    bench.connectCommands(isSubscribed: true)
    #expect(said() == ["online"])
    bench.connectCommands(isSubscribed: true)
    #expect(said() == ["online"], "lost and made anew between two looks")
    // The first one goes: the broker says offline.
    bench.status.withLock { $0.ended() }
    #expect(said() == [])
    bench.connect()
    #expect(said() == ["online"] && said() == [])
  }

  @Test("commands are not taken: online as soon as there is a connection")
  func withoutCommands() throws {
    let bench = Bench()
    let broker = try bench.broker(takesCommands: false)
    bench.connect()
    broker.beat(at: .zero)
    #expect(bench.said == ["online"])
  }

  @Test(
    "somebody else's offline on the status topic: online is said again; our own words and what was kept are not answered"
  )
  func foreignOffline() throws {
    let bench = Bench()
    let broker = try bench.broker()
    #expect(
      bench.filters.withLock { $0.first.contains("tactus/bed/status") && !$0.commands.contains("tactus/bed/status") })
    bench.connect()
    bench.connectCommands(isSubscribed: true)
    broker.beat(at: .zero)
    #expect(bench.said == ["online"])
    func hears(_ text: String, isRetained: Bool = false) -> [String] {
      bench.deliver.withLock { $0 }(MQTTMessage(topic: "tactus/bed/status", text: text, isRetained: isRetained))
      broker.beat(at: .zero)
      return bench.said
    }
    #expect(hears("online") == [] && hears("offline", isRetained: true) == [])
    #expect(hears("offline") == ["online"] && hears("") == ["online"] && hears("online") == [])
  }

  @Test(
    "counts of both connections are summed, in the document and in the metrics: a reply that found no room is counted")
  func counts() async throws {
    let bench = Bench()
    let broker = try bench.broker()
    bench.connect()
    bench.connectCommands(isSubscribed: true)
    bench.status.withLock { status in (status.sent, status.failures, status.refused) = (5, 1, [.tooLong: 1]) }
    bench.commands.withLock { status in
      (status.sent, status.failures, status.refused) = (2, 3, [.tooManyWaiting: 4, .tooLong: 1])
      (status.received, status.receivedTooLong) = (7, 1)
    }
    let document = try await document(broker)
    #expect(document["sent"] as? Int == 7 && document["failures"] as? Int == 4 && document["connections"] as? Int == 2)
    #expect(document["received"] as? Int == 7 && document["receivedTooLong"] as? Int == 1)
    let refused = document["refused"] as? [String: Int]
    #expect(refused?["tooManyWaiting"] == 4 && refused?["tooLong"] == 2)
    var writer = MetricsWriter()
    broker.metrics.write(into: &writer)
    for line in [
      "tactus_mqtt_connections_total 2", "tactus_mqtt_failures_total 4", "tactus_mqtt_sent_messages_total 7",
      "tactus_mqtt_refused_messages_total{reason=\"too_many_waiting\"} 4", "tactus_mqtt_commands_connected 1",
    ] { #expect(writer.text.contains(line + "\n"), "\(line) in \(writer.text)") }
  }

  @Test(
    "subscriptions to commands refused: not connected, not online, and health names them; others than needed are no trouble"
  )
  func refused() async throws {
    let bench = Bench()
    let broker = try bench.broker()
    bench.connect()
    bench.connectCommands(isSubscribed: true)
    bench.status.withLock { $0.refusing = ["homeassistant/+/tactus-bed/+/config"] }
    #expect(broker.trouble() == nil)
    bench.commands.withLock { ($0.isSubscribed, $0.refusing) = (false, ["tactus/bed/command"]) }
    let trouble = try #require(broker.trouble())
    #expect(trouble.code == "BROKER_REFUSES" && trouble.message.contains("the subscription to tactus/bed/command:"))
    let document = try await document(broker)
    #expect(document["connected"] as? Bool == false && document["commandsConnected"] as? Bool == false)
    broker.beat(at: .zero)
    #expect(bench.said == ["offline"])
  }

  @Test(
    "connections lost soon: unstable from the third in a row, of either connection, with its cause and what to look at")
  func unstable() throws {
    let bench = Bench()
    let broker = try bench.broker()
    bench.connect()
    for (lostSoon, isTold) in [(2, false), (3, true)] as [(Int64, Bool)] {
      bench.commands.withLock { ($0.lostSoon, $0.lastFailure) = (lostSoon, "another client has our client ID") }
      #expect((broker.trouble()?.code == "BROKER_UNSTABLE") == isTold)
    }
    let message = try #require(broker.trouble()?.message)
    #expect(
      message.contains("3 times in a row (another client has our client ID)") && message.contains("mqtt.device (bed)"))
    bench.connectCommands(isSubscribed: true)
    bench.commands.withLock { $0.lostSoon = 0 }
    #expect(broker.trouble() == nil)
  }

  @Test("no connection: a trouble outside the daemon once an attempt has failed, or after 10 s; none when all are made")
  func missing() throws {
    let bench = Bench()
    let broker = try bench.broker(now: { bench.instant.withLock { $0 } })
    let trouble = broker.trouble
    #expect(trouble() == nil, "it may be on its way")
    bench.instant.withLock { $0 = TickInstant(nanoseconds: 10_000_000_001) }
    let silent = try #require(trouble())
    #expect(silent.code == "BROKER_GONE" && silent.isOutside)
    #expect(silent.message.hasPrefix("no connection to the MQTT broker "))
    #expect(silent.message.contains(": no answer yet; "))
    bench.instant.withLock { $0 = .zero }
    bench.status.withLock { $0.lastFailure = "broker b:1883: Connection refused" }
    #expect(
      trouble()?.message
        == "no connection to the MQTT broker b:1883: Connection refused; it is tried again, and until then nothing is "
        + "said or heard over MQTT")
    bench.connect()
    #expect(trouble()?.code == "BROKER_GONE", "the connection for commands is missing")
    bench.connectCommands(isSubscribed: true)
    #expect(trouble() == nil)
    bench.status.withLock { $0.ended() }
    #expect(trouble()?.code == "BROKER_GONE")
  }

  private func document(_ broker: DaemonBroker) async throws -> [String: Any] {
    guard case .handler(let handle) = broker.route.handling else { return [:] }
    let caller = Caller(scope: .read, tokenID: nil, address: "test", client: 0)
    let answer = try await handle(APIRequest(caller: caller, parameters: [:], body: []))
    return try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any] ?? [:]
  }
}
