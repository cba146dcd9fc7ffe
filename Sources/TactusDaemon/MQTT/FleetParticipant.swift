import MQTTMosquitto
import Service
import Synchronization
import Tactus
import Wire

/// Every system on the broker, alike: publishes its state and events and takes its commands. What this device left there before it was
/// configured otherwise is removed.
///
/// A state is published at once when something has happened, but not more often than ten times a second; soon when anything else has
/// changed; and once an interval if nothing has changed but what moves by itself. All but `take` is called on the main thread.
final class FleetParticipant: BrokerParticipant {
  /// What was last published on a topic.
  private struct Told {
    var document: [UInt8]
    /// Of it, without what moves by itself.
    var settled: JSONValue?
  }

  private struct State {
    var told: [String: Told] = [:]
    /// Systems to which something has happened since.
    var changed: Set<String> = []
    var lookAt = TickInstant.zero
    var tellAllAt = TickInstant.zero
    var events: [MQTTMessage] = []
    /// Topics of ours that the broker kept from before, not yet compared with `told`.
    var kept: Set<String> = []
    var look = Look.notYet
  }

  /// The look at what the broker keeps: once, at the first connection that lasts.
  private enum Look {
    case notYet
    /// The broker has been asked; its answers come within moments.
    case until(TickInstant)
    case done
  }
  private static let lookTime = Nanoseconds.seconds(5)
  /// Between two looks at states to which nothing has happened.
  private static let changesEvery = Nanoseconds.seconds(5)
  private static let movingEverywhere: Set<String> = ["monotonicNs", "counters"]

  private let systems: [any ServedSystem]
  private let topics: DeviceTopics
  private let discoveryPrefix: String?
  private let interval: Nanoseconds
  private let own: OwnTopics
  /// Carries commands out, or `nil` if commands are not taken.
  private let commands: RemoteCommands?
  private let state = Mutex(State())

  init(_ mqtt: Configuration.MQTT, systems: [any ServedSystem], commands: RemoteCommands?) {
    self.systems = systems
    self.commands = commands
    topics = mqtt.topics
    discoveryPrefix = mqtt.discoveryPrefix
    interval = .seconds(Int64(mqtt.stateIntervalSeconds))
    own = OwnTopics(mqtt.topics, homeAssistantPrefix: mqtt.homeAssistantPrefix)
  }

  var filters: [String] { (commands == nil ? [] : topics.everyCommandFilter) + own.filters }

  /// Takes changes, the same as subscribers of `/ws` get.
  func tell(_ events: [Event]) {
    state.withLock { state in
      for event in events where event.kind == .edge {
        state.changed.insert(event.system)
        // As many as the outbox holds; the state that follows says what matters.
        guard state.events.count < 256 else { continue }
        state.events.append(MQTTMessage(topic: topics.event(event.system), payload: event.document))
      }
    }
  }

  func beat(at now: TickInstant, on broker: BrokerLine) {
    let (tellsAll, looks, changed, events) = state.withLock { state in
      let tellsAll = state.tellAllAt <= now
      if tellsAll { state.tellAllAt = now + interval }
      let looks = tellsAll || state.lookAt <= now
      if looks { state.lookAt = now + Self.changesEvery }
      defer { (state.changed, state.events) = ([], []) }
      return (tellsAll, looks, state.changed, state.events)
    }
    if broker.isConnected() { for event in events { broker.publish(event) } }
    for system in systems where looks || changed.contains(system.name) {
      publish(system, whole: tellsAll || changed.contains(system.name), on: broker)
    }
    if looks { announce(on: broker) }
    look(at: now, on: broker)
  }

  /// Removes what the broker keeps of this device and is no longer published: of a system that is not configured any more, of
  /// a plant that was removed while the broker was away. Everything that is published has been published before this call.
  private func look(at now: TickInstant, on broker: BrokerLine) {
    let isConnected = broker.isConnected()
    let (gone, isOver) = state.withLock { state -> ([String], Bool) in
      let gone = state.kept.filter { state.told[$0] == nil }.sorted()
      state.kept = []
      switch state.look {
      case .notYet: if isConnected { state.look = .until(now + Self.lookTime) }
      case .until(let end):
        if !isConnected {
          state.look = .notYet
        } else if end <= now {
          state.look = .done
          return (gone, true)
        }
      case .done: break
      }
      return (gone, false)
    }
    for topic in gone { broker.publish(MQTTMessage(topic: topic, payload: [], isRetained: true)) }
    // Our own states would come back for ever.
    if isOver { for filter in own.filters { broker.unsubscribe(filter) } }
  }

  /// - Parameter whole: whether it is published, too, if nothing differs but what moves by itself.
  private func publish(_ system: any ServedSystem, whole: Bool, on broker: BrokerLine) {
    let moving = system.movingMembers.union(Self.movingEverywhere)
    tell(topics.state(system.name), system.state, moving: moving, whole: whole, on: broker)
    var current: Set<String> = []
    for part in system.parts {
      let topic = topics.state(system.name, part.path)
      current.insert(topic)
      tell(topic, part.state, moving: moving, whole: whole, on: broker)
    }
    forget(below: "\(topics.base)/\(system.name)/", but: current.union([topics.state(system.name)]), on: broker)
  }

  /// What the broker keeps and is no more.
  private func forget(below start: String, but current: Set<String>, on broker: BrokerLine) {
    let gone = state.withLock { state in
      let gone = state.told.keys.filter { $0.hasPrefix(start) && !current.contains($0) }.sorted()
      for topic in gone { state.told[topic] = nil }
      return gone
    }
    for topic in gone { broker.publish(MQTTMessage(topic: topic, payload: [], isRetained: true)) }
  }

  /// What there is may change: zones are renamed, added and removed while running.
  private func announce(on broker: BrokerLine) {
    guard let discoveryPrefix else { return }
    let takesCommands = commands != nil
    let entities =
      HomeAssistantEntity.ofDevice(on: topics, takesCommands: takesCommands)
      + systems.flatMap { $0.entities(on: topics, takesCommands: takesCommands) }
    var current: Set<String> = []
    for entity in entities {
      let topic = entity.topic(of: topics, prefix: discoveryPrefix)
      current.insert(topic)
      tell(topic, Array(entity.document(of: topics).utf8), on: broker)
    }
    forget(below: discoveryPrefix + "/", but: current, on: broker)
  }

  /// Retained, and only what is new.
  private func tell(
    _ topic: String, _ document: [UInt8], moving: Set<String> = [], whole: Bool = true, on broker: BrokerLine
  ) {
    let isNew = state.withLock { state in
      let before = state.told[topic]
      guard before?.document != document else { return false }
      let settled = moving.isEmpty ? nil : JSONValue(json: document)?.without(moving)
      if !whole, let settled, settled == before?.settled { return false }
      state.told[topic] = Told(document: document, settled: settled)
      return true
    }
    if isNew { broker.publish(MQTTMessage(topic: topic, payload: document, isRetained: true)) }
  }

  func take(_ message: MQTTMessage, on broker: BrokerLine) {
    if message.isRetained, own.isOurs(message) {
      state.withLock { _ = $0.kept.insert(message.topic) }
      return
    }
    guard let commands, let path = topics.commandPath(message.topic) else { return }
    let reply = topics.reply(path)
    commands.take(path: path, payload: message.payload, isOld: message.isRetained) { document in
      broker.publish(MQTTMessage(topic: reply, payload: document))
    }
  }

  /// As when a WebSocket closes: clients that cannot be heard any more drive nothing.
  func connectionLost() { commands?.linkLost() }
}
