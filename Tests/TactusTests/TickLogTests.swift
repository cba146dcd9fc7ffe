import Dispatch
import TestSupport
import Testing

@testable import Tactus

/// Says which period it is in, every tenth tick, and every thousandth in a burst.
private struct Talking: ~Copyable, ControlLoop, NoOutput {
  var log: TickLogWriter

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    if tick.index % 10 == 0 { log.write(.info, "tick {}", Double(tick.index), at: tick.started) }
    if tick.index % 1_000 == 0 {
      for number in 0..<20 { log.write(.warning, "{} of {}", Double(number), 20, at: tick.started) }
    }
  }
}

@Suite("Log of a tick", .ownThread)
struct TickLogTests {
  @Test(
    "any order of writing and reading: every message arrives once and in order, or is counted as lost where it is missing"
  )
  func model() {
    for seed in 1...40 as ClosedRange<UInt64> {
      var random = SplitMix64(seed: seed)
      let size = 1 << Int(random.next() % 5)
      let log = TickLog(capacity: size)
      var writer = log.writer()
      var reader = log.reader()
      // The model: what waits, each with what was lost before it.
      var waiting: [(number: Int, lost: Int)] = []
      var (written, read, lost, lostSince) = (0, 0, 0, 0)
      for _ in 0..<2_000 {
        if random.next() % 5 < 3 {
          writer.write(.info, "number {}", Double(written), at: TickInstant(nanoseconds: Int64(written)))
          if waiting.count < size {
            waiting.append((written, lostSince))
            lostSince = 0
          } else {
            lost += 1
            lostSince += 1
          }
          written += 1
        } else if waiting.isEmpty {
          let entry = reader.pop()
          #expect(entry == nil)
        } else {
          let expected = waiting.removeFirst()
          let entry = reader.pop()
          #expect(entry?.numbers == [Double(expected.number)])
          #expect(entry?.at.nanoseconds == Int64(expected.number))
          #expect(entry?.lost == expected.lost)
          read += 1
        }
        #expect(log.lost == lost)
      }
      #expect(written == read + waiting.count + lost, "seed \(seed)")
    }
  }

  @Test("read while the other end writes: what arrives and what is lost before it are all that was written")
  func threads() {
    let log = TickLog(capacity: 64)
    let total = 200_000
    let isRead = DispatchSemaphore(value: 0)
    let finished = DispatchSemaphore(value: 0)
    DispatchQueue(label: "writer").async {
      var writer = log.writer()
      for number in 0..<total { writer.write(.info, "{}", Double(number), at: .zero) }
      finished.signal()
      // Once the reader has made room, the last message arrives.
      isRead.wait()
      writer.write(.error, "end", at: .zero)
      finished.signal()
    }
    var reader = log.reader()
    var (expected, lost, isLast, isOver) = (0, 0, false, false)
    while !isLast {
      if !isOver, finished.wait(timeout: .now()) == .success { isOver = true }
      while let entry = reader.pop() {
        expected += entry.lost
        lost += entry.lost
        isLast = entry.level == .error
        if !isLast, entry.numbers != [Double(expected)] { Issue.record("expected \(expected), got \(entry)") }
        expected += 1
      }
      if isOver { isRead.signal() }
    }
    finished.wait()
    #expect(expected == total + 1)
    #expect(lost == log.lost)
  }

  @Test(
    "in simulated time: the instants are the simulation's, a burst beyond the capacity is counted, two runs are alike")
  func simulated() throws {
    func run() throws -> (lines: [String], lost: Int) {
      let log = TickLog(capacity: 16)
      let runtime = try Runtime {
        Lane("a") { Loop("talking", every: .hertz(1_000), phase: .zero) { Talking(log: log.writer()) } }
      }
      let simulation = try runtime.simulation(seed: 1)
      var reader = log.reader()
      var lines: [String] = []
      for _ in 0..<21 {
        simulation.run(for: .milliseconds(50))
        while let line = reader.pop() { lines.append(line.description) }
      }
      return (lines, log.lost)
    }
    let (lines, lost) = try run()
    // Ticks 0…1,050: one message every ten, and two bursts of 20. Of the first 26 messages, up to 50 ms, 16 find a place; the
    // second burst finds five messages waiting, and its last nine find none.
    #expect(lines.prefix(2) == ["0.000000000 s info: tick 0", "0.000000000 s warning: 0 of 20"])
    #expect(lines[16] == "0.060000000 s info: tick 60 (10 messages lost before)")
    #expect(lines.contains("1.010000000 s info: tick 1010 (9 messages lost before)"))
    let again = try run()
    #expect(again.lines == lines && again.lost == lost)
    let written = 106 + 2 * 20
    #expect(lines.count + lost == written)
  }

  @Test("numbers stand where the message has {}, whole ones without decimals; those without a place follow")
  func texts() {
    let log = TickLog(capacity: 16)
    var writer = log.writer()
    var reader = log.reader()
    let at = TickInstant(nanoseconds: 12_345_000_000)
    writer.write(.warning, "tilt {} rad, limit {}", 0.52, 0.5, at: at)
    writer.write(.info, "none", at: at)
    writer.write(.debug, "{} {} {} {}", 1, -2, 3.5, .infinity, at: at)
    writer.write(.error, "rest {", 1, 2, at: at)
    writer.write(.error, "{} of {}", 1, at: at)
    writer.write(.error, "größer: {} °", .nan, at: at)
    var texts: [String] = []
    while let entry = reader.pop() { texts.append(entry.text) }
    #expect(
      texts == ["tilt 0.52 rad, limit 0.5", "none", "1 -2 3.5 inf", "rest { 1 2", "1 of {}", "größer: nan °"])
    writer.write(.warning, "tilt {} rad", 0.52, at: at)
    #expect(reader.pop()?.description == "12.345000000 s warning: tilt 0.52 rad")
  }
}

@Suite("Log of a tick, watched")
struct TickLogSanitizerTests {
  @Test("100,000 ticks that log, the log full at times")
  func ticks() throws {
    let log = TickLog(capacity: 64)
    let runtime = try Runtime {
      Lane("a") { Loop("talking", every: .hertz(1_000), phase: .zero) { Talking(log: log.writer()) } }
    }
    let simulation = try runtime.simulation(seed: 1)
    var reader = log.reader()
    var read = 0
    for _ in 0..<100 {
      simulation.run(for: .seconds(1))
      while reader.pop() != nil { read += 1 }
    }
    #expect(log.lost > 0 && read > 0)
  }
}
