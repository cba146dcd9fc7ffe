import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import Tactus

/// Runs each body on a thread of its own and waits for all of them.
private func together(_ bodies: [@Sendable () -> Void]) {
  let group = DispatchGroup()
  for (number, body) in bodies.enumerated() {
    DispatchQueue(label: "thread \(number)").async(group: group, execute: body)
  }
  group.wait()
}

/// Two halves that are always written together.
private struct Pair: BitwiseCopyable, Sendable {
  var one: UInt64
  var other: UInt64

  init(_ both: UInt64) { (one, other) = (both, both) }

  var isTorn: Bool { one != other }
}

/// What the threads of a test found wrong, and how far its loops are.
private final class Findings: Sendable {
  let torn = Atomic<Int>(0)
  let outOfOrder = Atomic<Int>(0)
  let safeStates = Atomic<Int>(0)

  func note(_ pair: Pair) { if pair.isTorn { torn.add(1, ordering: .relaxed) } }
  func expect(_ isInOrder: Bool) { if !isInOrder { outOfOrder.add(1, ordering: .relaxed) } }
}

private typealias PairMailbox = LoopMailbox<UInt64, UInt8, UInt64, Pair, Pair>

/// Answers every request, and publishes and tells the number of its tick.
private struct Busy: ControlLoop, ~Copyable {
  var ends: PairMailbox.Ends
  let findings: Findings
  /// Rung in the safe state.
  let safe: DoorbellButton
  var ticks: UInt64 = 0

  mutating func tick(_ tick: Tick) {
    ticks += 1
    ends.begin(tick)
    findings.note(ends.rules)
    while let request = ends.next() { ends.answer(request, .accepted) }
    ends.report(ticks)
    ends.finish(Pair(ticks), isSafe: false)
  }

  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    ends.beginSafeState(tick)
    ends.finish(Pair(ticks), isSafe: true)
    guard case .externalStop = cause else { return }
    findings.safeStates.add(1, ordering: .relaxed)
    safe.ring()
  }
}

/// Every way in which threads meet here, with real threads on both sides. Under ThreadSanitizer these tests show that all that one thread
/// writes and another reads is ordered: see Tests/Threads.
@Suite("Between threads", .ownThread)
struct ThreadTests {
  @Test("one writes a latest value, three read it: none is torn, older than the one before, or newer than its number")
  func latest() {
    let latest = Latest(Pair(0))
    let findings = Findings()
    let total: UInt64 = 20_000
    let write: @Sendable () -> Void = {
      var writer = latest.writer()
      for number in 1...total { writer.write(Pair(number)) }
    }
    let read: @Sendable () -> Void = {
      var reader = latest.reader()
      var last: UInt64 = 0
      while last < total {
        let pair = reader.read()
        findings.note(pair)
        findings.expect(last <= pair.one && pair.one <= latest.version.read())
        last = pair.one
      }
    }
    together([write, read, read, read])
    #expect(findings.torn.load(ordering: .relaxed) == 0 && findings.outOfOrder.load(ordering: .relaxed) == 0)
  }

  @Test("a tick's log on two threads: every entry that was not counted as lost arrives, in order")
  func tickLog() {
    let log = TickLog(capacity: 16)
    let findings = Findings()
    let total = 20_000
    let arrived = Atomic<Int>(0)
    let ended = Atomic<Bool>(false)
    together([
      {
        var writer = log.writer()
        for number in 1...total {
          writer.write(.info, "entry {}", Double(number), at: TickInstant(nanoseconds: Int64(number)))
        }
        ended.store(true, ordering: .releasing)
      },
      {
        var reader = log.reader()
        var last: Int64 = 0
        while true {
          let isLast = ended.load(ordering: .acquiring)
          guard let entry = reader.pop() else {
            if isLast { return }
            continue
          }
          let number = entry.at.nanoseconds
          findings.expect(number == last + 1 + Int64(entry.lost) && entry.numbers == [Double(number)])
          last = number
          arrived.add(1, ordering: .relaxed)
        }
      },
    ])
    #expect(findings.outOfOrder.load(ordering: .relaxed) == 0)
    #expect(arrived.load(ordering: .relaxed) + log.lost == total)
  }

  @Test("stops are noted while two threads read them: each instant is that of its own number, or no longer kept")
  func stops() {
    let stops = ExternalStops()
    let findings = Findings()
    let total: UInt64 = 5_000
    let read: @Sendable () -> Void = {
      var last: UInt64 = 0
      while last < total {
        let count = stops.count
        findings.expect(count >= last)
        for number in [count, count > 400 ? count - 400 : 1] {
          if let instant = stops.instant(of: number) { findings.expect(instant.nanoseconds == Int64(number)) }
        }
        last = count
      }
    }
    together([{ for number in 1...total { stops.note(at: TickInstant(nanoseconds: Int64(number))) } }, read, read])
    #expect(findings.outOfOrder.load(ordering: .relaxed) == 0)
  }

