@_spi(FromOutside) import Conversions
import MQTTMosquitto
import Tactus
import TactusDaemon
import Wire

/// Commands over an MQTT broker to every part: the production link (`RemoteCommands`, `FleetParticipant`,
/// `DaemonBroker`) on a simulated broker, with clients that publish valid, retained, duplicate and malformed commands.
/// A command that gets through is applied to its part like one received by the service.
///
/// In place of a system's own routes there are routes of the same form whose handlers record the commands; the part's
/// `remoteWords` are the commands that it accepts. A handler runs in a task, and the swarm waits for its answer, so
/// commands are handled one after another.
final class SwarmRemote: SwarmPart {
  static let names = [
    "a command that the broker has kept moves nothing",
    "a command is carried out once each time that it comes, and answered once",
    "a while after a connection the broker keeps whether each system is stopped",
    "the broker says online of a daemon that is connected, and offline of a dead one",
    "a daemon that stops in order says offline itself, before its connection ends",
  ]
  /// The longest time from a publication until the broker retains it.
  private static let broadcast = Nanoseconds.seconds(4)

  let name = "mqtt"
  private(set) var checks = SwarmChecks(names)
  var hasFailed: Bool { checks.hasFailed }
  let hasDied = false
  let isEmergencyStopped = false
  let heartbeats: [(version: LatestVersion, period: Nanoseconds)] = []
  private let parts: [any SwarmPart]
  private let broker: SwarmBroker
  private var served: [SwarmServed] = []
  private var cover: SwarmCover?
  private var isAlive = false
  private var nextBeat = TickInstant.zero
  private var nextLook = TickInstant.zero
  private var killedAt = TickInstant.zero
  private var awakeSince = TickInstant.zero
  private let saysGoodbye: Bool
  private var farewell = SwarmFarewell()
  /// Whether each part is stopped, and since when, by the part's name.
  private var stops: [String: (isStopped: Bool, since: TickInstant)] = [:]
  private var numbers = 0

  /// Makes the clients and the broker of these parts.
  ///
  /// - Parameters:
  ///   - parts: the parts that receive the commands; they belong to the same world.
  ///   - flagsKept: whether the broker marks retained messages; a test switches this off.
  ///   - saysGoodbye: whether a daemon that stops in order disconnects; a test switches this off.
  init(_ parts: [any SwarmPart], seed: UInt64, flagsKept: Bool = true, saysGoodbye: Bool = true) {
    (self.parts, self.saysGoodbye) = (parts, saysGoodbye)
    broker = SwarmBroker(seed: seed, flagsKept: flagsKept)
  }

  /// Returns these parts, with a `SwarmRemote` added if any of them accepts commands.
  static func commanding(_ parts: [any SwarmPart], seed: UInt64) -> [any SwarmPart] {
    parts.allSatisfy(\.remoteWords.isEmpty) ? parts : parts + [SwarmRemote(parts, seed: seed)]
  }

  /// The commands that clients may send: each a part and one of its words, or a word for all parts without a part.
  private var commands: [(part: (any SwarmPart)?, word: String)] {
    [(nil, "e-stop"), (nil, "reset")]
      + parts.flatMap { part in part.remoteWords.keys.sorted().map { (part, $0) } }
  }

  func plan(_ plan: inout SwarmPlanner) {
    let most = Int64(max(2, commands.count - 1))
    plan.times(0...15) { plan in
      let at = plan.busyInstant()
      let place = plan.chance(150) ? plan.within(0...1) : plan.within(2...most)
      // Retained one time in five, repeated by its publisher one time in four.
      let kind: Int64 = plan.chance(200) ? 1 : plan.chance(250) ? 2 : 0
      plan.add(
        at, "send", place, kind, plan.within(0...3), plan.within(-40...40), plan.within(-40...40), plan.within(1...9))
    }
    plan.maybe(200) { $0.add($0.instant(), "noise", 0) }
    plan.maybe(300, 1...2) { $0.add($0.instant(), "link-lost") }
    plan.maybe(250) { $0.add($0.instant(), "broker-gone", $0.within(10...8_000), $0.within(0...1)) }
  }

  // MARK: The daemon's life

  func start(at now: TickInstant, _ cover: SwarmCover) {
    self.cover = cover
    (isAlive, nextBeat, awakeSince) = (true, now, now)
    served = parts.map { SwarmServed($0.name, words: $0.remoteWords.keys.sorted()) }
    stops = [:]
    broker.start(at: now, served: served, others: [], takesCommands: true)
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    (isAlive, killedAt) = (false, now)
    broker.kill(at: now)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    farewell.stopped(broker, at: now)
    if saysGoodbye { broker.stop(at: now) }
    return (true, .known)
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    nextBeat = max(nextBeat, now + span)
    awakeSince = max(awakeSince, now + span)
    broker.freeze(until: now + span)
  }

  func emergencyStop(at now: TickInstant) {}
  func reset(at now: TickInstant) {}
  func makeSafe(at now: TickInstant) -> Bool { true }

  // MARK: Time

  var wakesAt: TickInstant { broker.nextAt }

