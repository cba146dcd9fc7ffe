import Robot
import Service
import Tactus
import TactusDaemon
import Wire

/// The robot behind the door: `/api/robot`, its events, motor commands in binary frames.
///
/// Reads the loop's snapshots and sends it requests; a command is answered when the loop has taken it, with the loop's own
/// verdict.
final class RobotDoor: ServedSystem {
  let name = "robot"
  private let snapshot: Latest<RobotSnapshot>
  private let mailbox: RobotMailbox

  /// - Parameters:
  ///   - channel: of the robot's loop.
  ///   - ring: wakes that loop. Any thread.
  ///   - now: that loop's clock. Any thread.
  init(
    channel: RobotLoop.Channel, ring: @escaping @Sendable () -> Void,
    now: @escaping @Sendable () -> TickInstant = { MonotonicClock.now }
  ) {
    snapshot = channel.state
    mailbox = RobotMailbox(
      of: "robot", channel, newestTick: { channel.state.newest.at }, ring: ring, now: now)
  }

  /// Hands the loop's answers to those who wait. To be called when the loop has rung; `events` does it, too.
  func takeAnswers(at now: TickInstant) { mailbox.takeAnswers(at: now) }

  /// Commands that the loop has not answered yet.
  var waitingCount: Int { mailbox.waitingCount }

  // MARK: state and events

  var version: UInt64 { snapshot.reader().version }

  var state: [UInt8] {
    let newest = newest
    return RobotFields.document.json(RobotSeen(newest), after: [.tick(newest.at)])
  }

  private var newest: RobotSnapshot {
    var reader = snapshot.reader()
    return reader.read()
  }

  func events(at now: TickInstant, second: Bool) -> [Event] {
    takeAnswers(at: now)
    let newest = newest
    let (document, seen) = (RobotFields.document, RobotSeen(newest))
    let body = second ? document.json(seen) : document.telemetry(seen)
    return [Event(second ? .state : .telemetry, type: "robot", system: name, at: newest.at, body: body)]
  }

  /// A change that the loop has told of.
  func edge(_ notice: RobotNotice) -> Event {
    switch notice.subject {
    case .state(let state):
      let body = RobotFields.change.json(RobotView(robot: state, at: notice.at))
      return Event(.edge, type: "robot", system: name, at: notice.at, body: body)
    case .motorsFail(let failure):
      return Event(
        .edge, type: "robot.motors", system: name, at: notice.at, json: MotorsDocument(failure: "\(failure)"))
    case .motorsAnswer:
      return Event(.edge, type: "robot.motors", system: name, at: notice.at, json: MotorsDocument(failure: nil))
    }
  }

  // MARK: commands

  var routes: [Route] {
    let snapshot = snapshot
    let document = PreparedDocument(
      version: { snapshot.reader().version },
      make: {
        var reader = snapshot.reader()
        let newest = reader.read()
        let first = [JSONValue.Member(name: "ok", value: .boolean(true)), .tick(newest.at)]
        return RobotFields.document.json(RobotSeen(newest), after: first)
      })
    return [
      Route("/api/robot", document),
      Route(.post, "/api/robot/drive", scope: .control, action: "robot.drive") { [mailbox] request in
        let drive = try request.decode(RobotDriveBody.self)
        let command = RobotRequest.Command.drive(drive.speeds, timestamp: drive.timestamp)
        let answer = try await mailbox.ask(command, client: request.caller.client).accepted()
        return .json(CommandDocument(answer), logValue: drive.logValue)
      },
      command("stop", .stop), command("e-stop", .emergencyStop), command("reset", .reset),
    ]
  }

  private func command(_ word: String, _ command: RobotRequest.Command) -> Route {
    Route(.post, "/api/robot/\(word)", scope: .control, action: "robot.\(word)") { [mailbox] request in
      let answer = try await mailbox.ask(command, client: request.caller.client).accepted()
      return .json(CommandDocument(answer))
    }
  }

  var isEmergencyStopped: Bool {
    if case .emergencyStopped = newest.state { true } else { false }
  }

  func holdEmergencyStop() { mailbox.send(.emergencyStop, client: 0) { _ in } }

  func emergencyStop(_ caller: Caller) async throws {
    _ = try await mailbox.ask(.emergencyStop, client: caller.client).accepted()
  }

  /// Nothing to reset is no error here: what was asked for is so.
  func reset(_ caller: Caller) async throws {
    let answer = try await mailbox.ask(.reset, client: caller.client)
    if answer.verdict != .ignored(.nothingToReset) { _ = try answer.accepted() }
  }

  // MARK: WebSocket clients

  /// A robot datagram as on UDP, with the frame's client as its source. One with an `echo` gets the reply that UDP gives,
  /// refused or not; of others only a refusal is told.
  func take(
    frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
  ) -> Bool {
    // No text begins with a control character or within a character: such a frame is another system's.
    guard !(frame.first.map { $0 < 0x09 || $0 & 0xC0 == 0x80 } ?? false) else { return false }
    let message: RobotMessage
    do {
      message = try frame.withUnsafeBytes { bytes throws(DatagramError) in try RobotMessage.decode(bytes) }
    } catch {
      answer(.refused(APIError(.badRequest, "BAD_DATAGRAM", "not a robot datagram: \(error)")))
      return true
    }
    mailbox.send(message.command, client: caller.client) { result in
      switch result {
      case .failure(let error): answer(.refused(error))
      case .success(let taken):
        if let echo = message.echo {
          answer(.reply(RobotReply(echo: echo, verdict: taken.verdict, taken.state, at: taken.at).bytes))
        } else if case .ignored(let reason) = taken.verdict {
          answer(.refused(reason.error(in: taken.state)))
        }
      }
    }
    return true
  }

  /// A client that held control stops the robot; whether it does only the loop knows.
  func clientLeft(_ caller: Caller) {
    mailbox.send(.leave, client: caller.client) { _ in }
  }
}

/// What a taken command is answered with.
private struct CommandDocument: Encodable {
  let ok = true
  let verdict = "accepted"
  let state: String
  let monotonicNs: Int64

  init(_ answer: RobotAnswer) { (state, monotonicNs) = (answer.state.word.rawValue, answer.at.nanoseconds) }
}

/// Whether the motors answer.
private struct MotorsDocument: Encodable {
  /// Null: they answer again.
  let failure: String?

  private enum CodingKeys: CodingKey { case failure }

  func encode(to encoder: any Encoder) throws {
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encode(failure, forKey: .failure)
  }
}

extension JSONValue.Member {
  /// The instant of the tick that a document shows.
  fileprivate static func tick(_ at: TickInstant) -> JSONValue.Member {
    JSONValue.Member(name: "monotonicNs", value: .number("\(at.nanoseconds)"))
  }
}

extension RobotMessage {
  fileprivate var command: RobotRequest.Command {
    switch datagram {
    case .drive(let speeds): .drive(speeds, timestamp: timestamp)
    case .stop: .stop
    case .emergencyStop: .emergencyStop
    case .reset: .reset
    case .query: .query
    }
  }
}

extension RobotReply {
  fileprivate var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.maximumEncodedLength) { buffer, count in
      count = encode(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
