import Tactus
import TestSupport
import Testing

@testable import Sprinkler

/// Runs by litres: a flow sensor with 60 pulses a litre, and pulses that the tests count.
@Suite(.ownThread) struct LitresTests {
  private static func bench(maximumOpen: Int = 1, hasFlow: Bool = true) -> MachineBench {
    MachineBench(maximumOpen: maximumOpen, flow: hasFlow ? try! FlowSettings(pulsesPerLitre: 60) : nil)
  }

  private func run(_ id: UInt64, _ zone: Int, _ seconds: UInt32, _ litres: Double?) -> SprinklerOrder {
    .run(ZoneRun(id: id, zone: ZoneID(zone)!, seconds: seconds, source: .manual, litres: litres), .append)
  }

  @Test("litres: the run ends at the pulse that completes them; the next run of the queue opens")
  func completed() {
    let bench = Self.bench()
    #expect(bench.step(run(1, 1, 600, 2)) == .accepted)
    #expect(bench.step(run(2, 2, 60, nil)) == .accepted)
    bench.advance(to: 10)
    bench.step(.flow(pulses: 119))
    #expect(bench.word == 1)
    bench.advance(to: 11)
    bench.step(.flow(pulses: 120))
    #expect(bench.word == 2)
    bench.advance(to: 100)
    guard
      case .ended(let first) = bench.notices.first(where: { if case .ended = $0.subject { true } else { false } })?
        .subject
    else { return #expect(Bool(false)) }
    #expect(first.run.id == 1 && first.outcome == .completed && first.ran == .seconds(11) && first.pulses == 120)
  }

  @Test("litres that do not come: the longest time ends the run, with an outcome of its own")
  func timeLimit() {
    let bench = Self.bench()
    bench.step(run(1, 1, 30, 2))
    bench.step(.flow(pulses: 50))
    bench.advance(to: 30)
    guard case .ended(let end) = bench.notices.last?.subject else { return #expect(Bool(false)) }
    #expect(end.outcome == .timeLimit && end.ran == .seconds(30) && end.pulses == 50 && bench.word == 0)
  }

  @Test("litres over a pause: what has flowed before counts; water that flows for another run does not")
  func paused() {
    let bench = Self.bench()
    bench.step(run(1, 1, 600, 2))
    bench.step(.flow(pulses: 100))
    bench.step(.pause(seconds: 10))
    bench.step(.flow(pulses: 500))
    bench.advance(to: 20)
    #expect(bench.word == 1)
    bench.step(.flow(pulses: 519))
    #expect(bench.word == 1)
    bench.step(.flow(pulses: 520))
    #expect(bench.word == 0)
  }

  @Test("litres without a flow sensor: the run lasts its longest time")
  func noSensor() {
    let bench = Self.bench(hasFlow: false)
    bench.step(run(1, 1, 30, 2))
    bench.advance(to: 29)
    #expect(bench.word == 1)
    bench.advance(to: 30)
    #expect(bench.word == 0)
  }

  @Test("litres out of range, infinite or not a number: refused", arguments: [0, -1, 100_001, 1e300, .infinity, .nan])
  func refused(litres: Double) {
    let bench = Self.bench()
    #expect(bench.step(run(1, 1, 30, litres)) == .refused(.invalidAmount))
    #expect(bench.word == 0)
  }
}
