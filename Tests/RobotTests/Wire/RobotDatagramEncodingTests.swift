import Robot
import Tactus
import TestSupport
import Testing
import Wire
import WireSupport

@Suite(.ownThread) struct RobotDatagramEncodingTests {
  private func drive(_ left: Double, _ right: Double) -> RobotCommand {
    .drive(WheelSpeeds(left: Percent(left), right: Percent(right)))
  }

  private func twist(_ metresPerSecond: Double, _ radiansPerSecond: Double) -> RobotCommand {
    .twist(Twist(metresPerSecond: metresPerSecond, radiansPerSecond: radiansPerSecond))
  }

  @Test("request: each datagram encodes to exactly this text")
  func exactText() {
    func text(_ datagram: RobotCommand, _ timestamp: Int64? = nil, _ echo: UInt64? = nil) -> String {
      WireSupport.text(encoded { datagram.encode(timestampMicroseconds: timestamp, echo: echo, into: $0) })
    }
    #expect(
      text(drive(30, -12.34), 1_763_702_470_000_456, 9)
        == #"{"left":30,"right":-12.3,"timestamp":1763702470.000456,"echo":9}"#)
    #expect(text(drive(250, -0.01)) == #"{"left":100,"right":0}"#)
    #expect(text(twist(0.25, -1.5)) == #"{"linear":0.250,"angular":-1.500}"#)
    #expect(text(twist(-0.0004, 250), nil, 1) == #"{"linear":0.000,"angular":100.000,"echo":1}"#)
    #expect(text(.stop) == #"{"command":"stop","left":0,"right":0}"#)
    #expect(text(.emergencyStop, 1) == #"{"command":"estop","left":0,"right":0,"timestamp":0.000001}"#)
    #expect(text(.reset, -1_500_000) == #"{"command":"reset","left":0,"right":0,"timestamp":-1.500000}"#)
    #expect(text(.query, nil, 0) == #"{"command":"query","echo":0}"#)
  }

  @Test("request: the longest one fits")
  func longest() {
    for datagram in [RobotCommand.reset, twist(-100, -100)] {
      let bytes = encoded {
        datagram.encode(timestampMicroseconds: .min, echo: 9_007_199_254_740_992, into: $0)
      }
      #expect(bytes.count <= RobotMessage.maximumEncodedLength)
    }
  }

  @Test("request: the robot decodes what the operator side encodes, 20,000 seeded ones")
  func roundTrip() {
    let seed: UInt64 = 20_260_103
    var random = SplitMix64(seed: seed)
    for number in 0..<20_000 {
      let left = Double(random.below(2001) - 1000) / 10
      let right = Double(random.below(2001) - 1000) / 10
      let turn = Double(random.below(200_001) - 100_000) / 1_000
      let datagram = random.pick([drive(left, right), twist(left, turn), .stop, .emergencyStop, .reset, .query])
      let microseconds = random.chance(20) ? nil : Int64(random.next() % 4_000_000_000_000_000)
      let echo = random.chance(50) ? nil : random.next() % 9_007_199_254_740_993
      let bytes = encoded { datagram.encode(timestampMicroseconds: microseconds, echo: echo, into: $0) }
      let expected = RobotMessage(
        datagram, timestamp: microseconds.map { SenderTimestamp(wireValue: Double($0) / 1e6) }, echo: echo)
      let isSame = decode(bytes) == .success(expected)
      #expect(isSame, "seed \(seed), datagram \(number): \(text(bytes))")
      if !isSame { break }
    }
  }
}
