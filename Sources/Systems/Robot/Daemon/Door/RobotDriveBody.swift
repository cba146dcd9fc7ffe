import Robot
import Service
import Wire

/// The body of `POST /api/robot/drive`.
struct RobotDriveBody: JSONReadable {
  let speeds: WheelSpeeds
  /// The client's own clock, seconds or milliseconds as in a datagram.
  let timestamp: SenderTimestamp?

  init(_ body: inout JSONReader) throws(APIError) {
    speeds = WheelSpeeds(
      left: Percent(try body.required("left", .number(-100...100))),
      right: Percent(try body.required("right", .number(-100...100))))
    timestamp = try body.optional("timestamp", Self.seconds).map { SenderTimestamp(wireValue: $0) }
  }

  private static let seconds = JSONKind<Double>("a number") { value in
    guard case .number(let digits) = value, let number = Double(digits), number.isFinite else { return nil }
    return number
  }

  /// What the log says.
  var logValue: String { "left=\(speeds.left.value) right=\(speeds.right.value)" }
}
