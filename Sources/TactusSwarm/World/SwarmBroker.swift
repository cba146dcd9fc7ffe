@_spi(FromOutside) import Conversions
import Logging
import MQTTMosquitto
import Service
import Tactus
import TactusDaemon
import Wire

/// A broker in simulated time with the daemon's connection to it: the production `DaemonBroker` with the production
/// outbox, over a connection that is delayed, lost and restored.
///
/// The broker accepts messages, retains them, sends the retained ones to new subscribers, and publishes the will of a daemon that has vanished.
/// Messages on different topics may overtake each other, and a message with QoS 1 may arrive twice. The broker may be away for a while and lose its
/// retained messages. It is to be used on one thread; the same seed and calls give the same run. A part keeps its broker when its daemon dies.
public final class SwarmBroker {
  /// A packet on its way from the daemon to the broker.
  private enum Packet {
    case subscribe(String)
    case unsubscribe(String)
    case message(MQTTMessage)
    case goodbye
  }

  private static let shortestDelay = Nanoseconds.seconds(1)
  private static let longestDelay = Nanoseconds.seconds(30)
  /// The time between two publications of an unchanged state (`mqtt.state_interval_s`).
  public static let stateInterval = Nanoseconds.seconds(15)
  /// The time from one `beat` to the next, as with a busy main thread. A longer period makes the swarm faster, because
  /// published values are not checked sooner.
  public static let beatPeriod = Nanoseconds.milliseconds(500)

  /// The topics of the daemon on the broker.
  public let topics = DeviceTopics(device: "swarm")!
  /// The messages that the broker retains, by topic.
  public private(set) var retained: [String: [UInt8]] = [:]
  /// The time since which the daemon has been connected without a break, or `nil` if it is not connected.
  public private(set) var connectedSince: TickInstant?
  private var random: SplitMix64
  private let flagsKept: Bool
  private let clock = Guarded(TickInstant.zero)

  // State of the broker.
  /// The time since which the broker has been available, or `nil` while it is away.
  public private(set) var upSince: TickInstant? = .zero
  private var isUp: Bool { upSince != nil }
  private var backAt = TickInstant.distantFuture
  private var subscribed: [String: TopicFilter] = [:]
  private var willAt = TickInstant.distantFuture
  /// Messages from publishers other than the daemon. A publisher that insists repeats a message until the broker has received it.
  private var published: [(due: TickInstant, message: MQTTMessage, insists: Bool)] = []

  /// The time at which a daemon that stops in order last disconnected, with the messages that the broker retained at
  /// that time, or `nil` if none has.
  public private(set) var goodbye: (at: TickInstant, retained: [String: [UInt8]])?
  /// The time at which a connection was last lost: by the network, by the broker, or because a new daemon connected
  /// before the old one's disconnect arrived.
  public private(set) var lostAt = TickInstant.zero

  // State of the daemon's connection.
  private var daemon: DaemonBroker?
  private var takesCommands = false
  private var link: SwarmBrokerLink?
  private var retryAt = TickInstant.distantFuture
  private var delay = shortestDelay
  private var frozenUntil = TickInstant.zero
  private var outgoing: [(due: TickInstant, packet: Packet)] = []
  /// Whether the last messages of a stopping daemon and its disconnect are on their way.
  private var isLeaving = false
  private var incoming: [(due: TickInstant, message: MQTTMessage)] = []
  /// The messages delivered to the daemon since the last `takeDelivered`.
  private var delivered: [MQTTMessage] = []

  /// Makes a broker that is available and retains no message.
  ///
  /// - Parameter flagsKept: whether the broker marks retained messages as MQTT requires; a test switches this off.
  public init(seed: UInt64, flagsKept: Bool = true) {
    random = SwarmPlan.stream("broker", of: seed)
    self.flagsKept = flagsKept
  }

  // MARK: The daemon's life

  /// Starts a daemon, which begins to connect.
  ///
  /// - Parameters:
  ///   - served: the systems of the daemon.
  ///   - others: further participants of the daemon on the broker.
  ///   - takesCommands: the value of `mqtt.commands`.
  public func start(
    at instant: TickInstant, served: [any ServedSystem], others: [any BrokerParticipant], takesCommands: Bool = false
  ) {
    clock.value = instant
    let link = SwarmBrokerLink()
    let mqtt = Configuration.MQTT(
      simulated: topics, takesCommands: takesCommands,
      stateIntervalSeconds: Int(clamping: Self.stateInterval.count / 1_000_000_000))
    let logger = Logger(label: "swarm") { _ in SwiftLogNoOpLogHandler() }
    let clock = clock
    let now: @Sendable () -> TickInstant = { clock.value }
    do {
      let daemon = try DaemonBroker(mqtt, served: served, others: others, logger: logger, now: now) {
        link.connection(deliver: $0)
      }
      daemon.start()
      (self.daemon, self.link) = (daemon, link)
    } catch {
      preconditionFailure("a simulated connection has no setting that could be wrong: \(error)")
    }
    (retryAt, delay, frozenUntil) = (instant + latency, Self.shortestDelay, .zero)
    self.takesCommands = takesCommands
  }

