@_spi(FromOutside) import Conversions
import Robot
import Service
import Synchronization
import Tactus
import TactusDaemon
import Wire

/// One client of rosbridge: its subscriptions and the answers to it. It drives by the loop's order `twist` as a source of its own, so that
/// the rules of control, silence, e-stop and disconnection are those of every other client.
final class RosbridgeTalk: SocketTalk {
  /// The greatest number of subscriptions of one client.
  static let mostSubscriptions = 16

  private struct Subscription {
    let id: String?
    let topic: RosbridgeTopic
    let asked: RosbridgeSubscription
  }

  private struct State {
    var subscriptions: [Subscription] = []
    var told: [RosbridgeTopic: (at: TickInstant, sent: TickInstant)] = [:]
    var level = RosbridgeLevel.error
    /// The last log entry about this client's driving: its code and its instant.
    var noted: (code: String, at: TickInstant)?
  }

  private let door: SocketDoor<Robot>
  private let line: SocketLine
  private let state = Mutex(State())

  init(_ door: SocketDoor<Robot>, _ line: SocketLine) { (self.door, self.line) = (door, line) }

  // MARK: in

  func receive(_ text: String) {
    do throws(RosbridgeError) {
      let (message, id) = try RosbridgeMessage.decode(Array(text.utf8))
      do throws(RosbridgeError) { try receive(message, id) } catch { throw RosbridgeError(error.reason, id: id) }
    } catch {
      say(.error, error.reason, id: error.id)
    }
  }

  private func receive(_ message: RosbridgeMessage, _ id: String?) throws(RosbridgeError) {
    switch message {
    case .advertise(let topic, let type): try advertise(try velocity(topic), type)
    case .unadvertise(let topic): _ = try velocity(topic)
    case .publish(let topic, let message):
      _ = try velocity(topic)
      try drive(try Twist(rosbridge: message), id)
    case .subscribe(let asked): try subscribe(asked, id)
    case .unsubscribe(let name): try unsubscribe(try topic(name), id)
    case .callService(let service):
      let text = "\(JSONValue.shortened(service)): the robot has no services; drive with /cmd_vel"
      line.answer(RosbridgeJSON.failed(service, text, id: id).string)
      say(.error, "call_service \(text)", id: id)
    case .setLevel(let level): state.withLock { $0.level = level }
    }
  }

  private func topic(_ name: String) throws(RosbridgeError) -> RosbridgeTopic {
    if let topic = RosbridgeTopic(rawValue: name) ?? RosbridgeTopic(rawValue: "/" + name) { return topic }
    let known = RosbridgeTopic.allCases.map(\.rawValue).joined(separator: ", ")
    throw RosbridgeError("topic: expected \(known), got \(JSONValue.text(name).summary)")
  }

  /// Returns the velocity topic, the only one on which clients publish, or throws an error for another name.
  private func velocity(_ name: String) throws(RosbridgeError) -> RosbridgeTopic {
    let topic = try topic(name)
    guard topic == .velocity else {
      throw RosbridgeError("topic: expected \(RosbridgeTopic.velocity.rawValue) to publish on, got \(topic.rawValue)")
    }
    return topic
  }

  private func advertise(_ topic: RosbridgeTopic, _ type: String) throws(RosbridgeError) {
    guard topic.isType(type) else {
      throw RosbridgeError("type: \(topic.rawValue) is \(topic.type), got \(JSONValue.text(type).summary)")
    }
    try requireControl()
    guard door.newest.state.settings.geometry != nil else { throw RosbridgeError(IgnoreReason.noGeometry.sentence) }
  }

  private func requireControl() throws(RosbridgeError) {
    guard door.caller.scope >= .control else {
      throw RosbridgeError(
        "SCOPE_DENIED: expected a token of scope control, got one of scope \(door.caller.scope.rawValue)")
    }
  }

  // MARK: driving

  private func drive(_ twist: Twist, _ id: String?) throws(RosbridgeError) {
    try requireControl()
    door.send(.command(.twist(twist)), makesSafe: twist.isZero) { [self] result in
      let error = Self.error(of: result)
      note(error, isStop: twist.isZero)
      if let error { say(.error, "\(RosbridgeTopic.velocity.rawValue): \(error.code): \(error.message)", id: id) }
    }
  }

