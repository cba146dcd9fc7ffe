import Devices
import Service

extension SimulatedVehicle {
  /// `GET /api/sim/robot`
  var routes: [Route] {
    [Route(.get, "/api/sim/robot") { [self] _ in .json(SimulatedRobotDocument(snapshot)) }]
  }
}

/// What `GET /api/sim/robot` answers: the simulated robot at its board's last access.
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
  /// How fast the wheels turn.
  var wheels: Wheels
  /// How fast the board was told to turn them.
  var target: Wheels
  /// Null until set.
  @OrNull var panDegrees: UInt8?
  @OrNull var tiltDegrees: UInt8?
  /// Motor commands that the board took.
  var commands: Int64
  /// Writes that the board acknowledged and ignored.
  var ignoredWrites: Int64

  init(_ snapshot: SimulatedVehicleSnapshot) {
    monotonicNs = snapshot.at.nanoseconds
    pose = Pose(xM: snapshot.pose.x, yM: snapshot.pose.y, headingRad: snapshot.pose.heading)
    (wheels, target) = (Wheels(snapshot.speeds), Wheels(snapshot.target))
    _panDegrees = OrNull(wrappedValue: snapshot.pan)
    _tiltDegrees = OrNull(wrappedValue: snapshot.tilt)
    (commands, ignoredWrites) = (snapshot.commands, snapshot.ignored)
  }
}
