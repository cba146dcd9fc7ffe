import Buses
import DaemonSupport
import Foundation
import Leg
import Service
import Tactus
import Testing
import Wire

@testable import LegDaemon
@testable import TactusDaemon

/// The files of Examples/hexapod, in simulated time.
@Suite(.ownThread) struct HexapodTests {
  private static let folder = repository.appending(path: "Examples/hexapod")

  private let wiring: Legs.Wiring
  private let settings: [LegSettings]
  private let run: LegSimulation

  init() throws {
    let file = Self.folder.appending(path: "hexapod.yaml").path(percentEncoded: false)
    let legs = try #require(try Configuration.read(path: file, environment: [:]).legs)
    wiring = legs.wiring
    settings = legs.loopRules.all
    var configuration = LegSimulation.Configuration(
      zip(settings, wiring.servos).map { LegConfiguration($0, channel: $1.channel, chip: $1.chip, group: $1.group) })
    configuration.outputEnable = .bcm(22)
    configuration.pingsByThemselves = false
    run = try LegSimulation(configuration)
    run.run(for: .seconds(Int64(1)))
  }

  private func sequence(_ name: String) throws -> LegSequence {
    let bytes = try Data(contentsOf: Self.folder.appending(path: name))
    let request = APIRequest(
      caller: Caller(scope: .control, tokenID: nil, address: "", client: 0), body: Array(bytes))
    return try request.decode(LegSequenceBody.self).sequence(wiring, settings)
  }

  /// Runs tick by tick with a ping to one joint each time, and looks after each.
  private func keep(_ time: Nanoseconds, _ look: () -> Void = {}) {
    let end = run.now + time
    while run.now < end {
      run.request(.command(.ping), to: .leg(0))
      run.run(for: .milliseconds(20))
      look()
    }
    _ = run.takeAnswers()
  }

  private func pulse(_ joint: String) -> Int? {
    wiring.legs.indices.first { wiring.name($0) == joint }.flatMap {
      run.snapshot[$0].pulse.map { Int($0.microseconds) }
    }
  }

  private func isArmed(_ leg: Int) -> Bool { if case .armed = run.snapshot[leg].state { true } else { false } }

  private func stand() throws {
    run.request(.command(.arm), to: .all)
    run.run(for: .milliseconds(20))
    run.play(try sequence("stand.json"))
    keep(.seconds(Int64(1)))
    #expect(run.takeNotices().contains { $0.notice == .sequence(number: 1, .completed) })
  }

  @Test("hexapod: two chips of nine servos, one group, all of it of the file")
  func file() {
    #expect(wiring.legs.count == 18 && wiring.drivers.map(\.address.value) == [0x40, 0x41])
    #expect(wiring.servos.filter { $0.chip == 1 }.count == 9 && Set(wiring.servos.map(\.group)) == [0])
  }

  @Test("hexapod walks: at every tick all three feet of a tripod are down, and both tripods swing")
  func walks() throws {
    try stand()
    #expect(run.chips.count == 2)
    run.play(try sequence("walk.json"))
    let first = ["left front", "left rear", "right middle"]
    let second = ["right front", "right rear", "left middle"]
    func areDown(_ legs: [String]) -> Bool { legs.allSatisfy { pulse("\($0) knee") == 1500 } }
    var (lifted, hips) = (Set<Int>(), Set<Int>())
    keep(.seconds(Int64(10))) {
      #expect(areDown(first) || areDown(second), "\(run.now)")
      if !areDown(first) { lifted.insert(1) }
      if !areDown(second) { lifted.insert(2) }
      if let hip = pulse("left front hip") { hips.insert(hip) }
      // The two tripods are in opposite phases.
      if let one = pulse("left front hip"), let other = pulse("left middle hip"), hips.count > 30 {
        #expect(one + other == 3000)
      }
    }
    #expect(lifted == [1, 2] && hips.contains(1650) && hips.contains(1350))
    #expect(run.snapshot.sequence.isPlaying && run.snapshot.sequence.round >= 7)
    run.request(.stopSequence, to: .all)
    run.run(for: .milliseconds(40))
    #expect(run.snapshot.sequence.end == .stopped && isArmed(0))
  }

  @Test("hexapod walking: silence cuts the pulses of both chips 200 ms after the last ping, and the sequence ends")
  func silence() throws {
    try stand()
    run.play(try sequence("walk.json"))
    keep(.seconds(Int64(2)))
    #expect((0..<9).allSatisfy { run.servos(ofChip: 0)[$0].pulse != nil && run.servos(ofChip: 1)[$0].pulse != nil })
    let last = try #require(run.snapshot[0].lastCommand)
    run.run(for: last + .milliseconds(200) - run.now - .microseconds(Int64(1)))
    #expect(isArmed(17) && run.snapshot.sequence.isPlaying)
    run.run(for: .microseconds(Int64(2)))
    for chip in 0..<2 {
      let servos = run.servos(ofChip: chip)
      for channel in 0..<16 { #expect(servos[channel].pulse == nil, "chip \(chip), channel \(channel)") }
    }
    for leg in 0..<18 { #expect(run.snapshot[leg].state == .fault(.silence, .confirmed)) }
    #expect(run.snapshot.sequence.end == .legLost)
    let offs = run.bus.transactions(since: 0).filter { $0.register == 0xFD }.suffix(2)
    #expect(offs.map(\.address.value) == [0x40, 0x41] && offs.allSatisfy { $0.at == last + .milliseconds(200) })
  }

  @Test("sequence in a request: what is wrong is an error that names the step and the member")
  func wrong() throws {
    func error(_ text: String) -> String? {
      let request = APIRequest(
        caller: Caller(scope: .control, tokenID: nil, address: "", client: 0), body: Array(text.utf8))
      do {
        _ = try request.decode(LegSequenceBody.self).sequence(wiring, settings)
        return nil
      } catch {
        return error.message
      }
    }
    #expect(error(#"{"steps": []}"#)?.hasPrefix("steps: expected a list of 1…256") == true)
    #expect(
      error(#"{"steps": [{"pose": "sit", "overMs": 100}]}"#)
        == #"steps[0].pose: expected a pose of poses (there are none), got "sit""#)
    #expect(
      error(#"{"steps": [{"overMs": 100}]}"#) == "steps[0].positions: expected one of pose and positions, got neither")
    #expect(error(#"{"steps": [{"positions": {"tail": 1500}, "overMs": 100}]}"#)?.hasSuffix(#"got "tail""#) == true)
    #expect(
      error(#"{"steps": [{"positions": {"left front hip": 2100}, "overMs": 100}]}"#)
        == "steps[0]: left front hip: expected 1000…2000, the limits of the leg, got 2100")
    #expect(
      error(#"{"steps": [{"positions": {"left front hip": 1500}, "overMs": 10}]}"#)
        == "steps[0].overMs: expected 20…60000, a tick of the legs' loop to a minute, got 10")
    #expect(
      error(
        #"{"steps": [{"positions": {"left front hip": 1500}, "overMs": 100}, {"positions": {"left front hip": 1000}, "overMs": 249}]}"#
      ) == "steps[1].overMs: left front hip: expected at least 250 for this way at its slew_us_per_s, got 249")
    #expect(
      error(#"{"steps": [{"positions": {}, "overMs": 100}]}"#)
        == "steps: expected a position of a leg in one of them, got none")
    #expect(
      error(#"{"steps": [{"positions": {"left front hip": 1500}, "overMs": 100}], "repeat": -1}"#)?.hasPrefix(
        "repeat: ") == true)
  }
}
