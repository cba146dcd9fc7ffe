import Foundation

/// Sends a robot's speeds 20 times a second while the stick is held, and stops the robot when the hold ends, for whatever reason.
///
/// The robot also stops by itself when it receives nothing for its failsafe timeout. A hold ends when
/// the stick is released, the model is released, the connection ends, the daemon has answered no frame for a second, or
/// the robot refuses a command. After each of these a new touch is required.
@MainActor
final class DriveSender {
  /// The time between two commands: 20 Hz, as all operators of the robot send.
  static let period: Duration = .milliseconds(50)
  /// The time without any answer after which a hold ends.
  static let silenceLimit: Duration = .seconds(1)
  /// The number of stops that are sent in a row, since one may be lost.
  static let stopsInARow = 3

  /// The state of a hold. The sending task keeps it when the sender is released, so that it can stop what it drove.
  @MainActor
  private final class Hold {
    var speeds: RobotState.WheelSpeeds
    var isTaken = false
    var isSent = false
    var isOver = false
    var lastAnswer: Duration
    var isAsking = false

    init(_ speeds: RobotState.WheelSpeeds, at now: Duration) {
      self.speeds = speeds
      lastAnswer = now
    }
  }

  /// Takes the reason why a hold has ended by itself. The function is called once for each such hold.
  var ended: @MainActor (String) -> Void = { _ in }
  /// Whether the robot has accepted a command of the hold.
  var isTaken: Bool { hold?.isTaken ?? false }
  var isHeld: Bool { hold != nil }

  private let link: DaemonLink
  private var hold: Hold?
  /// The holds whose answers are awaited, by the number of one of their commands.
  private var echoes: [Int: Hold] = [:]
  private var echo = 0

  init(_ link: DaemonLink) { self.link = link }

  /// Sets the speeds. The first ones begin a hold.
  func steer(_ speeds: RobotState.WheelSpeeds) {
    if let hold {
      hold.speeds = speeds
      return
    }
    guard link.state.isLive else { return ended("the daemon is not connected") }
    let hold = Hold(speeds, at: link.clock.now)
    self.hold = hold
    Task { [weak self, link] in
      var next = link.clock.now
      while !hold.isOver {
        // The task has no strong reference between two commands, so a model that is released drives nothing.
        guard await self?.beat(hold) != nil else {
          if hold.isSent { await Self.stop(link) }
          return
        }
        next = max(next + Self.period, link.clock.now)
        try? await link.clock.wait(for: next - link.clock.now)
      }
    }
  }

  /// Ends the hold. If `isTheirs`, another client drives, as far as is known, and a touch that was refused does not stop it.
  func letGo(isTheirs: Bool = false) {
    guard let hold else { return }
    self.hold = nil
    hold.isOver = true
    if hold.isTaken || (hold.isSent && !isTheirs) { Task { [link] in await Self.stop(link) } }
  }

  /// Receives the robot's answer to a command, if the command belongs to a hold.
  func receive(_ reply: DriveReply) {
    guard let hold = echoes.removeValue(forKey: reply.echo) else { return }
    hold.lastAnswer = link.clock.now
    if reply.state == .driving, reply.reason == nil {
      if hold.isOver, !hold.isTaken { Task { [link] in await Self.stop(link) } }
      hold.isTaken = true
    } else if let reason = reply.reason, let words = DriveReply.refusals[reason] {
      refuse(hold, words)
    }
  }

  /// Ends a hold whose frames the daemon refuses, and stops what the hold was driving.
  func refuse(_ words: String) {
    guard isHeld else { return }
    letGo(isTheirs: true)
    ended(words)
  }

  /// Ends the hold, since the robot reports that another client holds it, or that it has stopped.
  private func refuse(_ hold: Hold, _ words: String) {
    guard hold === self.hold else { return }
    self.hold = nil
    hold.isOver = true
    ended(words)
  }

  /// Sends one command of the stream.
  private func beat(_ hold: Hold) async {
    guard hold === self.hold else { return }
    guard link.state.isLive else { return fail(hold, "the connection was lost") }
    guard link.clock.now - hold.lastAnswer < Self.silenceLimit else {
      return fail(hold, "the daemon has not answered for a second")
    }
    // Before the robot has accepted a command, zero speeds would stop another client.
    if hold.speeds == RobotState.WheelSpeeds(left: 0, right: 0), !hold.isTaken {
      hold.lastAnswer = link.clock.now
      return
    }
    hold.isSent = true
    echo += 1
    echoes[echo] = hold
    echoes[echo - 100] = nil
    let frame = DriveFrame(left: hold.speeds.left, right: hold.speeds.right, echo: echo)
    if let data = try? Caller.body(frame), await link.send(frame: data) { return }
    ask(hold)
  }

  /// Sends commands by HTTP, one at a time, if there is no WebSocket.
  private func ask(_ hold: Hold) {
    guard !hold.isAsking else { return }
    hold.isAsking = true
    let speeds = hold.speeds
    Task { [weak self, link] in
      do throws(ClientError) {
        try await link.caller.call(
          ClientRequest("POST", "/api/robot/drive", body: try Caller.body(speeds), kind: .stream))
        hold.lastAnswer = link.clock.now
        // The stick has been released meanwhile, and this command may have overtaken the stop.
        if hold.isOver { await Self.stop(link) }
        hold.isTaken = true
      } catch {
        if case .refused(let refusal) = error, refusal.code != "STALE" { self?.refuse(hold, refusal.message) }
      }
      hold.isAsking = false
    }
  }

  private func fail(_ hold: Hold, _ words: String) {
    letGo()
    ended(words)
  }

  /// Sends three stops over the WebSocket, and one by HTTP that is repeated until it is answered.
  static func stop(_ link: DaemonLink) async {
    for _ in 0..<stopsInARow { _ = await link.send(frame: Data(#"{"command":"stop"}"#.utf8)) }
    _ = try? await link.caller.call(ClientRequest("POST", "/api/robot/stop", kind: .makesSafe))
  }
}

/// A command over the WebSocket, which the robot answers with the same number.
private struct DriveFrame: Encodable {
  var left: Double
  var right: Double
  var echo: Int
}

/// The robot's answer to a command over the WebSocket.
struct DriveReply: Decodable {
  var echo: Int
  var state: RobotState.Mode
  /// The reason why the command had no effect, or `nil` if it was accepted.
  var reason: String?

  /// The words for the reasons that end a hold. Commands that are refused for another reason do not end it, because
  /// that reason may be gone with the next command.
  static let refusals = [
    "not-controller": "somebody else drives the robot; it is free when they have let go for a second",
    "emergency-stopped": "the robot is emergency-stopped: reset it first",
    "in-fault": "the robot is in fault: reset it first",
    "shut-down": "the daemon shuts down",
  ]
}
