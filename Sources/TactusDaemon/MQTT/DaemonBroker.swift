import Logging
import MQTTMosquitto
import Service
import Synchronization
import Tactus
import Wire

/// The daemon's connections to its MQTT broker: one that all participants share, and one over which commands arrive.
///
/// It is used on the main thread, which waits only in `stop`; loops do not use it. After the broker is lost, the client
/// tries to connect until it succeeds, and then publishes all retained messages again.
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

    /// The participants that receive messages; empty before the clients exist and after they have stopped.
    private let listeners = Mutex<[Listener]>([])

    func open(_ listeners: [Listener]) { self.listeners.withLock { $0 = listeners } }

    func deliver(_ message: MQTTMessage) {
      for listener in listeners.withLock({ $0 }) where listener.filters.contains(where: { $0.matches(message.topic) }) {
        listener.participant.receive(message, on: listener.line)
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
  private let presence: DevicePresence
  /// The filters whose refusal by the broker is a trouble: those of commands, and of systems that use further topics.
  private let neededFilters: Set<String>
  private let commands: RemoteCommands?
  private let logger: Logger
  private let now: @Sendable () -> TickInstant
  private var toldConnections: Int64 = 0
  private var wasConnected = false
  private var toldFailure: String?
  private var toldBroker: SpawnedBroker?
  private var toldRefusing: [String] = []
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
    presence = DevicePresence(mqtt.topics)
    let participants: [any BrokerParticipant] = [fleet, presence] + others
    neededFilters = Set(fleet.commandFilters + others.flatMap(\.filters))
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
    for participant in participants { participant.begin(on: line) }
    connection.start()
  }

  /// Publishes changes of the systems, the same ones that subscribers of `/ws` get.
  package func publish(_ events: [Event]) { fleet.publish(events) }

  /// Logs changes of the connection and advances the participants. The function is to be called ten times a second.
  package func beat(at now: TickInstant) {
    report()
    for participant in participants { participant.beat(at: now, on: line) }
    // The presence is published after the states, so that they are current when the device is reported online.
    presence.say(connection.status(), commands: connection.commands?.status(), on: line)
  }

  /// Publishes the last events and `offline`, then ends the connection and the broker that this program has started. Takes some milliseconds, at most
  /// 2 s if the broker does not read. The function is to be called after the actuators have been stopped.
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
    // A broker that was just started does not accept connections at once.
    if !status.isConnected, !Self.isComing(status, mqtt), let failure = status.lastFailure, failure != toldFailure {
      toldFailure = failure
      logger.warning("no MQTT broker", metadata: place.merging(["reason": .string(failure)]) { first, _ in first })
    }
    reportCommands(besides: status)
    reportRefusals()
    let broker = connection.spawned()
    if let broker, broker != toldBroker, let failure = broker.lastFailure, failure != toldBroker?.lastFailure {
      logger.error("the MQTT broker of our own", metadata: ["reason": .string(failure)])
    }
    toldBroker = broker
  }

  /// Logs once when the connection for commands fails while the other one is established, and once when it is back.
  /// Commands of clients that drove over it do not arrive meanwhile.
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

  /// Logs once which subscriptions the broker refuses, and again when these are others.
  private func reportRefusals() {
    let refusing = Self.refusing(connection, of: neededFilters)
    defer { toldRefusing = refusing }
    guard !refusing.isEmpty, refusing != toldRefusing else { return }
    logger.warning(
      "the MQTT broker refuses subscriptions",
      metadata: place.merging([
        "filters": .string(refusing.joined(separator: " ")),
        "way_out": "let the broker's access list allow them to the daemon's account (mqtt.user)",
      ]) { first, _ in first })
  }

  /// Returns the needed filters that the broker refuses on the present connections, in alphabetical order.
  private static func refusing(_ connection: BrokerConnection, of needed: Set<String>) -> [String] {
    connection.status().with(connection.commands?.status()).refusing.filter(needed.contains).sorted()
  }

  private var place: Logger.Metadata { ["broker": .string("\(mqtt.settings.address)")] }

  /// The number of connections in a row that are lost soon before health says so.
  private static let unstableAfter: Int64 = 3

  /// The time from the start after which a connection that has neither been made nor failed counts as missing.
  private static let firstAnswer = Nanoseconds.seconds(10)

  /// Returns the trouble that `GET /api/health` reports about the broker, or `nil` if there is none: the broker that this program starts does not
  /// run, connections are lost again and again, the broker refuses subscriptions, or there is no connection. Only the last leaves the daemon healthy.
  /// It may be used from any thread.
  package var trouble: @Sendable () -> ServiceTrouble? {
    let (connection, neededFilters, mqtt, now) = (connection, neededFilters, mqtt, now)
    let start = now()
    return {
      let status = connection.status()
      if let failure = connection.spawned()?.lastFailure, !status.isConnected {
        return ServiceTrouble(
          code: "BROKER_FAILED",
          message: "the MQTT broker of our own does not work: \(failure); it is tried again, and until then nothing is "
            + "said or taken over MQTT")
      }
      let both = status.with(connection.commands?.status())
      if both.lostSoon >= Self.unstableAfter {
        return ServiceTrouble(
          code: "BROKER_UNSTABLE",
          message: "the connection to the MQTT broker is unstable: lost soon \(both.lostSoon) times in a row "
            + "(\(both.lastFailure ?? "no reason is known")); if another daemon on this broker has the same mqtt.device "
            + "(\(mqtt.device)), give one of them another; it is tried again in longer and longer intervals")
      }
      let refusing = Self.refusing(connection, of: neededFilters)
      guard !refusing.isEmpty else {
        return Self.missing(both, of: mqtt, isComing: Self.isComing(status, mqtt), sinceStart: now() - start)
      }
      return ServiceTrouble(
        code: "BROKER_REFUSES",
        message:
          "the MQTT broker refuses the subscription to \(refusing.joined(separator: ", ")): nothing that is sent there is "
          + "heard until its access list allows this to the daemon's account")
    }
  }

  /// Returns whether the broker that this program starts may not accept connections yet.
  private static func isComing(_ status: MQTTStatus, _ mqtt: Configuration.MQTT) -> Bool {
    mqtt.broker == .spawn && status.connections == 0 && status.failures < 5
  }

  /// Returns the trouble of a connection that is missing, or `nil` if all are established or may still be on their way.
  private static func missing(
    _ both: MQTTStatus, of mqtt: Configuration.MQTT, isComing: Bool, sinceStart time: Nanoseconds
  ) -> ServiceTrouble? {
    guard !both.isConnected, !isComing, both.lastFailure != nil || time > firstAnswer else { return nil }
    // The failure names the broker.
    let failure = both.lastFailure ?? "broker \(mqtt.settings.address): no answer yet"
    return ServiceTrouble(
      code: "BROKER_GONE",
      message: "no connection to the MQTT \(failure); it is tried again, and until then nothing is said or heard "
        + "over MQTT",
      isOutside: true)
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
