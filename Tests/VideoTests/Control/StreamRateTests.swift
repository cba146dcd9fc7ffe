import Tactus
import Testing
import Video

/// A link between encoder and viewer, in steps of a second: so many bits pass, a part of the packets is lost whatever the rate, and what
/// does not pass waits in a queue of a quarter of a second, or is lost.
private struct Link {
  var capacity: Double
  var loss: Double
  private var queued = 0.0

  init(_ capacity: Double, loss: Double = 0) { (self.capacity, self.loss) = (capacity, loss) }

  mutating func carry(_ bits: Double) -> LinkReport {
    let offered = queued + bits
    let passed = min(offered, capacity)
    queued = min(offered - passed, capacity / 4)
    let dropped = offered - passed - queued
    let wait = Nanoseconds(Int64(saturating: queued / capacity * 1e9))
    return LinkReport(lost: 1 - (1 - loss) * (1 - max(0, dropped) / max(1, bits)), wait: wait)
  }
}

private let limits = StreamRate.Limits(lowest: 100_000, highest: 2_000_000, slowest: 10, fastest: 30)

/// Returns the rates of each second of a run.
private func run(_ rate: inout StreamRate, _ link: inout Link, seconds: Int, from start: Int = 0) -> [UInt32] {
  (0..<seconds).map { second in
    let report = link.carry(Double(rate.bitsPerSecond))
    rate.step(report, isWatched: true, at: .zero + .seconds(Int64(start + second)))
    return rate.bitsPerSecond
  }
}

extension TickInstant {
  fileprivate static var zero: TickInstant { TickInstant(nanoseconds: 0) }
}

@Suite("the rates of a stream")
struct StreamRateTests {
  @Test("a link that takes everything leaves the configured rates") func wide() {
    var (rate, link) = (StreamRate(limits), Link(5_000_000))
    #expect(Set(run(&rate, &link, seconds: 60)) == [2_000_000])
    #expect(rate.framesPerSecond == 30 && rate.cause == .configured)
  }

  @Test("a link of 500 kbit/s that also loses packets is filled and not flooded") func narrow() {
    for loss in [0, 0.02, 0.05, 0.08] {
      var (rate, link) = (StreamRate(limits), Link(500_000, loss: loss))
      let first = run(&rate, &link, seconds: 10)
      #expect(first.last! < 700_000, "loss \(loss): \(first)")
      let later = run(&rate, &link, seconds: 300, from: 10)
      let mean = later.reduce(0) { $0 + Double($1) } / Double(later.count)
      #expect(mean > 350_000 && mean < 550_000, "loss \(loss): mean \(mean)")
      #expect(later.max()! < 600_000 && later.min()! > 250_000, "loss \(loss): \(later.min()!)…\(later.max()!)")
      #expect(rate.framesPerSecond == 15)
    }
  }

  @Test("a radio's own loss takes nothing away") func lossy() {
    var (rate, link) = (StreamRate(limits), Link(5_000_000, loss: 0.05))
    #expect(Set(run(&rate, &link, seconds: 60)) == [2_000_000])
  }

  @Test("after a bad minute the rates come back") func recovers() {
    var (rate, link) = (StreamRate(limits), Link(300_000))
    _ = run(&rate, &link, seconds: 60)
    #expect(rate.bitsPerSecond < 400_000 && rate.framesPerSecond == 10)
    link.capacity = 5_000_000
    let later = run(&rate, &link, seconds: 75, from: 60)
    #expect(later.last == 2_000_000, "\(later)")
    #expect(rate.framesPerSecond == 30 && rate.cause == .configured)
  }

  @Test("without reports they stay for half a minute, and then rise slowly")
  func silent() {
    var (rate, link) = (StreamRate(limits), Link(500_000))
    _ = run(&rate, &link, seconds: 20)
    let held = rate.bitsPerSecond
    for second in 20..<50 { rate.step(nil, isWatched: true, at: .zero + .seconds(Int64(second))) }
    #expect(rate.bitsPerSecond == held)
    for second in 50..<120 { rate.step(nil, isWatched: true, at: .zero + .seconds(Int64(second))) }
    #expect(rate.bitsPerSecond > held * 3 / 2 && rate.bitsPerSecond < held * 5 / 2)
    #expect(rate.cause == .rising)
  }

  @Test("without viewers they are forgotten after half a minute") func unwatched() {
    var (rate, link) = (StreamRate(limits), Link(500_000))
    _ = run(&rate, &link, seconds: 20)
    let held = rate.bitsPerSecond
    for second in 20..<50 { rate.step(nil, isWatched: false, at: .zero + .seconds(Int64(second))) }
    #expect(rate.bitsPerSecond == held)
    rate.step(nil, isWatched: false, at: .zero + .seconds(50))
    #expect(rate == StreamRate(limits))
  }

