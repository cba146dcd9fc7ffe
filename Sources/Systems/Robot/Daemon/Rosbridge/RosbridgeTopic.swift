import Devices
import Robot
import Tactus
import TactusDaemon
import Wire

/// A topic of the robot for ROS clients.
enum RosbridgeTopic: String, CaseIterable {
  case velocity = "/cmd_vel"
  case odometry = "/odom"
  case diagnostics = "/diagnostics"
  case battery = "/battery_state"

  /// The message's package and name.
  private var parts: (package: String, name: String) {
    switch self {
    case .velocity: ("geometry_msgs", "Twist")
    case .odometry: ("nav_msgs", "Odometry")
    case .diagnostics: ("diagnostic_msgs", "DiagnosticArray")
    case .battery: ("sensor_msgs", "BatteryState")
    }
  }

  /// The type of the topic's messages as ROS 2 writes it.
  var type: String { "\(parts.package)/msg/\(parts.name)" }

  /// Returns whether this is the topic's type, as ROS 1 or ROS 2 writes it.
  func isType(_ type: String) -> Bool { type == self.type || type == "\(parts.package)/\(parts.name)" }

  /// The least time between two messages: a second for diagnostics, which are for people, and for the battery, which changes slowly.
  var period: Nanoseconds { self == .diagnostics || self == .battery ? Nanoseconds(1_000_000_000) : .zero }

  /// Returns the reason why the topic has no messages, or `nil` if it has.
  func silence(_ look: Look<Robot>) -> String? {
    switch self {
    case .velocity: "\(rawValue) is published to, not subscribed to"
    case .battery where look.wiring.backend != .xgoRider:
      "\(rawValue): no battery is measured by the robot's board, \(look.wiring.backend.rawValue); the xgo-rider measures its own"
    case .odometry where look.shared(SimulatedVehicle.self) == nil && look.wiring.geometry == nil:
      "\(rawValue) needs motors.wheel_base_m and motors.top_speed_m_per_s in the file, which the robot is not given"
    case .odometry, .diagnostics, .battery: nil
    }
  }
}

/// The messages of the topics, made of the robot's state.
struct RosbridgeMessages {
  let published: Published<RobotSnapshot>
  let look: Look<Robot>
  /// Returns the wall time of an instant in microseconds since 1970.
  let wall: (TickInstant) -> Int64

  /// Returns the newest message of a topic and the instant to which it applies, or `nil` if there is none.
  func message(_ topic: RosbridgeTopic) -> (message: JSONValue, at: TickInstant)? {
    switch topic {
    case .odometry: odometry
    case .diagnostics: (diagnostics, published.at)
    case .battery: battery
    case .velocity: nil
    }
  }

  /// The charge, or `nil` before the first reading. Quantities that the board does not measure are null, as ROS writes a NaN.
  private var battery: (message: JSONValue, at: TickInstant)? {
    guard let charge = published.state.board.battery else { return nil }
    let unmeasured = ["voltage", "temperature", "current", "charge", "capacity", "design_capacity"]
    let message: [JSONValue.Member] =
      [.init(name: "header", value: header(charge.at, ""))] + unmeasured.map { .init(name: $0, value: .null) } + [
        .init(name: "percentage", value: RosbridgeJSON.number(charge.value / 100)),
        .init(name: "power_supply_status", value: .number("0")),
        .init(name: "power_supply_health", value: .number("0")),
        .init(name: "power_supply_technology", value: .number("0")), .init(name: "present", value: .boolean(true)),
        .init(name: "cell_voltage", value: .list([])), .init(name: "cell_temperature", value: .list([])),
        .init(name: "location", value: .text("")), .init(name: "serial_number", value: .text("")),
      ]
    return (.object(message), published.at)
  }