  /// Returns the error of an order that the loop refused or did not answer, or `nil` if the order was accepted.
  private static func error(
    of result: Result<(Answer<IgnoreReason>, Published<RobotSnapshot>), APIError>
  ) -> APIError? {
    switch result {
    case .failure(let error): return error
    case .success((let answer, let newest)):
      guard case .refused(let reason) = answer.verdict else { return nil }
      return .conflict(reason.code, Robot.explain(reason, newest.state))
    }
  }

  /// Logs the first command, and then each change from driving to standing or of a refusal, once a second at most.
  private func note(_ error: APIError?, isStop: Bool) {
    let code = error?.code ?? (isStop ? "stop" : "drive")
    let now = door.now
    let isNews = state.withLock { state in
      if let noted = state.noted, noted.code == code || now - noted.at < Nanoseconds(1_000_000_000) { return false }
      state.noted = (code, now)
      return true
    }
    if isNews { line.note(isStop ? "robot.stop" : "robot.drive", error) }
  }

  // MARK: subscriptions

  private func subscribe(_ asked: RosbridgeSubscription, _ id: String?) throws(RosbridgeError) {
    let topic = try topic(asked.topic)
    if let type = asked.type, !topic.isType(type) {
      throw RosbridgeError("type: \(topic.rawValue) is \(topic.type), got \(JSONValue.text(type).summary)")
    }
    if let silence = topic.silence(door.look) { throw RosbridgeError(silence) }
    let isFull = state.withLock { state in
      state.subscriptions.removeAll { $0.topic == topic && $0.id == id }
      guard state.subscriptions.count < Self.mostSubscriptions else { return true }
      state.subscriptions.append(Subscription(id: id, topic: topic, asked: asked))
      return false
    }
    if isFull { throw RosbridgeError("expected at most \(Self.mostSubscriptions) subscriptions, got one more") }
  }

  /// Ends the subscription with this `id`, or every one of the topic for a client that gives none.
  private func unsubscribe(_ topic: RosbridgeTopic, _ id: String?) throws(RosbridgeError) {
    let ended = state.withLock { state in
      let before = state.subscriptions.count
      state.subscriptions.removeAll { $0.topic == topic && (id == nil || $0.id == id) }
      return before - state.subscriptions.count
    }
    if ended == 0 { throw RosbridgeError("topic: expected one that is subscribed to, got \(topic.rawValue)") }
  }

  // MARK: out

  func beat() {
    let now = door.now
    let due = state.withLock { state in Self.due(state, at: now) }
    guard !due.isEmpty else { return }
    let messages = RosbridgeMessages(published: door.newest, look: door.look) { [door] instant in
      WallClock.microseconds - (door.now - instant).count / 1_000
    }
    for (topic, keeping) in due {
      guard let (message, at) = messages.message(topic) else { continue }
      let isNews = state.withLock { state in
        guard state.told[topic]?.at != at else { return false }
        state.told[topic] = (at, now)
        return true
      }
      guard isNews else { continue }
      line.send(RosbridgeJSON.published(topic, message).string, kind: topic.rawValue, keeping: keeping)
    }
  }

  /// Returns the topics that are to be published now, each with the longest queue requested for it. The most frequent of several subscriptions to a
  /// topic counts. A beat comes every 50 ms, so 10 ms early counts as on time.
  private static func due(_ state: State, at now: TickInstant) -> [(RosbridgeTopic, Int)] {
    RosbridgeTopic.allCases.compactMap { topic in
      let asked = state.subscriptions.filter { $0.topic == topic }.map(\.asked)
      guard let throttle = asked.map(\.throttleMilliseconds).min() else { return nil }
      let period = max(topic.period, Nanoseconds(Int64(throttle) * 1_000_000))
      if let told = state.told[topic], (now - told.sent).count + 10_000_000 < period.count { return nil }
      return (topic, asked.map(\.queueLength).max() ?? 1)
    }
  }

  private func say(_ level: RosbridgeLevel, _ text: String, id: String?) {
    guard state.withLock({ $0.level.includes(level) }) else { return }
    line.answer(RosbridgeJSON.status(level, text, id: id).string)
  }
}

extension JSONValue {
  fileprivate var string: String { String(decoding: bytes, as: UTF8.self) }
}

extension Robot {
  /// The path at which clients of ROS are served if the file says so.
  static let rosbridgePath = "/rosbridge"

  public static func sockets(_ look: Look<Robot>) -> [OwnSocket<Robot>] {
    guard look.wiring.rosbridge else { return [] }
    return [OwnSocket(rosbridgePath, subprotocol: "rosbridge.v2") { RosbridgeTalk($0, $1) }]
  }
}
