import Logging
import MQTTMosquitto
import Service
import Synchronization
import Tactus
import Wire

/// The daemon's connections to its MQTT broker: one that all participants share, and one over which commands come.
///
/// To be used on the main thread, which waits only in `stop`; loops do not use it. A broker that is gone is tried until
/// it is back, and then receives all retained messages again.
package final class DaemonBroker {
  /// Delivers messages from the clients' threads to the participants. It is made before the clients.
  private final class Desk: Sendable {
    /// A participant by the topics that it receives over one of the connections.
    struct Listener: Sendable {
      let filters: [TopicFilter]
      let participant: any BrokerParticipant
      let line: BrokerLine

      init(_ filters: [String], _ participant: any BrokerParticipant, on line: BrokerLine) {
        (self.filters, self.participant, self.line) = (filters.map { TopicFilter($0) }, participant, line)
      }
    }

    /// None before the clients exist and after they have stopped.
    private let listeners = Mutex<[Listener]>([])

    func open(_ listeners: [Listener]) { self.listeners.withLock { $0 = listeners } }

    func deliver(_ message: MQTTMessage) {
      for listener in listeners.withLock({ $0 }) where listener.filters.contains(where: { $0.matches(message.topic) }) {
        listener.participant.take(message, on: listener.line)
      }
    }
  }

  /// The settings of the broker from the configuration.
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
  private var toldCommands: (isConnected: Bool, connections: Int64, failure: String?) = (false, 0, nil)

  /// Makes the connection. The argument is called with each message that arrives.
  package typealias Connect = (@escaping @Sendable (MQTTMessage) -> Void) throws -> BrokerConnection

  /// Starts the broker if the configuration asks for that. The client does not connect before `start`.
  ///
  /// - Parameters:
  ///   - served: every system, as the broker sees it.
  ///   - others: further participants on the broker.
  ///   - now: returns the present instant, by which commands are limited and expire.
  ///   - connect: makes the connection, which may be one in simulated time.
  /// - Throws: `MQTTError` if libmosquitto does not accept a setting.
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
    let desk = Desk()
    self.desk = desk
    let connection = try connect { desk.deliver($0) }
    self.connection = connection
    let line = BrokerLine(
      mqtt, isConnected: { connection.status().isConnected }, unsubscribe: connection.unsubscribe,
      post: connection.publish)
    self.line = line
    let commandLine = connection.commands.map { commands in
      BrokerLine(mqtt, isConnected: { commands.status().isConnected }, unsubscribe: { _ in }, post: commands.publish)
    }
    desk.open(
      participants.map { .init($0.filters, $0, on: line) } + [
        .init(fleet.commandFilters, fleet, on: commandLine ?? line)
      ])
    for filter in Set(participants.flatMap(\.filters)).sorted() { connection.subscribe(filter) }
    for filter in fleet.commandFilters { (connection.commands?.subscribe ?? connection.subscribe)(filter) }
  }

  /// Starts to connect.
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

  /// Publishes changes of the systems, the same ones that subscribers of `/ws` get.
  package func tell(_ events: [Event]) { fleet.tell(events) }

  /// Logs changes of the connection and advances the participants. To be called ten times a second.
  package func beat(at now: TickInstant) {
    report()
    for participant in participants { participant.beat(at: now, on: line) }
  }

  /// Publishes the last events and `offline`, then ends the connection and the broker that this program has started.
  /// Takes some milliseconds, at most 2 s if the broker does not read. To be called after the actuators have been
  /// stopped.
  package func stop() {
    for participant in participants {
      participant.beat(at: now(), on: line)
      participant.connectionLost()
    }
    connection.stop()
    desk.open([])
  }

  /// Logs one line when the connection is made, is lost, or fails for another reason than before.
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
    reportCommands(besides: status)
    let broker = connection.spawned()
    if let broker, broker != toldBroker, let failure = broker.lastFailure, failure != toldBroker?.lastFailure {
      logger.error("the MQTT broker of our own", metadata: ["reason": .string(failure)])
    }
    toldBroker = broker
  }

  /// Logs once when the commands' connection fails while the other is there, and when it is back. Whoever drove over it is no longer heard.
  private func reportCommands(besides status: MQTTStatus) {
    guard let commands = connection.commands?.status() else { return }
    let isLost = toldCommands.isConnected && (!commands.isConnected || commands.connections != toldCommands.connections)
    if isLost { fleet.connectionLost() }
    if commands.isConnected, toldCommands.failure != nil {
      logger.notice("commands can come over MQTT again", metadata: place)
      toldCommands.failure = nil
    }
    if status.isConnected, !commands.isConnected, let failure = commands.lastFailure,
      failure != toldCommands.failure
    {
      logger.warning(
        "no commands over MQTT: their connection to the broker failed",
        metadata: place.merging(["reason": .string(failure)]) { first, _ in first })
      toldCommands.failure = failure
    }
    (toldCommands.isConnected, toldCommands.connections) = (commands.isConnected, commands.connections)
  }

  private var place: Logger.Metadata { ["broker": .string("\(mqtt.settings.address)")] }

  /// Returns the trouble that `GET /api/health` reports about the broker that this program starts, or `nil` if that
  /// broker works or another program's broker is used. Usable from any thread.
  var trouble: @Sendable () -> ServiceTrouble? {
    let connection = connection
    return {
      guard let failure = connection.spawned()?.lastFailure, !connection.status().isConnected else { return nil }
      return ServiceTrouble(
        code: "BROKER_FAILED",
        message: "the MQTT broker of our own does not work: \(failure); it is tried again, and until then nothing is "
          + "said or taken over MQTT"
      )
    }
  }

  /// The route `GET /api/mqtt`.
  var route: Route {
    let (mqtt, connection, commands) = (mqtt, connection, commands)
    return Route(.get, "/api/mqtt") { _ in
      .json(
        BrokerDocument(
          mqtt, status: connection.status(), commandStatus: connection.commands?.status(),
          spawned: connection.spawned(), commands: commands?.outcomes))
    }
  }

  var metrics: any MetricSource {
    let (connection, commands) = (connection, commands)
    return BrokerMetrics(
      status: connection.status, commandStatus: { connection.commands?.status() }, spawned: connection.spawned,
      commands: { commands?.outcomes ?? [:] })
  }
}