  /// The true pose of a simulated robot, in the frame `odom`, or else the dead reckoning from commanded speeds, in the frame `odom_commanded`.
  private var odometry: (message: JSONValue, at: TickInstant)? {
    if let vehicle = look.shared(SimulatedVehicle.self) {
      let twin = vehicle.snapshot
      let track = look.wiring.geometry?.wheelBaseMetres ?? DifferentialDrive.Parameters().track
      let motion = Twist(
        metresPerSecond: (twin.speeds.left + twin.speeds.right) / 2,
        radiansPerSecond: (twin.speeds.right - twin.speeds.left) / track)
      let odometry = Odometry(pose: twin.pose, motion: motion, isTrue: true)
      return (odometry.json(header(twin.at, "odom")), twin.at)
    }
    guard let geometry = published.state.settings.geometry else { return nil }
    let reckoned = published.state.odometry
    let pose = DifferentialDrive.Pose(x: reckoned.x, y: reckoned.y, heading: reckoned.heading)
    let motion = geometry.twist(published.state.speeds)
    let odometry = Odometry(pose: pose, motion: motion, isTrue: false)
    return (odometry.json(header(published.at, "odom_commanded")), published.at)
  }

  private var diagnostics: JSONValue {
    let seen = RobotSeen(published: published, now: look.now)
    let view = seen.view
    let level = view.fault != nil ? 2 : view.isEmergencyStopped ? 1 : 0
    let values: [(String, String?)] = [
      ("state", view.word.rawValue), ("reason", view.reason), ("fault", view.fault),
      ("stopConfirmed", view.isStopConfirmed.map { "\($0)" }), ("holder", view.holder?.source),
      ("lastCommandAgeSeconds", seen.lastCommandAge.map { "\($0)" }), ("lastFailure", seen.lastFailure),
      ("writes", "\(seen.snapshot.counters.writes)"), ("writeFailures", "\(seen.snapshot.counters.writeFailures)"),
      ("retries", "\(seen.snapshot.retries)"),
    ]
    let items = values.compactMap { name, value in
      value.map { RosbridgeJSON.object(("key", .text(name)), ("value", .text($0))) }
    }
    let status = RosbridgeJSON.object(
      ("level", .number("\(level)")), ("name", .text("tactus: robot")), ("message", .text(view.reason)),
      ("hardware_id", .text(look.wiring.board)), ("values", .list(items)))
    return RosbridgeJSON.object(("header", header(published.at, "")), ("status", .list([status])))
  }

  private func header(_ at: TickInstant, _ frame: String) -> JSONValue {
    let microseconds = max(0, wall(at))
    let stamp = RosbridgeJSON.object(
      ("sec", .number("\(microseconds / 1_000_000)")), ("nanosec", .number("\(microseconds % 1_000_000 * 1_000)")))
    return RosbridgeJSON.object(("stamp", stamp), ("frame_id", .text(frame)))
  }
}

/// The position and the motion of the robot, as `nav_msgs/Odometry`.
private struct Odometry {
  let pose: DifferentialDrive.Pose
  let motion: Twist
  /// Whether the pose is the true one of a simulated robot and not a dead reckoning from commanded speeds.
  let isTrue: Bool

  func json(_ header: JSONValue) -> JSONValue {
    let place = RosbridgeJSON.vector(pose.x, pose.y, 0)
    let half = pose.heading / 2
    let direction = RosbridgeJSON.object(
      ("x", .number("0")), ("y", .number("0")), ("z", RosbridgeJSON.number(half.sine)),
      ("w", RosbridgeJSON.number(half.cosine)))
    let posed = RosbridgeJSON.object(("position", place), ("orientation", direction))
    let twisted = RosbridgeJSON.object(
      ("linear", RosbridgeJSON.vector(motion.metresPerSecond, 0, 0)),
      ("angular", RosbridgeJSON.vector(0, 0, motion.radiansPerSecond)))
    // Dead reckoning drifts without bound: a filter must ignore the pose, and take the motion for a poor measurement.
    let (poseVariance, motionVariance) = isTrue ? ("1e-9", "1e-9") : ("1e6", "0.1")
    return RosbridgeJSON.object(
      ("header", header), ("child_frame_id", .text("base_link")),
      ("pose", RosbridgeJSON.object(("pose", posed), ("covariance", RosbridgeJSON.diagonal(poseVariance)))),
      ("twist", RosbridgeJSON.object(("twist", twisted), ("covariance", RosbridgeJSON.diagonal(motionVariance)))))
  }
}