  func run(until instant: TickInstant) {
    while broker.nextAt <= instant {
      let now = broker.nextAt
      broker.run(at: now)
      hear(at: now)
    }
    if isAlive, nextBeat <= instant {
      nextBeat = instant + SwarmBroker.beatPeriod
      for (part, system) in zip(parts, served) {
        let isStopped = part.isEmergencyStopped
        system.show(isStopped: isStopped)
        if stops[part.name]?.isStopped != isStopped { stops[part.name] = (isStopped, instant) }
      }
      broker.beat(at: instant, [])
    }
    if instant >= nextLook {
      nextLook = instant + .seconds(1)
      check(at: instant)
    }
  }

  /// Compares the messages delivered to the daemon with the commands that its handlers received and the answers that it
  /// published, and applies the commands.
  private func hear(at now: TickInstant) {
    let delivered = broker.takeDelivered().filter { broker.topics.commandPath($0.topic) != nil }
    let answers = broker.takeSaid().filter { $0.topic.hasSuffix("/reply") }.count
    guard !delivered.isEmpty else { return }
    checks.check(
      1, answers == delivered.count, at: now, "\(answers) answers to \(delivered.count) commands")
    for (part, system) in zip(parts, served) {
      let asked = system.takeAsked()
      let due = delivered.filter { !$0.isRetained }.flatMap { Self.asked($0, of: part, broker.topics) }
      let old = delivered.filter(\.isRetained).flatMap { Self.asked($0, of: part, broker.topics) }
      if !old.isEmpty { checks.check(0, asked == due, at: now, "\(asked) was carried out, \(due) had just come") }
      checks.check(1, asked == due, at: now, "\(asked) was carried out, \(due) had come")
      for command in asked { carryOut(command, part, at: now) }
    }
  }

  /// Returns the commands in a message that concern a part.
  private static func asked(
    _ message: MQTTMessage, of part: any SwarmPart, _ topics: DeviceTopics
  ) -> [SwarmServed.Command] {
    guard let path = topics.commandPath(message.topic), path.first.map({ $0 == part.name }) ?? true,
      let command = SwarmServed.Command(message: message.payload),
      path.isEmpty ? ["e-stop", "reset"].contains(command.word) : part.remoteWords[command.word] != nil
    else { return [] }
    return [command]
  }

  private func carryOut(_ command: SwarmServed.Command, _ part: any SwarmPart, at now: TickInstant) {
    switch command.word {
    case "e-stop": part.emergencyStop(at: now)
    case "reset":
      // The service refuses resets while no guard can be started.
      if !(cover?.refusesResets ?? false) { part.reset(at: now) }
    default:
      guard let verb = part.remoteWords[command.word] else { return }
      var action = SwarmAction(now, part.name, verb)
      action.numbers = command.numbers
      part.apply(action)
    }
  }

  private func check(at now: TickInstant) {
    if let isOver = farewell.check(broker, at: now) {
      checks.check(4, isOver, at: now, farewell.observation(broker))
    }
    let status = broker.retained[broker.topics.availability].map { String(decoding: $0, as: UTF8.self) }
    guard isAlive else {
      // A broker that was away at that time has not noticed the death.
      guard let up = broker.upSince, up <= killedAt, now - killedAt > Self.broadcast else { return }
      return checks.check(3, status != "online", at: now, "a dead daemon is \(status ?? "unknown")")
    }
    guard let since = broker.connectedSince else { return }
    let settled = max(since, awakeSince)
    if now - settled > Self.broadcast {
      checks.check(3, status == "online", at: now, "a daemon that is connected is \(status ?? "unknown")")
    }
    for (part, stop) in stops where now - max(settled, stop.since) > SwarmBroker.stateInterval + .seconds(3) {
      let document = broker.retained[broker.topics.state(part)].map { String(decoding: $0, as: UTF8.self) } ?? ""
      checks.check(
        2, document == SwarmServed.document(isStopped: stop.isStopped), at: now,
        "\(part) is \(document), and it has been \(stop.isStopped ? "" : "not ")stopped since \(stop.since)")
    }
  }

  // MARK: Clients

  func apply(_ action: SwarmAction) {
    switch action.verb {
    case "send": send(action)
    case "noise":
      broker.publish(MQTTMessage(topic: broker.topics.commandForAll, text: "{\"command\":7"), copies: 1, at: action.at)
    case "link-lost": broker.disconnect(at: action.at)
    case "broker-gone":
      broker.leave(at: action.at, for: .milliseconds(max(action[0], 1)), forgets: action[1] > 0)
    default: break
    }
  }

  private func send(_ action: SwarmAction) {
    let all = commands
    guard all.indices.contains(Int(action[0])) else { return }
    let (part, word) = all[Int(action[0])]
    numbers += 1
    let values = action.numbers.dropFirst(2).map { "\($0)" }.joined(separator: ",")
    let body = part == nil ? "" : ",\"numbers\":[\(values)]"
    var message = MQTTMessage(
      topic: part.map { broker.topics.command($0.name) } ?? broker.topics.commandForAll,
      text: "{\"command\":\"\(word)\",\"id\":\(numbers)\(body)}")
    message.isRetained = action[1] == 1
    broker.publish(message, copies: action[1] == 2 ? 2 : 1, at: action.at)
  }
}
