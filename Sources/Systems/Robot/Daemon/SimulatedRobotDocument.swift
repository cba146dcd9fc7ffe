import Devices
import Service

extension SimulatedVehicle {
  /// The route `GET /api/sim/robot`.
  var routes: [Route] {
    [Route(.get, "/api/sim/robot") { [self] _ in .json(SimulatedRobotDocument(snapshot)) }]
  }
}

/// The response of `GET /api/sim/robot`: the simulated robot at its board's last access.
struct SimulatedRobotDocument: Encodable {
  struct Pose: Encodable {
    var xM, yM, headingRad: Double
  }
  struct Wheels: Encodable {
    var leftMPerS, rightMPerS: Double

    init(_ speeds: DifferentialDrive.Speeds) { (leftMPerS, rightMPerS) = (speeds.left, speeds.right) }
  }

  var ok = true
  var monotonicNs: Int64
  var pose: Pose
  /// The actual speeds of the wheels.
  var wheels: Wheels
  /// The speeds that the board was commanded to reach.
  var target: Wheels
  /// The pan angle of the camera in degrees, or `nil` (null) until it is set.
  @OrNull var panDegrees: UInt8?
  /// The tilt angle of the camera in degrees, or `nil` (null) until it is set.
  @OrNull var tiltDegrees: UInt8?
  /// Whether the buzzer sounds.
  var buzzing: Bool
  /// The colours of the lights, three channels each.
  var lights: [[UInt8]]
  /// The height of the body in millimetres, or `nil` (null) until it is set.
  @OrNull var heightMm: Double?
  /// Whether the board levels the body's roll, or `nil` (null) until that has been commanded.
  @OrNull var balancing: Bool?
  /// The number of motor commands that the board accepted.
  var commands: Int64
  /// The number of writes that the board acknowledged but ignored.
  var ignoredWrites: Int64

  init(_ snapshot: SimulatedVehicleSnapshot) {
    monotonicNs = snapshot.at.nanoseconds
    pose = Pose(xM: snapshot.pose.x, yM: snapshot.pose.y, headingRad: snapshot.pose.heading)
    (wheels, target) = (Wheels(snapshot.speeds), Wheels(snapshot.target))
    _panDegrees = OrNull(wrappedValue: snapshot.pan)
    _tiltDegrees = OrNull(wrappedValue: snapshot.tilt)
    buzzing = snapshot.isBuzzing
    let colours = snapshot.lights
    lights = colours.indices.map { [colours[$0].red, colours[$0].green, colours[$0].blue] }
    _heightMm = OrNull(wrappedValue: snapshot.heightMillimetres)
    _balancing = OrNull(wrappedValue: snapshot.isBalancing)
    (commands, ignoredWrites) = (snapshot.commands, snapshot.ignored)
  }
}
