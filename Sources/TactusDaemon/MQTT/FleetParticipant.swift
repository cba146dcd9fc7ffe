@_spi(FromOutside) import Conversions
import MQTTMosquitto
import Service
import Synchronization
import Tactus
import Wire

/// The participant for all systems: it publishes their states and events and receives their commands. Retained messages
/// of this device from an earlier configuration are removed.
///
/// A state is published at once when an event has occurred, but not more often than ten times a second; within seconds
/// when anything else has changed; and once an interval if only members have changed that change by themselves. All
/// calls except `receive` are made on the main thread.
final class FleetParticipant: BrokerParticipant {
  /// The document that was last published on a topic.
  private struct Told {
    var document: [UInt8]
    /// The document without the members that change by themselves, or `nil` if it has none.
    var settled: JSONValue?
  }

  private struct State {
    var told: [String: Told] = [:]
    /// The systems with an event since the last beat.
    var changed: Set<String> = []
    var lookAt = TickInstant.zero
    var tellAllAt = TickInstant.zero
    var events: [MQTTMessage] = []
    /// The topics of this device that the broker had retained before, not yet compared with `told`.
    var kept: Set<String> = []
    var look = Look.notYet
  }

  /// The progress of the check for old retained messages, made once, at the first connection that lasts.
  private enum Look {
    case notYet
    /// The subscriptions have been sent; retained messages arrive within moments.
    case until(TickInstant)
    case done
  }
  private static let lookTime = Nanoseconds.seconds(5)
  /// The time between two checks of states without events.
  private static let changesEvery = Nanoseconds.seconds(5)
  private static let movingEverywhere: Set<String> = ["monotonicNs", "counters"]

  private let systems: [any ServedSystem]
  private let topics: DeviceTopics
  private let discoveryPrefix: String?
  private let interval: Nanoseconds
  private let own: OwnTopics
  /// Carries out commands, or is `nil` if commands are not accepted.
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

  var filters: [String] { own.filters }
  /// The filters of the command topics, to which a separate connection subscribes; empty if commands are not accepted.
  var commandFilters: [String] { commands == nil ? [] : topics.everyCommandFilter }

  /// Queues the changes of the systems that subscribers of `/ws` also get.
  func publish(_ events: [Event]) {
    state.withLock { state in
      for event in events where event.kind == .edge {
        state.changed.insert(event.system)
        // The outbox holds as many events; the state that is published next has what matters.
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
    removeStale(at: now, on: broker)
  }

  /// Removes retained messages of this device that are no longer published: those of a system that is no longer
  /// configured, or of a plant that was removed while the broker was away. All current messages have been published
  /// before this call.
  private func removeStale(at now: TickInstant, on broker: BrokerLine) {
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
    // Otherwise our own states would be received endlessly.
    if isOver { for filter in own.filters { broker.unsubscribe(filter) } }
  }

  /// Publishes the state of a system and its parts.
  ///
  /// - Parameter whole: whether the state is published even if only members have changed that change by themselves.
  private func publish(_ system: any ServedSystem, whole: Bool, on broker: BrokerLine) {
    let moving = system.movingMembers.union(Self.movingEverywhere)
    publishIfChanged(topics.state(system.name), system.state, moving: moving, whole: whole, on: broker)
    var current: Set<String> = []
    for part in system.parts {
      let topic = topics.state(system.name, part.path)
      current.insert(topic)
      publishIfChanged(topic, part.state, moving: moving, whole: whole, on: broker)
    }
    forget(below: "\(topics.base)/\(system.name)/", but: current.union([topics.state(system.name)]), on: broker)
  }

  /// Deletes the retained messages below `start` that are no longer current.
  private func forget(below start: String, but current: Set<String>, on broker: BrokerLine) {
    let gone = state.withLock { state in
      let gone = state.told.keys.filter { $0.hasPrefix(start) && !current.contains($0) }.sorted()
      for topic in gone { state.told[topic] = nil }
      return gone
    }
    for topic in gone { broker.publish(MQTTMessage(topic: topic, payload: [], isRetained: true)) }
  }

  /// Publishes the announcements for Home Assistant, which may change while the daemon runs: zones are renamed, added and removed.
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
      publishIfChanged(topic, Array(entity.document(of: topics).utf8), on: broker)
    }
    forget(below: discoveryPrefix + "/", but: current, on: broker)
  }

  /// Publishes a retained document if it has changed.
  private func publishIfChanged(
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
    // A message without room is tried again at the next check, since a removed topic makes room.
    if isNew, broker.publish(MQTTMessage(topic: topic, payload: document, isRetained: true)) == .tooManyRetained {
      state.withLock { $0.told[topic] = nil }
    }
  }

  func receive(_ message: MQTTMessage, on broker: BrokerLine) {
    if message.isRetained, own.isOurs(message) {
      state.withLock { _ = $0.kept.insert(message.topic) }
      return
    }
    guard let commands, let path = topics.commandPath(message.topic) else { return }
    let reply = topics.reply(path)
    commands.receive(path: path, payload: message.payload, isOld: message.isRetained) { document in
      broker.publish(MQTTMessage(topic: reply, payload: document))
    }
  }

  /// Notes the loss of the connection. Clients that can no longer be heard release what they drive, as when a WebSocket closes.
  func connectionLost() { commands?.linkLost() }
}
