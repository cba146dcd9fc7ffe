import Logging
import MQTTMosquitto
import Service
import Tactus
import TactusDaemon
import Wire

/// A broker in simulated time, and the daemon's place on it: the production `DaemonBroker` with the production outbox, over a connection that
/// is delayed, lost and made again.
///
/// The broker takes, keeps what is retained, tells whoever subscribes what it keeps, and says a vanished daemon's last word. Topics overtake
/// each other, a publisher that insists (QoS 1) may be heard twice; it is gone for a while, and may come back without what it kept. One
/// thread; the same seed and calls give the same run. A part keeps one over the deaths of its daemon.
public final class SwarmBroker {
  /// On the way from the daemon to the broker.
  private enum Packet {
    case subscribe(String)
    case unsubscribe(String)
    case message(MQTTMessage)
    case goodbye
  }

  private static let shortestDelay = Nanoseconds.seconds(1)
  private static let longestDelay = Nanoseconds.seconds(30)
  /// Between two states that nothing happens to (`mqtt.state_interval_s`).
  public static let stateInterval = Nanoseconds.seconds(15)
  /// From one `beat` to the next: a main thread that is busy. What is told is not asked for sooner, and the swarm is faster.
  public static let beatPeriod = Nanoseconds.milliseconds(500)

  /// Where the daemon is on the broker.
  public let topics = DeviceTopics(device: "swarm")!
  /// What the broker keeps, by topic.
  public private(set) var retained: [String: [UInt8]] = [:]
  /// Since when the daemon has been connected without a break, or `nil` if it is not.
  public private(set) var connectedSince: TickInstant?
  private var random: SplitMix64
  private let flagsKept: Bool
  private let clock = Guarded(TickInstant.zero)

  // The broker.
  /// Since when it has been there; `nil` while it is gone.
  public private(set) var upSince: TickInstant? = .zero
  private var isUp: Bool { upSince != nil }
  private var backAt = TickInstant.distantFuture
  private var subscribed: [String: TopicFilter] = [:]
  private var willAt = TickInstant.distantFuture
  /// From publishers other than the daemon; of one that insists until the broker has it.
  private var published: [(due: TickInstant, message: MQTTMessage, insists: Bool)] = []

  /// What the broker kept when a daemon that stops in order said goodbye, and when that was, or `nil` if none has.
  public private(set) var goodbye: (at: TickInstant, retained: [String: [UInt8]])?
  /// When a connection was last lost by the network, by the broker, or to a successor that came before the goodbye.
  public private(set) var lostAt = TickInstant.zero

  // The daemon's connection.
  private var daemon: DaemonBroker?
  private var takesCommands = false
  private var link: SwarmBrokerLink?
  private var retryAt = TickInstant.distantFuture
  private var delay = shortestDelay
  private var frozenUntil = TickInstant.zero
  private var outgoing: [(due: TickInstant, packet: Packet)] = []
  /// What a daemon has said last is on its way, with its goodbye.
  private var isLeaving = false
  private var incoming: [(due: TickInstant, message: MQTTMessage)] = []
  /// Handed to the daemon since the last `takeDelivered`.
  private var delivered: [MQTTMessage] = []

  /// A broker that is there, and keeps nothing.
  ///
  /// - Parameter flagsKept: whether it says of a message that it has kept it, as MQTT has it; a test takes that away.
  public init(seed: UInt64, flagsKept: Bool = true) {
    random = SwarmPlan.stream("broker", of: seed)
    self.flagsKept = flagsKept
  }

  // MARK: The daemon's life

  /// A daemon starts, and begins to connect.
  ///
  /// - Parameters:
  ///   - served: its systems.
  ///   - others: who lives on the broker besides.
  ///   - takesCommands: as `mqtt.commands`.
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

  /// The daemon has died: the kernel closes its socket, and the broker says its last word.
  public func kill(at now: TickInstant) {
    if connectedSince != nil, isUp { willAt = now + latency }
    // What has been given to the socket in order arrives after the end of the process.
    if !isLeaving { end() }
    (daemon, link, retryAt) = (nil, nil, .distantFuture)
  }

  /// The daemon stops in order: it tells what has happened last, says that it is offline, and ends its connection.
  ///
  /// - Parameter events: what its systems have told since the last beat.
  public func stop(at now: TickInstant, _ events: [Event] = []) {
    clock.value = now
    guard let daemon, let link else { return }
    daemon.tell(events)
    daemon.stop()
    let last = link.takeLast(will: daemon.mqtt.settings.will)
    guard connectedSince != nil, !last.isEmpty else { return }
    send(last, at: now)
    (connectedSince, incoming, isLeaving) = (nil, [], true)
  }

  /// Every thread of the daemon stands still: what comes for it waits.
  public func freeze(until end: TickInstant) { frozenUntil = max(frozenUntil, end) }

  /// The daemon's main thread, once in a `beatPeriod`.
  ///
  /// - Parameter events: what its systems have told since the last one.
  public func beat(at now: TickInstant, _ events: [Event]) {
    clock.value = now
    daemon?.tell(events)
    daemon?.beat(at: now)
    flush(at: now)
  }

