import Robot
import Service
import Tactus
import TactusDaemon
import Wire

extension Robot {
  /// Takes a binary frame as a robot datagram, as on UDP, with the client as its source. Returns whether the frame was meant for the
  /// robot. A frame with an `echo` gets the same reply as on UDP, refused or not; for one without, only a refusal is reported.
  public static func take(_ frame: [UInt8], from caller: Caller, _ door: FrameDoor<Robot>) -> Bool {
    // No text begins with a control character or within a character: such a frame is another system's.
    guard !(frame.first.map { $0 < 0x09 || $0 & 0xC0 == 0x80 } ?? false) else { return false }
    let message: RobotMessage
    do {
      message = try frame.withUnsafeBytes { bytes throws(DatagramError) in try RobotMessage.decode(bytes) }
    } catch {
      door.refuse(APIError(.badRequest, "BAD_DATAGRAM", "not a robot datagram: \(error)"))
      return true
    }
    let order = message.order
    door.send(order, makesSafe: order.isStop) { result in
      switch result {
      case .failure(let error): door.refuse(error)
      case .success((let answer, let published)):
        if let echo = message.echo {
          door.reply(RobotReply(echo: echo, answer, published).bytes)
        } else if case .refused(let reason) = answer.verdict {
          door.refuse(reason, in: published.state)
        }
      }
    }
    return true
  }
}

extension RobotMessage {
  fileprivate var order: RobotOrder {
    switch datagram {
    case .drive(let speeds): .drive(speeds, timestamp: timestamp)
    case .twist(let twist): .twist(twist, timestamp: timestamp)
    case .stop: .stop
    case .emergencyStop: .emergencyStop
    case .reset: .reset
    case .query: .query
    }
  }
}

extension RobotReply {
  fileprivate var bytes: [UInt8] {
    [UInt8](unsafeUninitializedCapacity: Self.maximumEncodedLength) { buffer, count in
      count = encode(into: UnsafeMutableRawBufferPointer(buffer))
    }
  }
}