  @Test("three threads push and ring one bell: who waits for it misses nothing")
  func bell() throws {
    let bell = try Doorbell()
    let rings = (0..<3).map { _ in Ring<UInt64>(capacity: 8) }
    let total: UInt64 = 2_000
    let findings = Findings()
    let writers = rings.map { ring -> @Sendable () -> Void in
      {
        var writer = ring.writer()
        for number in 1...total {
          while !writer.push(number) { sched_yield() }
          bell.button.ring()
        }
      }
    }
    let reader: @Sendable () -> Void = {
      var taken: UInt64 = 0
      // The second after the last element may be the ring that belongs to it.
      while taken < total * UInt64(rings.count), bell.wait(limit: .seconds(60)) {
        for ring in rings {
          var reader = ring.reader()
          while reader.pop() != nil { taken += 1 }
        }
      }
      findings.expect(taken == total * UInt64(rings.count))
    }
    together(writers + [reader])
    #expect(findings.outOfOrder.load(ordering: .relaxed) == 0)
  }

  @Test(
    "a runtime in real time, with clients, readers, changes of rates and rules, and stops from outside, all at once")
  func runtime() throws {
    let (findings, stops) = (Findings(), ExternalStops())
    let (news, safe) = (try Doorbell(), try Doorbell())
    let mailboxes = try (0..<2).map { _ in try PairMailbox(state: Pair(0), rules: Pair(0)) }
    let runtime = try Runtime(externalStops: stops) {
      for (number, mailbox) in mailboxes.enumerated() {
        Lane("lane \(number)") {
          Loop("loop \(number)", every: .hertz(1000), inputs: [mailbox.loopInput]) {
            Busy(ends: mailbox.loopEnds(bell: news.button), findings: findings, safe: safe.button)
          }
        }
      }
    }
    try runtime.start()
    let running = Atomic<Bool>(true)
    let rounds = 50
    let clients = mailboxes.map { mailbox -> @Sendable () -> Void in { client(of: mailbox, requests: 300, findings) } }
    let readers = mailboxes.map { mailbox -> @Sendable () -> Void in
      { while running.load(ordering: .acquiring) { readAll(of: mailbox, runtime, findings) } }
    }
    let changes: @Sendable () -> Void = {
      for round in 0..<rounds {
        findings.expect((try? runtime.setRates(["loop 0": .hertz(round % 2 == 0 ? 500 : 1000)])) != nil)
        mailboxes[1].rules.set(Pair(UInt64(round)))
      }
    }
    let stop: @Sendable () -> Void = {
      for round in 1...rounds {
        stops.note(at: MonotonicClock.now)
        while findings.safeStates.load(ordering: .relaxed) < 2 * round, safe.wait(limit: .seconds(60)) {}
      }
    }
    let all = DispatchGroup()
    for reader in readers { DispatchQueue(label: "reader").async(group: all, execute: reader) }
    together(clients + [changes, stop])
    running.store(false, ordering: .releasing)
    all.wait()
    runtime.stop()
    #expect(findings.torn.load(ordering: .relaxed) == 0 && findings.outOfOrder.load(ordering: .relaxed) == 0)
    #expect(findings.safeStates.load(ordering: .relaxed) == 2 * rounds)
  }
}

/// Sends requests and takes the answers: each has one, in order, and its effect is published by then.
private func client(of mailbox: PairMailbox, requests: UInt64, _ findings: Findings) {
  var writer = mailbox.requestWriter()
  var answers = mailbox.answerReader()
  var notices = mailbox.noticeReader()
  var (asked, answered): (UInt64, UInt64) = (0, 0)
  let limit = MonotonicClock.now + .seconds(600)
  while answered < requests, MonotonicClock.now < limit {
    if asked < requests, asked < answered + 8 {
      asked += 1
      findings.expect(writer.push(Request(number: asked, issued: .zero, makesSafe: true, order: asked)))
      mailbox.requestButton.ring()
    }
    while notices.pop() != nil {}
    guard let answer = answers.pop() else {
      sched_yield()
      continue
    }
    answered += 1
    findings.expect(answer.number == answered)
  }
  findings.expect(answered == requests)
}

/// All that may be read while a runtime runs.
private func readAll(of mailbox: PairMailbox, _ runtime: Runtime, _ findings: Findings) {
  var state = mailbox.state.reader()
  let first = state.read().state
  findings.note(first)
  findings.note(mailbox.rules.inEffect)
  for loop in runtime.statistics.loops {
    let counters = loop.counters
    findings.expect(counters.ran <= counters.released + counters.byInput)
  }
  for progress in runtime.progress { findings.expect(progress.isRunning && progress.version.read() > 0) }
  findings.expect(runtime.reports.count == 2 && runtime.findings.allSatisfy { !$0.description.isEmpty })
  let second = state.read().state
  findings.note(second)
  findings.expect(first.one <= second.one)
}
