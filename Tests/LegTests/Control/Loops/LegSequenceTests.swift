import Devices
import Tactus
import Testing
import Wire

@testable import Leg

private let period = Nanoseconds.milliseconds(20)

extension LegStep {
  fileprivate init(_ pulses: [Int: UInt16], _ over: Int64, hold: Int64 = 0) {
    self.init(pulses.mapValues { .microseconds($0) }, over: .milliseconds(over), hold: .milliseconds(hold))
  }
}

/// Legs 0, 1 and 2 on one chip, the first two with a slew of 2000 µs/s, all armed at 10 ms; leg 2 has no pulse.
private func armed(slew: Int64? = 2_000) throws -> LegBench {
  let settings = try LegSettings(slewMicrosecondsPerSecond: slew)
  let bench = LegBench([
    LegConfiguration(settings, channel: try ServoChannel(0)), LegConfiguration(settings, channel: try ServoChannel(1)),
    LegConfiguration(channel: try ServoChannel(2)),
  ])
  bench.tick(0)
  bench.tick(TickInstant(nanoseconds: 500_000), .deadline)
  for leg in 0..<3 { bench.act(.arm, to: leg, at: 10) }
  for leg in 0..<2 { bench.act(.setServo(.microseconds(1500)), to: leg, at: 10) }
  bench.tick(20)
  _ = (bench.writes(), bench.takeNotices())
  return bench
}

extension LegBench {
  fileprivate func play(_ steps: [LegStep], rounds: Int = 1, at milliseconds: Int64) throws -> Answer<LegRefusal>? {
    let sequence = try LegSequence(steps, rounds: rounds, settings: settings, period: period)
    return request(.play(book.put(sequence)), issued: milliseconds)
  }

  /// Ticks every 20 ms after `start` up to `end`, with a ping of each leg before each tick, and returns the pulses of a leg.
  fileprivate func run(_ leg: Int, after start: Int64, to end: Int64, isFed: Bool = true) -> [Int] {
    stride(from: start + 20, through: end, by: 20).map { time in
      if isFed { for leg in 0..<3 { send(.ping, to: leg, at: time) } }
      tick(time)
      return snapshot[leg].pulse.map { Int($0.microseconds) } ?? 0
    }
  }
}

@Suite("sequences of legs")
struct LegSequenceTests {
  @Test(
    "sequence: straight ways by elapsed time, a stand, the next step from there; then it has ended and the legs stay")
  func ways() throws {
    let bench = try armed(slew: nil)
    let steps = [LegStep([0: 1600], 100, hold: 40), LegStep([0: 1500, 2: 1000], 100)]
    #expect(try bench.play(steps, at: 20)?.verdict == .accepted)
    #expect(bench.snapshot.sequence.isPlaying && bench.snapshot.sequence.steps == 2)
    #expect(bench.run(0, after: 20, to: 160) == [1520, 1540, 1560, 1580, 1600, 1600, 1600])
    #expect(bench.snapshot.sequence.step == 2 && bench.snapshot[1].pulse == .microseconds(1500))
    #expect(bench.snapshot[2].pulse == .microseconds(1000), "nobody knew where it was: its first way is made at once")
    #expect(bench.run(0, after: 160, to: 280) == [1580, 1560, 1540, 1520, 1500, 1500])
    #expect(bench.snapshot.sequence.end == .completed && !bench.snapshot.sequence.isPlaying)
    #expect(bench.takeNotices().filter { $0.hasPrefix("sequence") } == ["sequence 1 begins", "sequence 1 completed"])
  }

