import Robot
import Wire

extension FuzzedDecoder {
  static let robot = [
    FuzzedDecoder(name: "robot-message", longest: 1100) { bytes in
      guard let message = try? RobotMessage.decode(bytes) else { return }
      check(message)
      let once = decoded(wire(message))
      check(once)
      expect(once.echo == message.echo ?? 0, "the echo of \(message) became \(once)")
      expect(isNear(once.command, message.command), "\(message) became \(once)")
      let twice = decoded(wire(once))
      expect(twice == once, "\(once) became \(twice)")
    },
    FuzzedDecoder(name: "robot-reply", longest: 1100) { bytes in
      guard let reply = try? RobotReply.decode(bytes) else { return }
      check(reply.speeds)
      expect(reply.echo <= largestEcho && reply.age?.count ?? 0 >= 0, "\(reply)")
      let once = decoded(reply)
      expect(once.echo == reply.echo && once.state == reply.state && once.age == reply.age, "\(reply) became \(once)")
      expect(once.reason == reply.reason && isNear(once.speeds, reply.speeds), "\(reply) became \(once)")
      expect(decoded(once) == once, "\(once) became \(decoded(once))")
    },
    FuzzedDecoder(name: "input-events", longest: 1600) { bytes in
      guard let events = InputEvent.decode(bytes) else { return }
      expect(events.count * InputEvent.length == bytes.count, "\(events.count) events of \(bytes.count) bytes")
      // The first two events say what the axes are like; the others happen.
      guard events.count > 2,
        let x = GamepadAxis(minimum: events[0].value, maximum: events[1].value, flat: events[2].value, value: 0),
        let y = GamepadAxis(minimum: -32_768, maximum: 32_767, flat: 128, value: events[0].value)
      else { return }
      var gamepad = Gamepad(x: x, y: y)
      for event in events {
        _ = gamepad.receive(event)
        check(gamepad.input.speeds)
      }
    },
    FuzzedDecoder(name: "rosbridge-message", longest: 1100) { bytes in
      let message: RosbridgeMessage
      do throws(RosbridgeError) { message = try RosbridgeMessage.decode(Array(bytes)).message } catch {
        // It is sent back to whoever sent it.
        expect(
          error.reason.utf8.count < 400 + 4 * bytes.count && error.id?.utf8.count ?? 0 <= RosbridgeMessage.longestName,
          "\(error)")
        return
      }
      switch message {
      case .subscribe(let asked):
        expect((0...RosbridgeSubscription.longestThrottle).contains(asked.throttleMilliseconds), "\(asked)")
        expect((1...RosbridgeSubscription.longestQueue).contains(asked.queueLength), "\(asked)")
      case .publish(_, let body):
        guard let twist = try? Twist(rosbridge: body) else { return }
        expect(twist.isInRange, "\(twist)")
      case .advertise, .unadvertise, .unsubscribe, .callService, .setLevel: break
      }
    },
  ]

  private static let largestEcho: UInt64 = 1 << 53

  private static func check(_ message: RobotMessage) {
    if case .drive(let speeds) = message.command { check(speeds) }
    if case .twist(let twist) = message.command { expect(twist.isInRange, "\(message)") }
    expect(message.echo ?? 0 <= largestEcho, "\(message)")
    if let timestamp = message.timestamp {
      expect(timestamp.seconds.isFinite && timestamp.order(after: timestamp) != .older, "\(message)")
    }
  }

  private static func check(_ speeds: WheelSpeeds) {
    for speed in [speeds.left.value, speeds.right.value] { expect((-100...100).contains(speed), "\(speeds)") }
  }

  private static func wire(_ message: RobotMessage) -> [UInt8] {
    // Beyond that a double has no microseconds.
    let microseconds = message.timestamp.flatMap { timestamp in
      timestamp.seconds.magnitude < 1e9 ? Int64((timestamp.seconds * 1e6).rounded()) : nil
    }
    return encoded(RobotMessage.maximumEncodedLength) { buffer in
      message.command.encode(timestampMicroseconds: microseconds, echo: message.echo ?? 0, into: buffer)
    }
  }

  private static func decoded(_ bytes: [UInt8]) -> RobotMessage {
    bytes.withUnsafeBytes { bytes in
      do { return try RobotMessage.decode(bytes) } catch {
        fatalError("\(String(decoding: bytes, as: UTF8.self)): \(error)")
      }
    }
  }

  private static func decoded(_ reply: RobotReply) -> RobotReply {
    encoded(RobotReply.maximumEncodedLength) { reply.encode(into: $0) }.withUnsafeBytes { bytes in
      do { return try RobotReply.decode(bytes) } catch { fatalError("\(reply): \(error)") }
    }
  }

  /// Speeds are rounded to 0.1 % on the wire.
  private static func isNear(_ left: RobotCommand, _ right: RobotCommand) -> Bool {
    if case .drive(let left) = left, case .drive(let right) = right { return isNear(left, right) }
    if case .twist(let left) = left, case .twist(let right) = right {
      // mm/s and mrad/s on the wire.
      return (left.metresPerSecond - right.metresPerSecond).magnitude < 0.000501
        && (left.radiansPerSecond - right.radiansPerSecond).magnitude < 0.000501
    }
    return left == right
  }

  private static func isNear(_ left: WheelSpeeds, _ right: WheelSpeeds) -> Bool {
    (left.left.value - right.left.value).magnitude < 0.0501 && (left.right.value - right.right.value).magnitude < 0.0501
  }
}
