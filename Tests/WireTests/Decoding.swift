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

/// The bytes that `write` puts into a buffer of `capacity`.
func encoded(capacity: Int = 160, _ write: (UnsafeMutableRawBufferPointer) -> Int) -> [UInt8] {
  var bytes = [UInt8](repeating: 0xEE, count: capacity)
  let count = bytes.withUnsafeMutableBytes { write($0) }
  return Array(bytes[..<count])
}

func text(_ bytes: [UInt8]) -> String { String(decoding: bytes, as: UTF8.self) }

extension RobotMessage {
  static func drive(
    _ left: Double, _ right: Double, timestamp: Double? = nil, echo: UInt64? = nil, mismatch: Bool = false
  ) -> RobotMessage {
    RobotMessage(
      .drive(WheelSpeeds(left: Percent(left), right: Percent(right))),
      timestamp: timestamp.map { SenderTimestamp(wireValue: $0) }, echo: echo, directionMismatch: mismatch)
  }
}
