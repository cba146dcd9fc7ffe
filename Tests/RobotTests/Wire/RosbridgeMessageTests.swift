import TestSupport
import Testing
import Wire

@testable import Robot

@Suite(.ownThread) struct RosbridgeMessageTests {
  private func decode(_ text: String) throws(RosbridgeError) -> RosbridgeMessage {
    try RosbridgeMessage.decode(Array(text.utf8)).message
  }

  private func reason(_ text: String) -> String? {
    do throws(RosbridgeError) {
      _ = try RosbridgeMessage.decode(Array(text.utf8))
      return nil
    } catch {
      return error.reason
    }
  }

  private func twist(_ text: String) throws -> Twist {
    try Twist(rosbridge: try JSONParser.parse(Array(text.utf8)))
  }

  private func twistReason(_ text: String) -> String? {
    do {
      _ = try twist(text)
      return nil
    } catch {
      return (error as? RosbridgeError)?.reason
    }
  }

  @Test("each operation as clients of ROS write it is read, with members that it does not know")
  func operations() throws {
    #expect(
      try decode(#"{"op":"advertise","topic":"/cmd_vel","type":"geometry_msgs/Twist","latch":false,"queue_size":100}"#)
        == .advertise(topic: "/cmd_vel", type: "geometry_msgs/Twist"))
    #expect(try decode(#"{"op":"unadvertise","topic":"/cmd_vel"}"#) == .unadvertise(topic: "/cmd_vel"))
    #expect(
      try decode(#"{"op":"publish","topic":"/cmd_vel","msg":{}}"#) == .publish(topic: "/cmd_vel", message: .object([])))
    #expect(try decode(#"{"op":"unsubscribe","topic":"/odom"}"#) == .unsubscribe(topic: "/odom"))
    #expect(try decode(#"{"op":"call_service","service":"/x","args":[]}"#) == .callService("/x"))
    #expect(try decode(#"{"op":"set_level","level":"none"}"#) == .setLevel(.none))
    let (message, id) = try RosbridgeMessage.decode(
      Array(
        #"{"op":"subscribe","id":"s1","topic":"/odom","throttle_rate":200.0,"queue_length":5,"compression":"none"}"#
          .utf8)
    )
    guard case .subscribe(let asked) = message else {
      Issue.record("not a subscription: \(message)")
      return
    }
    #expect(id == "s1" && asked.topic == "/odom" && asked.type == nil)
    #expect(asked.throttleMilliseconds == 200 && asked.queueLength == 5)
    guard case .subscribe(let plain) = try decode(#"{"op":"subscribe","topic":"/odom","queue_length":0}"#) else {
      return
    }
    #expect(plain.throttleMilliseconds == 0 && plain.queueLength == 1)
  }

  @Test("what is no message names the member, what was expected and what came")
  func refused() {
    #expect(reason("[]") == "expected an object, got an empty list")
    #expect(reason("{")?.contains("line 1") == true)
    #expect(reason("{}") == "op: expected text, got nothing")
    #expect(reason(#"{"op":"dance"}"#)?.hasSuffix(#"got "dance""#) == true)
    #expect(reason(#"{"op":"publish","topic":"/cmd_vel"}"#) == "msg: expected an object, got nothing")
    #expect(reason(#"{"op":"subscribe","topic":7}"#)?.hasPrefix("topic: expected text of 1…200 bytes, got 7") == true)
    #expect(reason(#"{"op":"subscribe","topic":""}"#)?.hasPrefix("topic: expected text") == true)
    let long = String(repeating: "x", count: 201)
    #expect(reason(#"{"op":"subscribe","topic":"\#(long)"}"#)?.hasPrefix("topic: expected text") == true)
    for (member, value) in [
      ("throttle_rate", "-1"), ("throttle_rate", "3600001"), ("throttle_rate", "1e999"), ("throttle_rate", "0.5"),
      ("queue_length", "101"), ("queue_length", "\"1\""), ("compression", "\"cbor\""), ("fragment_size", "100"),
    ] {
      let text = #"{"op":"subscribe","topic":"/odom","\#(member)":\#(value)}"#
      #expect(reason(text)?.hasPrefix("\(member): expected") == true, "\(text)")
    }
    let half = reason(#"{"op":"subscribe","topic":"/odom","throttle_rate":1.5}"#)
    #expect(half?.hasPrefix("throttle_rate: expected an integer 0…3600000, got 1.5") == true)
    #expect(reason(#"{"op":"set_level","level":"loud"}"#)?.hasPrefix("level: expected info") == true)
  }

  @Test("an error has the id of the message that it is about")
  func ids() {
    do throws(RosbridgeError) {
      _ = try RosbridgeMessage.decode(Array(#"{"op":"dance","id":"d1"}"#.utf8))
      Issue.record("accepted")
    } catch {
      #expect(error.id == "d1")
    }
  }

  @Test("a level includes the graver ones, and none includes nothing but itself")
  func levels() {
    #expect(RosbridgeLevel.info.includes(.error) && RosbridgeLevel.error.includes(.error))
    #expect(!RosbridgeLevel.error.includes(.warning) && !RosbridgeLevel.none.includes(.error))
  }

  @Test("a Twist is forward speed and turn; what is left out is 0")
  func twists() throws {
    let whole = #"{"linear":{"x":0.25,"y":0,"z":0.0},"angular":{"x":0,"y":-0.0,"z":-0.5}}"#
    #expect(try twist(whole) == Twist(metresPerSecond: 0.25, radiansPerSecond: -0.5))
    #expect(try twist(#"{"linear":{"x":1}}"#) == Twist(metresPerSecond: 1, radiansPerSecond: 0))
    #expect(try twist("{}").isZero)
  }

  @Test("a Twist that two wheels cannot do, or that is no number in range, is refused with its member")
  func badTwists() {
    #expect(twistReason(#"{"linear":{"x":101}}"#) == "msg.linear.x: expected a number -100.0…100.0, got 101")
    for bad in ["1e999", "-1e300", "null", "\"1\"", "\"NaN\"", "true", "{}"] {
      #expect(twistReason(#"{"angular":{"z":\#(bad)}}"#)?.hasPrefix("msg.angular.z: expected") == true, "\(bad)")
    }
    #expect(twistReason(#"{"linear":{"y":0.1}}"#)?.hasPrefix("msg.linear.y: expected a number 0") == true)
    #expect(twistReason(#"{"angular":{"x":1}}"#)?.hasPrefix("msg.angular.x: expected") == true)
    #expect(twistReason(#"{"linear":{"w":1}}"#)?.hasPrefix("msg.linear.w: expected x, y, z") == true)
    #expect(twistReason(#"{"speed":1}"#)?.hasPrefix("msg.speed: expected linear, angular") == true)
    #expect(twistReason("[1]") == "msg: expected an object, got a list of 1")
  }
}
