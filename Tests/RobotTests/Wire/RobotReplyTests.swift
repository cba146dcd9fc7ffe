import Robot
import Tactus
import Testing
import Wire
import WireSupport

@Suite struct RobotReplyTests {
  private let driving = RobotReply(
    echo: 7, state: .driving, speeds: WheelSpeeds(left: Percent(12.5), right: Percent(-3)), age: .milliseconds(12),
    reason: ShortText("another sender is in control"))

  @Test("reply: encodes to exactly this text")
  func text() {
    #expect(
      WireSupport.text(encoded { driving.encode(into: $0) })
        == #"{"echo":7,"state":"driving","left":12.5,"right":-3,"age_ms":12,"reason":"another sender is in control"}"#)
    let stopped = RobotReply(echo: 0, state: .stopped, speeds: WheelSpeeds(left: Percent(-0.04), right: Percent(99.96)))
    #expect(
      WireSupport.text(encoded { stopped.encode(into: $0) })
        == #"{"echo":0,"state":"stopped","left":0,"right":100,"age_ms":null,"reason":null}"#)
  }

  @Test("reply: age is rounded down to whole milliseconds and never negative")
  func age() {
    var reply = driving
    reply.age = Nanoseconds(1_999_999)
    #expect(WireSupport.text(encoded { reply.encode(into: $0) }).contains(#""age_ms":1,"#))
    reply.age = Nanoseconds(-5_000_000)
    #expect(WireSupport.text(encoded { reply.encode(into: $0) }).contains(#""age_ms":0,"#))
  }

  @Test("reply: the longest one fits")
  func longest() {
    let longest = RobotReply(
      echo: .max, state: .stopped, speeds: WheelSpeeds(left: Percent(-99.9), right: Percent(-99.9)),
      age: Nanoseconds(.max), reason: ShortText("12345678901234567890123456789012"))
    #expect(encoded { longest.encode(into: $0) }.count <= RobotReply.maximumEncodedLength)
  }

  @Test("reply: decode after encode is the same reply, 20,000 seeded ones")
  func roundTrip() {
    let seed: UInt64 = 20_260_101
    var random = SplitMix64(seed: seed)
    let states: [RobotReply.State] = [.stopped, .driving, .emergencyStop, .fault]
    let reasons: [ShortText?] = [nil, ShortText(""), ShortText("bus"), ShortText("~ !#[]{}12345678901234567890abcd")]
    for number in 0..<20_000 {
      let reply = RobotReply(
        echo: random.next() % 9_007_199_254_740_993, state: random.pick(states),
        speeds: WheelSpeeds(
          left: Percent(Double(random.below(2001) - 1000) / 10), right: Percent(Double(random.below(2001) - 1000) / 10)),
        age: random.chance(30) ? nil : Nanoseconds.milliseconds(Int64(random.next() % 9_000_000_000_000)),
        reason: random.pick(reasons))
      let bytes = encoded { reply.encode(into: $0) }
      let isSame = decodeReply(bytes) == .success(reply)
      #expect(isSame, "seed \(seed), reply \(number): \(WireSupport.text(bytes))")
      if !isSame { break }
    }
  }

  @Test("reply: 50,000 mutations are decoded or refused, and what is decoded survives another round")
  func mutations() {
    let seed: UInt64 = 20_260_102
    var random = SplitMix64(seed: seed)
    let original = encoded { driving.encode(into: $0) }
    var accepted = 0
    for number in 0..<50_000 {
      let bytes = mutated(original, &random)
      guard case .success(let reply) = decodeReply(bytes) else { continue }
      accepted += 1
      // Speeds of any precision come in; only tenths go out.
      let once = encoded { reply.encode(into: $0) }
      guard case .success(let again) = decodeReply(once) else {
        Issue.record("seed \(seed), mutation \(number): own reply refused: \(WireSupport.text(once))")
        return
      }
      let isStable = encoded { again.encode(into: $0) } == once
      #expect(isStable, "seed \(seed), mutation \(number): \(WireSupport.text(bytes))")
      if !isStable { return }
    }
    #expect(accepted > 1_000)
  }

  @Test("reply: missing keys, wrong types and unknown states are refused by name")
  func refused() {
    func name(_ text: String) -> String? {
      if case .failure(let error) = decodeReply(Array(text.utf8)) { error.name } else { nil }
    }
    #expect(name(#"{"echo":1,"state":"stopped","left":0,"right":0}"#) == nil)
    #expect(name(#"{"echo":1,"state":"stopped","left":0}"#) == "missing")
    #expect(name(#"{"echo":1,"state":"asleep","left":0,"right":0}"#) == "unknown-state")
    #expect(name(#"{"echo":1,"state":1,"left":0,"right":0}"#) == "wrong-type")
    #expect(name(#"{"echo":1,"state":"fault","left":0,"right":0,"age_ms":-1}"#) == "out-of-range")
    #expect(name(#"{"echo":1,"state":"fault","left":0,"right":0,"age_ms":9007199254740992}"#) == "out-of-range")
    #expect(name(#"{"echo":1,"state":"fault","left":0,"right":0,"reason":5}"#) == "wrong-type")
    #expect(name("5,5") == "malformed")
    #expect(name("") == "empty")
  }
}