  /// Ends the daemon without an orderly stop: the kernel closes its socket, and the broker publishes its will.
  public func kill(at now: TickInstant) {
    if connectedSince != nil, isUp { willAt = now + latency }
    // Packets that were given to the socket before an orderly end still arrive after the process has ended.
    if !isLeaving { end() }
    (daemon, link, retryAt) = (nil, nil, .distantFuture)
  }

  /// Stops the daemon in order: it publishes its last events, publishes that it is offline, and disconnects.
  ///
  /// - Parameter events: the events of its systems since the last beat.
  public func stop(at now: TickInstant, _ events: [Event] = []) {
    clock.value = now
    guard let daemon, let link else { return }
    daemon.publish(events)
    daemon.stop()
    let last = link.takeLast(will: daemon.mqtt.settings.will)
    guard connectedSince != nil, !last.isEmpty else { return }
    send(last, at: now)
    (connectedSince, incoming, isLeaving) = (nil, [], true)
  }

  /// Suspends every thread of the daemon until `end`; messages for the daemon wait.
  public func freeze(until end: TickInstant) { frozenUntil = max(frozenUntil, end) }

  /// Runs the daemon's main thread, once in a `beatPeriod`.
  ///
  /// - Parameter events: the events of its systems since the last beat.
  public func beat(at now: TickInstant, _ events: [Event]) {
    clock.value = now
    daemon?.publish(events)
    daemon?.beat(at: now)
    flush(at: now)
  }

  /// Sends the messages that the daemon has published since the last call, for instance on another thread.
  public func flush(at now: TickInstant) {
    guard let link, connectedSince != nil else { return }
    send(link.take(), at: now)
  }

  private func send(_ packets: [SwarmBrokerLink.Packet], at now: TickInstant) {
    for packet in packets {
      // The packets of one connection arrive in order.
      let due = max(outgoing.last?.due ?? .zero, now + latency)
      switch packet {
      case .subscribe(let filter): outgoing.append((due, .subscribe(filter)))
      case .unsubscribe(let filter): outgoing.append((due, .unsubscribe(filter)))
      case .publish(let message): outgoing.append((due, .message(message)))
      case .goodbye: outgoing.append((due, .goodbye))
      }
    }
  }

  /// Returns the messages that the daemon has published, or tried to publish, since the last call.
  public func takeSaid() -> [MQTTMessage] { link?.takeSaid() ?? [] }

  /// Returns the messages delivered to the daemon since the last call.
  public func takeDelivered() -> [MQTTMessage] {
    defer { delivered = [] }
    return delivered
  }

  // MARK: What others do

  /// Publishes a message of another client.
  ///
  /// - Parameter copies: how often the message reaches the broker; with QoS 1 a publisher repeats a message that was not acknowledged.
  public func publish(_ message: MQTTMessage, copies: Int64, at now: TickInstant) {
    for _ in 0..<copies {
      let extra: Nanoseconds = copies > 1 ? .milliseconds(random.within(0...2_000)) : .zero
      published.append((now + latency + extra, message, copies > 1))
    }
  }

  /// Breaks the connection of the daemon.
  public func disconnect(at now: TickInstant) {
    guard connectedSince != nil || isLeaving else { return }
    lostAt = now
    if isUp { willAt = now + latency }
    let isAlone = isLeaving
    end()
    if isAlone { return }
    retryAt = max(now, frozenUntil) + delay
    delay = min(delay + delay, Self.longestDelay)
  }

  /// Makes the broker unavailable for the given time.
  ///
  /// - Parameter forgets: whether the broker loses its retained messages.
  public func leave(at now: TickInstant, for span: Nanoseconds, forgets: Bool) {
    disconnect(at: now)
    (upSince, willAt) = (nil, .distantFuture)
    backAt = backAt == .distantFuture ? now + span : max(backAt, now + span)
    if forgets { retained = [:] }
  }