  @Test("sequence that repeats: round after round, from the last step to the first, until a request stops it")
  func rounds() throws {
    let bench = try armed(slew: nil)
    _ = try bench.play([LegStep([0: 1600], 40), LegStep([0: 1500], 40)], rounds: 0, at: 20)
    #expect(
      bench.run(0, after: 20, to: 260) == [1550, 1600, 1550, 1500, 1550, 1600, 1550, 1500, 1550, 1600, 1550, 1500])
    #expect(bench.snapshot.sequence.round == 4 && bench.snapshot.sequence.step == 1)
    #expect(bench.request(.stopSequence, issued: 270)?.verdict == .accepted)
    #expect(bench.snapshot.sequence.end == .stopped)
    #expect(bench.run(0, after: 260, to: 320) == [1500, 1500, 1500])
    #expect(bench.request(.stopSequence, issued: 330)?.verdict == .accepted, "nothing to stop is no error")
  }

  @Test("sequence: it feeds its legs once, at its beginning; without a sender they trip 200 ms later, and it ends")
  func silence() throws {
    let bench = try armed(slew: nil)
    _ = try bench.play([LegStep([0: 1600, 1: 1600], 1_000)], rounds: 0, at: 100)
    #expect(bench.snapshot[0].lastCommand == .milliseconds(100) && bench.snapshot[1].lastCommand == .milliseconds(100))
    let pulses = bench.run(0, after: 100, to: 280, isFed: false)
    #expect(pulses.last == 1518 && bench.snapshot.sequence.isPlaying)
    #expect(bench.snapshot[0].lastCommand == .milliseconds(100), "its positions feed nothing")
    bench.tick(300, .deadline)
    #expect(
      bench.snapshot[0].state == .fault(.silence, .confirmed) && bench.snapshot[1].state == .fault(.silence, .confirmed)
    )
    #expect(bench.snapshot.sequence.end == .legLost && !bench.snapshot.sequence.isPlaying)
    #expect(bench.run(0, after: 300, to: 400, isFed: false) == [0, 0, 0, 0, 0])
  }

  @Test(
    "sequence: a pulse for one of its legs, a disarm, an emergency stop, a lost link, a failed chip, missed releases and a shutdown end it in that release",
    arguments: 0..<7)
  func ends(by cause: Int) throws {
    let bench = try armed(slew: nil)
    _ = try bench.play([LegStep([0: 2000, 1: 2000], 1_000)], at: 20)
    _ = bench.run(0, after: 20, to: 60)
    switch cause {
    case 0: bench.act(.setServo(.microseconds(1200)), to: 1, at: 70)
    case 1: bench.act(.disarm, to: 1, at: 70)
    case 2: _ = bench.request(.emergencyStop, issued: 70)
    case 3: _ = bench.request(.unlinked, to: .leg(0), issued: 70)
    case 4:
      bench.bus.inject(.noAcknowledge(address: PCA9685.standardAddress, count: .max))
      bench.tick(80)
    case 5: bench.safeState(70, .misses(4))
    default: bench.safeState(70, .stop)
    }
    #expect(!bench.snapshot.sequence.isPlaying)
    #expect(bench.snapshot.sequence.end == (cause == 0 ? .commanded : .legLost))
    guard cause == 0 else { return }
    #expect(bench.snapshot[1].pulse == .microseconds(1200))
    #expect(Set(bench.run(1, after: 80, to: 160)) == [1200], "nothing moves it against the one who commands it")
    #expect(bench.run(0, after: 160, to: 180) == [1520], "the others stay where they were")
  }

  @Test("sequence: a ping does not end it, nor a pulse for a leg that it does not move")
  func goesOn() throws {
    let bench = try armed(slew: nil)
    _ = try bench.play([LegStep([0: 2000], 1_000)], at: 20)
    bench.act(.setServo(.microseconds(1200)), to: 1, at: 30)
    bench.act(.ping, to: 0, at: 30)
    #expect(bench.snapshot.sequence.isPlaying)
  }

  @Test(
    "sequence: a leg that is not armed refuses it, one that is too slow, too; a late one is stale; one that was replaced is not there"
  )
  func refused() throws {
    let bench = try armed()
    bench.act(.disarm, to: 2, at: 30)
    #expect(
      try bench.play([LegStep([0: 1600, 2: 1500], 100)], at: 40)?.verdict == .refused(LegRefusal(.notArmed, leg: 2)))
    #expect(try bench.play([LegStep([1: 2000], 200)], at: 50)?.verdict == .refused(LegRefusal(.tooFast, leg: 1)))
    #expect(try bench.play([LegStep([1: 2000], 260)], at: 60)?.verdict == .accepted)
    let settings = bench.settings
    let first = bench.book.put(try LegSequence([LegStep([0: 1600], 100)], settings: settings, period: period))
    _ = bench.book.put(try LegSequence([LegStep([0: 1400], 100)], settings: settings, period: period))
    #expect(bench.request(.play(first), issued: 70)?.verdict == .refused(LegRefusal(.noSequence, leg: 0)))
    #expect(bench.snapshot.sequence.end == .replaced, "the one that was played has ended all the same")
    #expect(bench.request(.play(first + 1), issued: 80, taken: 240)?.verdict == .refused(LegRefusal(.stale, leg: 0)))
    #expect(bench.request(.play(0), issued: 90)?.verdict == .refused(LegRefusal(.noSequence, leg: 0)))
  }

  @Test("sequence with a slew: the pulse keeps to it whatever the steps are")
  func slew() throws {
    let bench = try armed()
    _ = try bench.play([LegStep([0: 1700], 100, hold: 100)], at: 20)
    let pulses = bench.run(0, after: 20, to: 200)
    #expect(pulses.last == 1700)
    for (one, next) in zip([1500] + pulses, pulses) { #expect(abs(next - one) <= 40) }
  }

  @Test("sequence: what is wrong names its step")
  func wrong() throws {
    let slow = try LegSettings(
      lowest: .microseconds(1000), highest: .microseconds(2000), slewMicrosecondsPerSecond: 1_000)
    func error(_ steps: [LegStep], rounds: Int = 1) -> LegSequenceError? {
      do {
        _ = try LegSequence(steps, rounds: rounds, settings: [slow, slow], period: period)
        return nil
      } catch {
        return error
      }
    }
    let there = LegStep([0: 1200], 500)
    #expect(error([]) == .steps(0))
    #expect(error(Array(repeating: there, count: 257)) == .steps(257))
    #expect(error(Array(repeating: there, count: 256)) == nil)
    #expect(error([there], rounds: -1) == .rounds(-1) && error([there], rounds: 10_001) == .rounds(10_001))
    #expect(error([LegStep([:], 100)]) == .nothingMoves)
    #expect(error([there, LegStep([0: 1200], 19)]) == .over(step: 2, .milliseconds(19), least: period))
    #expect(error([LegStep([0: 1200], 60_001)]) == .over(step: 1, .milliseconds(60_001), least: period))
    #expect(error([LegStep([0: 1200], 100, hold: -1)]) == .hold(step: 1, .milliseconds(-1)))
    #expect(error([LegStep([2: 1200], 100)]) == .leg(step: 1, leg: 2))
    #expect(
      error([there, LegStep([1: 2001], 100)])
        == .pulse(step: 2, leg: 1, .microseconds(2001), lowest: .microseconds(1000), highest: .microseconds(2000)))
    let fast = LegStep([0: 1500], 299)
    #expect(error([there, fast]) == .tooFast(step: 2, leg: 0, .milliseconds(299), least: .milliseconds(300)))
    #expect(error([there, LegStep([0: 1500], 300)]) == nil)
    #expect(
      error([LegStep([0: 1500], 100), LegStep([0: 1200], 300)], rounds: 2)
        == .tooFast(step: 1, leg: 0, .milliseconds(100), least: .milliseconds(300)), "the way to the next round")
    #expect(error([LegStep([0: 1500], 100), LegStep([0: 1200], 300)]) == nil)
  }
}
