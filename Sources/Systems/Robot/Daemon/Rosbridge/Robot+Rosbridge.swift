import TactusDaemon

extension Robot {
  /// The path at which clients of ROS are served if the file says so.
  static let rosbridgePath = "/rosbridge"

  public static func sockets(_ look: Look<Robot>) -> [OwnSocket<Robot>] {
    guard look.wiring.rosbridge else { return [] }
    return [OwnSocket(rosbridgePath, subprotocol: "rosbridge.v2") { RosbridgeTalk($0) }]
  }
}