  /// Sends what the daemon has published since: on another thread of it, for instance.
  public func flush(at now: TickInstant) {
    guard let link, connectedSince != nil else { return }
    send(link.take(), at: now)
  }

  private func send(_ packets: [SwarmBrokerLink.Packet], at now: TickInstant) {
    for packet in packets {
      // One connection: nothing overtakes.
      let due = max(outgoing.last?.due ?? .zero, now + latency)
      switch packet {
      case .subscribe(let filter): outgoing.append((due, .subscribe(filter)))
      case .unsubscribe(let filter): outgoing.append((due, .unsubscribe(filter)))
      case .publish(let message): outgoing.append((due, .message(message)))
      case .goodbye: outgoing.append((due, .goodbye))
      }
    }
  }

  /// What the daemon has published, or tried to, since the last call.
  public func takeSaid() -> [MQTTMessage] { link?.takeSaid() ?? [] }

  /// What the daemon was handed since the last call.
  public func takeDelivered() -> [MQTTMessage] {
    defer { delivered = [] }
    return delivered
  }

  // MARK: What others do

  /// Somebody else publishes.
  ///
  /// - Parameter copies: how often the broker hears it: a publisher that insists repeats what was not acknowledged to it.
  public func publish(_ message: MQTTMessage, copies: Int64, at now: TickInstant) {
    for _ in 0..<copies {
      let extra: Nanoseconds = copies > 1 ? .milliseconds(random.within(0...2_000)) : .zero
      published.append((now + latency + extra, message, copies > 1))
    }
  }

  /// The connection is lost.
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

  /// The broker is gone for so long.
  ///
  /// - Parameter forgets: whether it comes back without what it kept.
  public func leave(at now: TickInstant, for span: Nanoseconds, forgets: Bool) {
    disconnect(at: now)
    (upSince, willAt) = (nil, .distantFuture)
    backAt = backAt == .distantFuture ? now + span : max(backAt, now + span)
    if forgets { retained = [:] }
  }

  private func end() {
    (connectedSince, isLeaving) = (nil, false)
    // What is on its way is lost with the connection.
    (outgoing, incoming, subscribed) = ([], [], [:])
    link?.disconnected()
  }

  // MARK: Time

  /// When `run(at:)` has something to do.
  public var nextAt: TickInstant {
    var next = min(backAt, willAt, max(retryAt, frozenUntil), outgoing.first?.due ?? .distantFuture)
    for message in published { next = min(next, message.due) }
    for message in incoming { next = min(next, max(message.due, frozenUntil)) }
    return next
  }

  /// Does what is due.
  public func run(at now: TickInstant) {
    clock.value = now
    if backAt <= now { (upSince, backAt) = (now, .distantFuture) }
    if willAt <= now {
      willAt = .distantFuture
      take(
        MQTTMessage(topic: topics.availability, text: DeviceTopics.offline, isRetained: true), at: now)
    }
    if max(retryAt, frozenUntil) <= now { connect(at: now) }
    while let first = outgoing.first, first.due <= now {
      outgoing.removeFirst()
      take(first.packet, at: now)
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
      take(MQTTMessage(topic: topics.availability, text: DeviceTopics.offline, isRetained: true), at: now)
    }
    (retryAt, delay, connectedSince) = (.distantFuture, Self.shortestDelay, now)
    link.connected()
    flush(at: now)
  }

  private func hear(at now: TickInstant) {
    var waiting: [(due: TickInstant, message: MQTTMessage, insists: Bool)] = []
    let due = published.filter { $0.due <= now }
    published.removeAll { $0.due <= now }
    for entry in due {
      if isUp {
        take(entry.message, at: now)
      } else if entry.insists {
        waiting.append((backAt + latency, entry.message, true))
      }
    }
    published += waiting
  }

  private func take(_ packet: Packet, at now: TickInstant) {
    switch packet {
    case .message(let message): take(message, at: now)
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

  private func take(_ message: MQTTMessage, at now: TickInstant) {
    if message.isRetained { retained[message.topic] = message.payload.isEmpty ? nil : message.payload }
    guard subscribed.values.contains(where: { $0.matches(message.topic) }) else { return }
    var message = message
    message.isRetained = false
    send(message, at: now)
  }

  private func send(_ message: MQTTMessage, at now: TickInstant) {
    // Who has said goodbye reads no more.
    if isLeaving { return }
    // Of one topic nothing overtakes.
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
      // Its handler runs in a task: one command after the other, so that each run is like the last.
      if takesCommands, topics.commandPath(message.topic) != nil { link.waitForReply() }
    }
    if !due.isEmpty { flush(at: now) }
  }

  /// Mostly milliseconds; now and then seconds.
  private var latency: Nanoseconds {
    .milliseconds(random.chance(perMille: 30) ? random.within(100...1_500) : random.within(1...30))
  }
}