  @Test("whatever is reported, they stay within their limits, seeded") func bounded() {
    for seed in 1...200 {
      var numbers = SplitMix64(seed: UInt64(seed))
      let limits = StreamRate.Limits(
        lowest: UInt32.random(in: 0...(.max), using: &numbers), highest: UInt32.random(in: 0...(.max), using: &numbers),
        slowest: UInt16.random(in: 0...(.max), using: &numbers), fastest: UInt16.random(in: 0...(.max), using: &numbers)
      )
      var (rate, now) = (StreamRate(limits), TickInstant.zero)
      for _ in 0..<200 {
        now = now + Nanoseconds(Int64.random(in: 0...20_000_000_000, using: &numbers))
        let report =
          Bool.random(using: &numbers)
          ? nil
          : LinkReport(
            lost: Double.random(in: -2...2, using: &numbers),
            wait: Nanoseconds(Int64.random(in: -1_000_000...10_000_000_000, using: &numbers)))
        rate.step(report, isWatched: Int.random(in: 0..<9, using: &numbers) > 0, at: now)
        #expect((limits.lowest...limits.highest).contains(rate.bitsPerSecond), "seed \(seed)")
        #expect((limits.slowest...limits.fastest).contains(rate.framesPerSecond), "seed \(seed)")
      }
    }
  }

  @Test("equal limits never move") func fixed() {
    let fixed = StreamRate.Limits(lowest: 1_000_000, highest: 1_000_000, slowest: 30, fastest: 30)
    var (rate, link) = (StreamRate(fixed), Link(100_000, loss: 0.5))
    #expect(Set(run(&rate, &link, seconds: 60)) == [1_000_000])
    #expect(rate.framesPerSecond == 30)
  }
}

@Suite("a receiver's reports")
struct ReceiverReportsTests {
  typealias Report = ReceiverReports.Report

  @Test("loss is that since the report before") func loss() {
    var reports = ReceiverReports()
    #expect(reports.receive(Report(lost: 3, highest: 100)) == nil)
    #expect(reports.receive(Report(lost: 3, highest: 100)) == nil)
    #expect(reports.receive(Report(lost: 8, highest: 200)) == LinkReport(lost: 0.05))
    #expect(reports.receive(Report(lost: 8, highest: 300)) == LinkReport(lost: 0))
    // Packets that came twice.
    #expect(reports.receive(Report(lost: 6, highest: 400)) == LinkReport(lost: 0))
  }

  @Test("numbers that go round, and that begin anew") func numbers() {
    var reports = ReceiverReports()
    _ = reports.receive(Report(lost: 0, highest: .max - 49))
    #expect(reports.receive(Report(lost: 10, highest: 50)) == LinkReport(lost: 0.1))
    #expect(reports.receive(Report(lost: 20, highest: 20)) == nil)
    #expect(reports.receive(Report(lost: .max, highest: 120)) == LinkReport(lost: 1))
    #expect(reports.receive(Report(lost: .min, highest: 220)) == LinkReport(lost: 0))
    #expect(reports.receive(Report(lost: 0, highest: 4_000_000_000)) == nil)
  }

  @Test("a wait is what the round trip has more than the shortest one of late") func wait() {
    var reports = ReceiverReports()
    var highest: UInt32 = 0
    func report(_ milliseconds: Int64) -> Int64? {
      highest += 100
      return reports.receive(Report(lost: 0, highest: highest, roundTrip: .milliseconds(milliseconds)))
        .map { $0.wait.count / 1_000_000 }
    }
    _ = report(40)
    #expect(report(40) == 0)
    #expect(report(340) == 295)
    #expect(report(-5) == 0 && report(100_000) == 0)
    // A longer way is the way after some minutes.
    for _ in 0..<400 { _ = report(340) }
    #expect(report(340)! < 5)
  }
}

@Suite("packets that are sent again")
struct RetransmissionBudgetTests {
  private let start = TickInstant(nanoseconds: 5_000_000_000)

  @Test("a quarter of the stream's bits, after a burst of thirty")
  func quarter() {
    var budget = RetransmissionBudget()
    let burst = (0..<100).count { _ in budget.allows(at: start, bitsPerSecond: 960_000) }
    #expect(burst == 30)
    // 25 packets a second are a quarter of it.
    let later = (1...10_000).count {
      budget.allows(at: start + .milliseconds(Int64($0)), bitsPerSecond: 960_000)
    }
    #expect((249...250).contains(later))
  }

  @Test("a clock that stands or steps back gives none")
  func clock() {
    var budget = RetransmissionBudget()
    _ = (0..<30).map { _ in budget.allows(at: start, bitsPerSecond: .max) }
    let instants = [start, TickInstant(nanoseconds: 0), start]
    let allowed = instants.map { budget.allows(at: $0, bitsPerSecond: .max) }
    #expect(allowed == [false, false, true])
  }
}