  private func end() {
    (connectedSince, isLeaving) = (nil, false)
    // Packets on their way are lost with the connection.
    (outgoing, incoming, subscribed) = ([], [], [:])
    link?.disconnected()
  }

  // MARK: Time

  /// The next instant at which `run(at:)` has work to do.
  public var nextAt: TickInstant {
    var next = min(backAt, willAt, max(retryAt, frozenUntil), outgoing.first?.due ?? .distantFuture)
    for message in published { next = min(next, message.due) }
    for message in incoming { next = min(next, max(message.due, frozenUntil)) }
    return next
  }

  /// Does all work that is due.
  public func run(at now: TickInstant) {
    clock.value = now
    if backAt <= now { (upSince, backAt) = (now, .distantFuture) }
    if willAt <= now {
      willAt = .distantFuture
      receive(
        MQTTMessage(topic: topics.availability, text: DeviceTopics.offline, isRetained: true), at: now)
    }
    if max(retryAt, frozenUntil) <= now { connect(at: now) }
    while let first = outgoing.first, first.due <= now {
      outgoing.removeFirst()
      receive(first.packet, at: now)
    }
    hear(at: now)
    deliver(at: now)
  }

  private func connect(at now: TickInstant) {
    guard let link else {
      retryAt = .distantFuture
      return
    }
    guard isUp else {
      retryAt = now + delay
      delay = min(delay + delay, Self.longestDelay)
      return
    }
    // A name is given to one connection at a time: that of a daemon that died, or whose goodbye has not come yet, is over.
    if willAt < .distantFuture || isLeaving {
      if isLeaving { lostAt = now }
      (willAt, isLeaving, outgoing, subscribed) = (.distantFuture, false, [], [:])
      receive(MQTTMessage(topic: topics.availability, text: DeviceTopics.offline, isRetained: true), at: now)
    }
    (retryAt, delay, connectedSince) = (.distantFuture, Self.shortestDelay, now)
    link.connected(will: topics.availability)
    flush(at: now)
  }

  private func hear(at now: TickInstant) {
    var waiting: [(due: TickInstant, message: MQTTMessage, insists: Bool)] = []
    let due = published.filter { $0.due <= now }
    published.removeAll { $0.due <= now }
    for entry in due {
      if isUp {
        receive(entry.message, at: now)
      } else if entry.insists {
        waiting.append((backAt + latency, entry.message, true))
      }
    }
    published += waiting
  }

  private func receive(_ packet: Packet, at now: TickInstant) {
    switch packet {
    case .message(let message): receive(message, at: now)
    case .unsubscribe(let filter): subscribed[filter] = nil
    case .goodbye:
      (isLeaving, subscribed, goodbye) = (false, [:], (now, retained))
    case .subscribe(let text):
      let filter = TopicFilter(text)
      subscribed[text] = filter
      for (topic, payload) in retained.sorted(by: { $0.key < $1.key }) where filter.matches(topic) {
        send(MQTTMessage(topic: topic, payload: payload, isRetained: true), at: now)
      }
    }
  }

  private func receive(_ message: MQTTMessage, at now: TickInstant) {
    if message.isRetained { retained[message.topic] = message.payload.isEmpty ? nil : message.payload }
    guard subscribed.values.contains(where: { $0.matches(message.topic) }) else { return }
    var message = message
    message.isRetained = false
    send(message, at: now)
  }

  private func send(_ message: MQTTMessage, at now: TickInstant) {
    // A client that has disconnected receives nothing more.
    if isLeaving { return }
    // Messages of one topic arrive in order.
    let last = incoming.last { $0.message.topic == message.topic }?.due ?? .zero
    incoming.append((max(last, now + latency), message))
  }

  private func deliver(at now: TickInstant) {
    guard let link, now >= frozenUntil else { return }
    let due = incoming.enumerated().filter { $0.element.due <= now }
      .sorted { ($0.element.due, $0.offset) < ($1.element.due, $1.offset) }.map(\.element.message)
    incoming.removeAll { $0.due <= now }
    for message in due {
      delivered.append(message)
      var shown = message
      shown.isRetained = message.isRetained && flagsKept
      link.deliver(shown)
      // The daemon handles commands in tasks; waiting for each reply makes runs repeatable.
      if takesCommands, topics.commandPath(message.topic) != nil { link.waitForReply() }
    }
    if !due.isEmpty { flush(at: now) }
  }

  /// The delay of a message: mostly some milliseconds, occasionally up to 1.5 s.
  private var latency: Nanoseconds {
    .milliseconds(random.chance(perMille: 30) ? random.within(100...1_500) : random.within(1...30))
  }
}
