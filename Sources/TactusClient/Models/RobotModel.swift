import Foundation
import Observation

/// The robot: its state, and a stick that drives it.
@MainActor
@Observable
public final class RobotModel {
  /// Where a stick is held: each of both from −1 to 1.
  public struct Stick: Equatable, Sendable {
    /// To the right.
    public var x: Double
    /// Forwards.
    public var y: Double

    /// Creates a position.
    public init(x: Double, y: Double) {
      self.x = x
      self.y = y
    }
  }

  /// The robot as the daemon last said it.
  public private(set) var state: RobotState
  /// Where the stick is held; `nil` when it is let go.
  public private(set) var stick: Stick?
  /// Why the last hold ended by itself, for people; `nil` if it did not.
  public private(set) var endOfHold: String?
  /// The speed at the end of the stick's way, percent of full speed, 0…100.
  public var speedLimitPercent = 100.0

  @ObservationIgnored let link: DaemonLink
  /// This connection, as the daemon calls its holder.
  @ObservationIgnored var ownName: String?
  @ObservationIgnored private let sender: DriveSender

  init(_ state: RobotState, link: DaemonLink) {
    self.state = state
    self.link = link
    sender = DriveSender(link)
    sender.ended = { [weak self] words in
      self?.stick = nil
      self?.endOfHold = words
    }
  }

  /// Holds the stick there. The speeds go out 20 times a second until `letGo`.
  ///
  /// Values beyond ±1 are taken as ±1, and what is no number as 0. A hold that has ended by itself (`endOfHold`) begins anew after `letGo` only, as a
  /// thumb must be lifted.
  public func hold(x: Double, y: Double) {
    guard stick != nil || !isSpent else { return }
    let held = Stick(x: Self.bounded(x), y: Self.bounded(y))
    if stick == nil {
      isSpent = true
      endOfHold = nil
    }
    stick = held
    sender.steer(Self.speeds(held, limit: speedLimitPercent))
  }

  /// Whether this touch has had its hold.
  @ObservationIgnored private var isSpent = false

  /// Lets go of the stick: the robot is stopped.
  public func letGo() {
    isSpent = false
    stick = nil
    let driver = state.holder?.source
    sender.letGo(isTheirs: driver != nil && driver != ownName)
  }

  /// Whether the robot has taken a command of this hold.
  public var isDriving: Bool { stick != nil && sender.isTaken }

  /// Stops the wheels, whoever drives. Tried again until the daemon answers, four times at most.
  public func stop() async throws(ClientError) {
    letGo()
    try await link.caller.call(ClientRequest("POST", "/api/robot/stop", kind: .makesSafe))
  }

  /// Stops the robot until a reset. Tried again until the daemon answers, four times at most.
  public func emergencyStop() async throws(ClientError) {
    letGo()
    try await link.caller.call(ClientRequest("POST", "/api/robot/e-stop", kind: .makesSafe))
  }

  /// Leaves an emergency stop or a fault.
  public func reset() async throws(ClientError) {
    try await link.caller.call(ClientRequest("POST", "/api/robot/reset", kind: .act))
  }

  func take(_ state: RobotState) { self.state = state }

  func take(reply: DriveReply) { sender.take(reply) }

  /// The daemon has not taken a frame: the token may not drive, or there is no room.
  func refuse(_ words: String) { sender.refuse(words) }

  /// The wheels' speeds of a stick: both are shortened alike if one would be beyond the limit.
  static func speeds(_ stick: Stick, limit: Double) -> RobotState.WheelSpeeds {
    let (left, right) = ((stick.y + stick.x) * 100, (stick.y - stick.x) * 100)
    let scale = min(100, max(0, limit.isNaN ? 0 : limit)) / max(100, abs(left), abs(right))
    return RobotState.WheelSpeeds(left: left * scale, right: right * scale)
  }

  private static func bounded(_ value: Double) -> Double { value.isNaN ? 0 : min(1, max(-1, value)) }
}
