import Robot
import Wire

func decode(_ bytes: [UInt8]) -> Result<RobotMessage, DatagramError> {
  bytes.withUnsafeBytes { buffer in
    do throws(DatagramError) {
      return .success(try RobotMessage.decode(buffer))
    } catch {
      return .failure(error)
    }
  }
}

func decode(_ text: String) -> Result<RobotMessage, DatagramError> { decode(Array(text.utf8)) }

func decodeReply(_ bytes: [UInt8]) -> Result<RobotReply, DatagramError> {
  bytes.withUnsafeBytes { buffer in
    do throws(DatagramError) {
      return .success(try RobotReply.decode(buffer))
    } catch {
      return .failure(error)
    }
  }
}

extension RobotMessage {
  static func drive(
    _ left: Double, _ right: Double, timestamp: Double? = nil, echo: UInt64? = nil, mismatch: Bool = false
  ) -> RobotMessage {
    RobotMessage(
      .drive(WheelSpeeds(left: Percent(left), right: Percent(right))),
      timestamp: timestamp.map { SenderTimestamp(wireValue: $0) }, echo: echo, directionMismatch: mismatch)
  }

  static func twist(
    _ metresPerSecond: Double, _ radiansPerSecond: Double, timestamp: Double? = nil, echo: UInt64? = nil
  ) -> RobotMessage {
    RobotMessage(
      .twist(Twist(metresPerSecond: metresPerSecond, radiansPerSecond: radiansPerSecond)),
      timestamp: timestamp.map { SenderTimestamp(wireValue: $0) }, echo: echo)
  }
}
