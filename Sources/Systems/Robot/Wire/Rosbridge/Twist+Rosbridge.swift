import Wire

extension Twist {
  /// Reads a message of the type `geometry_msgs/Twist`: `{"linear": {"x": m/s}, "angular": {"z": rad/s}}`. What is left out is 0, as in ROS.
  ///
  /// - Throws: the member that is no number within ±`most`, or that asks two wheels for what they cannot do: a motion sideways or upwards,
  ///   a roll or a pitch.
  public init(rosbridge message: JSONValue) throws(RosbridgeError) {
    let both = try RosbridgeMembers.object(message, at: "msg", of: ["linear", "angular"])
    let linear = try both.object("linear", of: ["x", "y", "z"])
    let angular = try both.object("angular", of: ["x", "y", "z"])
    let range = -Self.most...Self.most
    self.init(
      metresPerSecond: try linear.number("x", in: range), radiansPerSecond: try angular.number("z", in: range))
    for (vector, member) in [(linear, "y"), (linear, "z"), (angular, "x"), (angular, "y")] {
      _ = try vector.number(member, in: 0...0)
    }
  }
}
