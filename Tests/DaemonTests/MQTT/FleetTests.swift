import DaemonSupport
import MQTTMosquitto
import Service
import Synchronization
import Tactus
import Testing

@testable import TactusDaemon

/// What a broker is told in simulated time, beat by beat.
@Suite("states on a broker: told when they change")
struct FleetTests {
  /// A system whose count goes up with every look, as that of a loop's ticks does.
  private final class Counting: ServedSystem {
    let name = "tank"
    let routes: [Route] = []
    let movingMembers: Set<String> = ["litres"]
    private let current = Mutex((looks: 0, state: "idle"))

    func enter(_ state: String) { current.withLock { $0.state = state } }

    var version: UInt64 { 1 }
    var state: [UInt8] {
      let (looks, state) = current.withLock { current in
        current.looks += 1
        return current
      }
      return Array(
        #"{"state":"\#(state)","monotonicNs":\#(looks),"levels":[{"litres":\#(looks)}],"counters":{"ticks":\#(looks)}}"#
          .utf8)
    }
    func events(at now: TickInstant, second: Bool) -> [Event] { [] }
    var isEmergencyStopped: Bool { false }
    func emergencyStop(_ caller: Caller) async throws {}
    func holdEmergencyStop() {}
    func reset(_ caller: Caller) async throws {}
    func receive(
      frame: [UInt8], from caller: Caller, answer: @escaping @Sendable (FrameOutcome) -> Void
    ) -> Bool { false }
    func clientLeft(_ caller: Caller) {}
  }

  private final class Heard: Sendable {
    let messages = Mutex<[(second: Double, text: String)]>([])
    let now = Mutex(0.0)

    func take(_ message: MQTTMessage) {
      guard message.topic.hasSuffix("/state") else { return }
      messages.withLock { $0.append((now.withLock { $0 }, message.text)) }
    }
  }

  #if MQTT
    private func play(
      seconds: Int, _ text: String = "mqtt: { device: bed }\nmotors: { }", refusingUntil: Double = 0,
      _ act: (Double, Counting, FleetParticipant) -> Void = { _, _, _ in }
    ) throws -> [(second: Double, text: String)] {
      let mqtt = try #require(try read(text).mqtt)
      let (system, heard) = (Counting(), Heard())
      let fleet = FleetParticipant(mqtt, systems: [system], commands: nil)
      let line = BrokerLine(
        mqtt, isConnected: { true }, unsubscribe: { _ in },
        post: { message in
          if heard.now.withLock({ $0 }) < refusingUntil { return .tooManyRetained }
          heard.take(message)
          return nil
        })
      for beat in 0..<(seconds * 10) {
        let second = Double(beat) / 10
        heard.now.withLock { $0 = second }
        act(second, system, fleet)
        fleet.beat(at: .zero + .milliseconds(Int64(beat) * 100), on: line)
      }
      return heard.messages.withLock { $0 }
    }

    @Test("a quiet minute: the first state, and nothing more until the minute is over")
    func quiet() throws {
      #expect(try play(seconds: 60).map(\.second) == [0])
      #expect(try play(seconds: 121).map(\.second) == [0, 60, 120])
    }

    @Test("a change that nobody tells of: within 5 s, once")
    func changed() throws {
      let heard = try play(seconds: 40) { second, system, _ in if second == 12 { system.enter("filling") } }
      #expect(heard.count == 2 && heard[1].second > 12 && heard[1].second <= 17, "\(heard)")
      #expect(heard[1].text.contains(#""state":"filling""#) && heard[1].text.contains("monotonicNs"))
    }

    @Test("something happens: its state within a beat, with all that has moved")
    func event() throws {
      let heard = try play(seconds: 40) { second, _, fleet in
        guard second == 12.3 else { return }
        fleet.publish([Event(.edge, type: "tank", system: "tank", at: .zero, body: Array(#"{"state":"idle"}"#.utf8))])
      }
      #expect(heard.map(\.second) == [0, 12.3])
    }

    @Test("a state for whose topic there is no room: told when there is, within 5 s, and then not again")
    func noRoom() throws {
      #expect(try play(seconds: 40, refusingUntil: 12).map(\.second) == [15])
    }

    @Test("an interval of 10 s: what moves by itself is told every 10 s")
    func interval() throws {
      let heard = try play(seconds: 31, "mqtt: { device: bed, state_interval_s: 10 }\nmotors: { }")
      #expect(heard.map(\.second) == [0, 10, 20, 30])
    }
  #endif
}
