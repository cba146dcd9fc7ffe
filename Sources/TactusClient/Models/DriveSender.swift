import Foundation

/// Sends a robot's speeds 20 times a second while somebody holds the stick, and stops it when they let go, however that happens.
///
/// The robot stops by itself when it hears nothing for its failsafe; this is the app's part of it. A hold ends when
/// the stick is let go, the model goes away, the connection is lost, the daemon has answered none of its frames for a second, or
/// the robot refuses. After each of them the stick must be touched again.
@MainActor
final class DriveSender {
  /// Between two commands: 20 Hz, as the robot's operators send.
  static let period: Duration = .milliseconds(50)
  /// A hold of which nothing was answered for so long ends.
  static let silenceLimit: Duration = .seconds(1)
  /// A lost stop is followed by another.
  static let stopsInARow = 3

  /// What is known of a hold. The task that sends keeps it when the sender goes away, and so can stop what it drove.
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

  /// Why a hold has ended by itself; told once.
  var ended: @MainActor (String) -> Void = { _ in }
  /// Whether the robot has taken a command of the hold.
  var isTaken: Bool { hold?.isTaken ?? false }
  var isHeld: Bool { hold != nil }

  private let link: DaemonLink
  private var hold: Hold?
  /// Holds whose answers are still to come, by the number of a command of theirs.
  private var echoes: [Int: Hold] = [:]
  private var echo = 0

  init(_ link: DaemonLink) { self.link = link }

  /// Takes new speeds; the first begin a hold.
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
        // No strong reference beyond a beat: a model that is gone drives nothing.
        guard await self?.beat(hold) != nil else {
          if hold.isSent { await Self.stop(link) }
          return
        }
        next = max(next + Self.period, link.clock.now)
        try? await link.clock.wait(for: next - link.clock.now)
      }
    }
  }

  /// Ends the hold. `isTheirs`: somebody else drives, as far as is known; they are not stopped by a touch that was refused.
  func letGo(isTheirs: Bool = false) {
    guard let hold else { return }
    self.hold = nil
    hold.isOver = true
    if hold.isTaken || (hold.isSent && !isTheirs) { Task { [link] in await Self.stop(link) } }
  }

  /// Takes the robot's answer to a command, if it is one of a hold.
  func take(_ reply: DriveReply) {
    guard let hold = echoes.removeValue(forKey: reply.echo) else { return }
    hold.lastAnswer = link.clock.now
    if reply.state == .driving, reply.reason == nil {
      if hold.isOver, !hold.isTaken { Task { [link] in await Self.stop(link) } }
      hold.isTaken = true
    } else if let reason = reply.reason, let words = DriveReply.refusals[reason] {
      refuse(hold, words)
    }
  }

  /// Ends the hold, if there is one: the daemon does not take its frames. What has driven before is stopped.
  func refuse(_ words: String) {
    guard isHeld else { return }
    letGo(isTheirs: true)
    ended(words)
  }

  /// Ends the hold: the robot says that it is not this one's, or stopped already.
  private func refuse(_ hold: Hold, _ words: String) {
    guard hold === self.hold else { return }
    self.hold = nil
    hold.isOver = true
    ended(words)
  }

  /// One command of the stream.
  private func beat(_ hold: Hold) async {
    guard hold === self.hold else { return }
    guard link.state.isLive else { return fail(hold, "the connection was lost") }
    guard link.clock.now - hold.lastAnswer < Self.silenceLimit else {
      return fail(hold, "the daemon has not answered for a second")
    }
    // Until something was taken a zero would be a stop of somebody else's.
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

  /// The same by HTTP, one request at a time: without a WebSocket.
  private func ask(_ hold: Hold) {
    guard !hold.isAsking else { return }
    hold.isAsking = true
    let speeds = hold.speeds
    Task { [weak self, link] in
      do throws(ClientError) {
        try await link.caller.call(
          ClientRequest("POST", "/api/robot/drive", body: try Caller.body(speeds), kind: .stream))
        hold.lastAnswer = link.clock.now
        // Let go meanwhile: this command may have overtaken the stop.
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

  /// Three stops over the WebSocket, and one over HTTP that is tried until it is answered.
  static func stop(_ link: DaemonLink) async {
    for _ in 0..<stopsInARow { _ = await link.send(frame: Data(#"{"command":"stop"}"#.utf8)) }
    _ = try? await link.caller.call(ClientRequest("POST", "/api/robot/stop", kind: .makesSafe))
  }
}

/// A command over the WebSocket; the robot answers with its number.
private struct DriveFrame: Encodable {
  var left: Double
  var right: Double
  var echo: Int
}

/// The robot's answer to a command over the WebSocket.
struct DriveReply: Decodable {
  var echo: Int
  var state: RobotState.Mode
  /// Why it did nothing; `nil` if it was taken.
  var reason: String?

  /// Those that end a hold; others may pass with the next command.
  static let refusals = [
    "not-controller": "somebody else drives the robot; it is free when they have let go for a second",
    "emergency-stopped": "the robot is emergency-stopped: reset it first",
    "in-fault": "the robot is in fault: reset it first",
    "shut-down": "the daemon shuts down",
  ]
}
