import Tactus
import TestSupport
import Testing
import WallTime

@testable import Sprinkler

/// Random settings of the clock and random boots: by seconds, hours, days and years, forward and back.
@Suite("Any clock", .ownThread)
struct WrongClockPropertyTests {
  private static let day: Int64 = 86_400

  private struct History: ~Copyable {
    var world: ScheduleSimulation
    var random: SplitMix64
    /// By how much the wall clock is ahead of the true time, s.
    var wrong: Int64 = 0
    var failures: [String] = []
    /// A rain delay: how long it was asked for, s, when, and how long it may be longer.
    var delay: (asked: Int64, at: TickInstant, more: Int64)?
    var delays = 0

    init(seed: UInt64) throws {
      random = SplitMix64(seed: seed)
      let programs = [
        Garden.program(1, steps: [(1, 60)]), Garden.program(2, starts: [.clock(minute: 1_200)], steps: [(2, 60)]),
      ]
      world = try Garden.world(programs, at: Garden.at(7, 1, 5)) { $0.seen = Garden.at(7, 1, 4) }
      world.isClockSynchronised = random.below(2) == 0
    }

    mutating func pick(_ range: ClosedRange<Int64>) -> Int64 {
      range.lowerBound + Int64(random.below(UInt64(range.upperBound - range.lowerBound + 1)))
    }

    /// 0, seconds, hours, days or years, forward or back.
    mutating func magnitude() -> Int64 {
      let size: Int64 =
        switch pick(0...4) {
        case 0: 0
        case 1: pick(1...120)
        case 2: pick(1...48) * 1_800
        case 3: pick(1...60) * day
        default: pick(1...10) * 365 * day
        }
      return pick(0...1) == 0 ? size : -size
    }

    mutating func look() {
      guard let (asked, at, more) = delay else { return }
      let lasted = (world.now - at).count / 1_000_000_000
      if world.stored.rainDelay == nil {
        if lasted < asked - 1 { failures.append("a delay of \(asked) s lasted \(lasted) s at most") }
        delay = nil
      } else if lasted > asked + more + 2 {
        failures.append("a delay of \(asked) s still lasts after \(lasted) s, \(more) s more were allowed")
        delay = nil
      }
    }

    mutating func run(_ seconds: Int64) {
      var left = seconds
      while left > 0 {
        let piece = delay == nil ? left : min(left, 300)
        world.run(for: .seconds(piece))
        look()
        left -= piece
      }
    }

    mutating func setRight() {
      world.stepClock(by: -wrong)
      wrong = 0
      world.isClockSynchronised = pick(0...1) == 0
    }

    mutating func disturb() {
      switch pick(0...5) {
      case 0, 1:
        let step = magnitude()
        world.isClockSynchronised = false
        wrong += step
        world.stepClock(by: step)
      case 2: setRight()
      case 3:
        let (outage, loss) = (pick(10...20_000), magnitude())
        let wasSynchronised = world.isClockSynchronised
        world.isClockSynchronised = pick(0...1) == 0 && loss == 0 && wrong == 0
        // What was last noted may be ten minutes old, and the time off may be unknown.
        delay?.more += 601 + (wasSynchronised && world.isClockSynchronised ? 0 : outage)
        wrong -= loss
        world.powerCut(for: .seconds(outage), clockLoss: loss)
        look()
        if pick(0...1) == 0 {
          run(pick(1...900))
          setRight()
        }
      case 4: world.kill(for: .seconds(pick(1...3_000)))
      default:
        guard delay == nil, world.stored.rainDelay == nil else { return }
        let asked = pick(1...40) * 3_600
        world.ask(.setRainDelay(seconds: Int(asked)))
        delay = (asked, world.now, 0)
        delays += 1
      }
    }

    mutating func finish() {
      setRight()
      world.isClockSynchronised = true
      run(Int64(26 * 3_600))
      world.settle()
      failures += world.checks.failures
      let end = Garden.at(7, 1, 5) + world.now.nanoseconds / 1_000_000_000
      for program in world.stored.programs {
        for offset in 0..<6 {
          let key = StartKey(
            program: program.id, start: program.starts[0], date: LocalDate(year: 2026, month: 7, day: 1) + offset)
          guard let due = world.scheduler.calendar.instant(of: key.start, on: key.date), due < end - 600 else {
            continue
          }
          let isSaid = world.notices.contains {
            if case .longAbsence(let from, let to) = $0.notice { from <= due && due <= to } else { false }
          }
          if !world.stored.startKeys.contains(key), !isSaid { failures.append("\(key) neither ran nor is it logged") }
        }
      }
      for start in world.stored.suppressed where !world.log.contains(where: { $0.isOf(start) }) {
        failures.append("\(start) made no run and has no line")
      }
      let runs = world.log.filter {
        $0.isScheduled && $0.outcome != .wrongClock && !WateringRecord.withoutRun.contains($0.outcome)
      }
      let keys = world.stored.startKeys.count - world.stored.suppressed.count
      if runs.count + world.stored.pending.count < keys { failures.append("\(keys) starts made \(runs.count) runs") }
    }
  }

  @Test("300 histories: no delay is longer or shorter than asked, every start runs once or is logged")
  func histories() throws {
    var delays = 0
    for seed in 1...300 as ClosedRange<UInt64> {
      var history = try History(seed: seed)
      var lines = 0
      while history.world.now < .zero + .seconds(4 * Self.day) {
        history.run(history.pick(0...30_000))
        history.disturb()
        if history.world.log.count < lines { history.failures.append("a line of the log is lost") }
        lines = history.world.log.count
      }
      history.finish()
      delays += history.delays
      #expect(history.failures.isEmpty, "seed \(seed): \(history.failures.prefix(5))")
      if !history.failures.isEmpty { return }
    }
    #expect(delays > 300)
  }
}
