import Logging
import MQTTMosquitto
import Service
import Synchronization
import Tactus
import Wire

/// The daemon on its MQTT broker: one connection for all parts that live there.
///
/// Used by the main thread, which never waits here but in `stop`; no loop knows of it. A broker that is gone is looked for
/// until it is back, and then gets everything again.
package final class DaemonBroker {
  /// What the client's thread delivers to, made before the client.
  private final class Desk: Sendable {
    private let participants: [(filters: [TopicFilter], participant: any BrokerParticipant)]
    /// Empty before the client is there, and when it has stopped.
    private let line = Mutex<BrokerLine?>(nil)

    init(_ participants: [any BrokerParticipant]) {
      self.participants = participants.map { ($0.filters.map { TopicFilter($0) }, $0) }
    }

    func open(_ line: BrokerLine?) { self.line.withLock { $0 = line } }

    func deliver(_ message: MQTTMessage) {
      guard let line = line.withLock({ $0 }) else { return }
      for (filters, participant) in participants where filters.contains(where: { $0.matches(message.topic) }) {
        participant.take(message, on: line)
      }
    }
  }

  /// The broker, as the file describes it.
  package let mqtt: Configuration.MQTT
  let line: BrokerLine
  private let connection: BrokerConnection
  private let desk: Desk
  private let participants: [any BrokerParticipant]
  private let fleet: FleetParticipant
  private let commands: RemoteCommands?
  private let logger: Logger
  private let now: @Sendable () -> TickInstant
  private var toldConnections: Int64 = 0
  private var wasConnected = false
  private var toldFailure: String?
  private var toldBroker: SpawnedBroker?

  /// Starts the broker if the configuration asks for one; nothing connects before `start`.
  ///
  /// What is delivered to, called with each message; what it returns is the connection.
  package typealias Connect = (@escaping @Sendable (MQTTMessage) -> Void) throws -> BrokerConnection

  /// - Parameters:
  ///   - served: every system as the broker sees it.
  ///   - others: the other participants on the broker.
  ///   - now: what commands are limited and grow old by.
  ///   - connect: makes the connection, or one in simulated time.
  /// - Throws: `MQTTError`: a setting that libmosquitto does not take.
  package init(
    _ mqtt: Configuration.MQTT, served: [any ServedSystem], others: [any BrokerParticipant], logger: Logger,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }, connect: Connect
  ) throws {
    self.mqtt = mqtt
    self.logger = logger
    self.now = now
    commands = mqtt.takesCommands ? RemoteCommands(served, link: "mqtt", logger: logger, now: now) : nil
    fleet = FleetParticipant(mqtt, systems: served, commands: commands)
    let participants: [any BrokerParticipant] = [fleet] + others
    self.participants = participants
    let desk = Desk(participants)
    self.desk = desk
    let connection = try connect { desk.deliver($0) }
    self.connection = connection
    line = BrokerLine(
      mqtt, isConnected: { connection.status().isConnected }, unsubscribe: connection.unsubscribe,
      post: connection.publish)
    desk.open(line)
    for filter in Set(participants.flatMap(\.filters)).sorted() { connection.subscribe(filter) }
  }

  /// Begins to connect.
  package func start() {
    if mqtt.isPasswordExposed {
      logger.warning(
        "the broker's password goes over the network without TLS",
        metadata: ["broker": .string(mqtt.settings.address), "way_out": "set mqtt.tls"])
    }
    line.publish(MQTTMessage(topic: mqtt.topics.availability, text: DeviceTopics.online, isRetained: true))
    for participant in participants { participant.begin(on: line) }
    connection.start()
  }

  /// Publishes changes of the systems, the same as subscribers of `/ws` get.
  package func tell(_ events: [Event]) { fleet.tell(events) }

  /// Ten times a second: what has become of the connection, and what the participants have to say.
  package func beat(at now: TickInstant) {
    report()
    for participant in participants { participant.beat(at: now, on: line) }
  }

  /// Publishes the last events and `offline`, and ends the connection and the broker that we started: some milliseconds, at most 2 s beside a broker
  /// that does not read. After the actuators.
  package func stop() {
    for participant in participants {
      participant.beat(at: now(), on: line)
      participant.connectionLost()
    }
    connection.stop()
    desk.open(nil)
  }

  /// One line when the connection comes, goes, or fails for another reason than before.
  private func report() {
    let status = connection.status()
    if status.connections != toldConnections {
      logger.notice("connected to the MQTT broker", metadata: place)
      // A connection may have come and gone between two beats.
      if wasConnected { for participant in participants { participant.connectionLost() } }
      (toldConnections, wasConnected, toldFailure) = (status.connections, true, nil)
    }
    if wasConnected, !status.isConnected {
      wasConnected = false
      for participant in participants { participant.connectionLost() }
    }
    // A broker that we have just started is not there at once.
    let isComing = mqtt.broker == .spawn && status.connections == 0 && status.failures < 5
    if !status.isConnected, !isComing, let failure = status.lastFailure, failure != toldFailure {
      toldFailure = failure
      logger.warning("no MQTT broker", metadata: place.merging(["reason": .string(failure)]) { first, _ in first })
    }
    let broker = connection.spawned()
    if let broker, broker != toldBroker, let failure = broker.lastFailure, failure != toldBroker?.lastFailure {
      logger.error("the MQTT broker of our own", metadata: ["reason": .string(failure)])
    }
    toldBroker = broker
  }

  private var place: Logger.Metadata { ["broker": .string("\(mqtt.settings.address)")] }

  /// What `GET /api/health` says of the broker that this program starts, or `nil` if all is well, or another program's broker is used. Usable from any thread.
  var trouble: @Sendable () -> ServiceTrouble? {
    let connection = connection
    return {
      guard let failure = connection.spawned()?.lastFailure, !connection.status().isConnected else { return nil }
      return ServiceTrouble(
        code: "BROKER_FAILED",
        message: "the MQTT broker of our own does not run: \(failure); it is tried again, and until then nothing is "
          + "said or taken over MQTT"
      )
    }
  }

  /// `GET /api/mqtt`
  var route: Route {
    let (mqtt, connection, commands) = (mqtt, connection, commands)
    return Route(.get, "/api/mqtt") { _ in
      .json(
        BrokerDocument(
          mqtt, status: connection.status(), spawned: connection.spawned(), commands: commands?.outcomes))
    }
  }

  var metrics: any MetricSource {
    let (connection, commands) = (connection, commands)
    return BrokerMetrics(
      status: connection.status, spawned: connection.spawned, commands: { commands?.outcomes ?? [:] })
  }
}
