import Foundation
import Observation

/// The robot: its state, and a stick that drives it.
@MainActor
@Observable
public final class RobotModel {
  /// A position of the stick: both coordinates are −1…1.
  public struct Stick: Equatable, Sendable {
    /// The position to the right, −1…1.
    public var x: Double
    /// The position forwards, −1…1.
    public var y: Double

    /// Creates a position from its coordinates.
    public init(x: Double, y: Double) {
      self.x = x
      self.y = y
    }
  }

  /// The robot's state as last reported by the daemon.
  public private(set) var state: RobotState
  /// The present position of the stick, or `nil` while it is released.
  public private(set) var stick: Stick?
  /// The reason, for people, why the last hold ended by itself, or `nil` if it did not.
  public private(set) var endOfHold: String?
  /// The speed at full deflection in percent of full speed, 0…100.
  public var speedLimitPercent = 100.0

  @ObservationIgnored let link: DaemonLink
  /// The name of this connection as the daemon reports a holder.
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

  /// Moves the stick. The speeds are sent 20 times a second until `letGo`.
  ///
  /// Values beyond ±1 count as ±1, and NaN counts as 0. After a hold that ended by itself (`endOfHold`) a new one begins only after `letGo`, since
  /// the thumb must be lifted.
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

  /// Whether a hold has begun since the last `letGo`. A hold that ends by itself is then not followed by another.
  @ObservationIgnored private var isSpent = false

  /// Releases the stick, which stops the robot.
  public func letGo() {
    isSpent = false
    stick = nil
    let driver = state.holder?.source
    sender.letGo(isTheirs: driver != nil && driver != ownName)
  }

  /// Whether the robot has accepted a command of this hold.
  public var isDriving: Bool { stick != nil && sender.isTaken }

  /// Stops the wheels, whoever drives. Repeats the request until the daemon answers, at most four times.
  public func stop() async throws(ClientError) {
    letGo()
    try await link.caller.call(ClientRequest("POST", "/api/robot/stop", kind: .makesSafe))
  }

  /// Stops the robot until a reset. Repeats the request until the daemon answers, at most four times.
  public func emergencyStop() async throws(ClientError) {
    letGo()
    try await link.caller.call(ClientRequest("POST", "/api/robot/e-stop", kind: .makesSafe))
  }

  /// Resets the robot after an emergency stop or a fault.
  public func reset() async throws(ClientError) {
    try await link.caller.call(ClientRequest("POST", "/api/robot/reset", kind: .act))
  }

  func receive(_ state: RobotState) { self.state = state }

  func receive(reply: DriveReply) { sender.receive(reply) }

  /// Ends the hold, since the daemon has refused a frame: the token lacks the permission, or the daemon is overloaded.
  func refuse(_ words: String) { sender.refuse(words) }

  /// Returns the wheel speeds for a position of the stick. Both are reduced in proportion if one exceeds the limit.
  static func speeds(_ stick: Stick, limit: Double) -> RobotState.WheelSpeeds {
    let (left, right) = ((stick.y + stick.x) * 100, (stick.y - stick.x) * 100)
    let scale = min(100, max(0, limit.isNaN ? 0 : limit)) / max(100, abs(left), abs(right))
    return RobotState.WheelSpeeds(left: left * scale, right: right * scale)
  }

  private static func bounded(_ value: Double) -> Double { value.isNaN ? 0 : min(1, max(-1, value)) }
}
