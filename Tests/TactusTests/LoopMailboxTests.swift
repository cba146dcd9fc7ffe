import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tactus

/// A state that takes a while to publish: whoever looks too early does look in that time.
private struct Wide: BitwiseCopyable, Sendable {
  var words = InlineArray<4096, UInt64>(repeating: 0)
}

/// Adds up its orders; the safe state makes the sum 0.
private struct Summing: ~Copyable, ControlLoop {
  var ends: SmallMailbox.Ends
  var sum = 0

  init(ends: consuming SmallMailbox.Ends) { self.ends = ends }

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    ends.begin(tick)
    while let request = ends.next() {
      sum &+= request.order
      ends.answer(request, .accepted)
    }
    ends.finish(sum, isSafe: sum == 0)
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    ends.beginSafeState(tick)
    sum = 0
    ends.report(-1)
    ends.finish(sum, isSafe: true)
  }
}

@Suite("A loop with its mailbox", .ownThread)
struct LoopMailboxTests {
  @Test("in simulated time: requests are answered at the next release, and the stop publishes the safe state")
  func simulated() throws {
    let mailbox = try SmallMailbox(state: 0, rules: 0)
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .hertz(10), phase: .zero, inputs: [mailbox.loopInput]) { Summing(ends: mailbox.loopEnds()) }
      }
    }
    var requests = mailbox.requestWriter()
    var answers = mailbox.answerReader()
    var notices = mailbox.noticeReader()
    var state = mailbox.state.reader()
    let simulation = try runtime.simulation()
    simulation.run(until: instant(milliseconds: 150))
    for number in UInt64(1)...3 {
      _ = requests.push(
        Request(number: number, issued: instant(milliseconds: 150), makesSafe: false, order: Int(number)))
    }
    simulation.run(until: instant(milliseconds: 199))
    let early = answers.pop()
    #expect(early == nil)
    simulation.run(until: instant(milliseconds: 200))
    for number in UInt64(1)...3 {
      let answer = answers.pop()
      #expect(answer?.number == number && answer?.verdict == .accepted && answer?.at == instant(milliseconds: 200))
    }
    let sum = state.read().state
    #expect(sum == 6)
    simulation.run(until: instant(milliseconds: 250))
    simulation.stop()
    let (told, last) = (notices.pop(), state.read().state)
    #expect(told?.notice == -1 && told?.at == instant(milliseconds: 250) && last == 0)
  }

  @Test("in real time: the button releases a loop whose period is an hour, and its bell wakes who waits for the answer")
  func real() throws {
    let mailbox = try SmallMailbox(state: 0, rules: 0)
    let news = try Doorbell()
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .period(.seconds(3600)), phase: .seconds(3000), inputs: [mailbox.loopInput]
        ) { Summing(ends: mailbox.loopEnds(bell: news.button)) }
      }
    }
    var requests = mailbox.requestWriter()
    var answers = mailbox.answerReader()
    try runtime.start()
    for number in UInt64(1)...20 {
      _ = requests.push(Request(number: number, issued: MonotonicClock.now, makesSafe: false, order: 1))
      mailbox.requestButton.ring()
      var answer: Answer<UInt8>?
      while answer == nil {
        guard news.wait(limit: .seconds(60)) else { break }
        answer = answers.pop()
      }
      #expect(answer?.number == number && answer?.verdict == .accepted)
    }
    runtime.stop()
    let counters = try #require(runtime.statistics["l"]).counters
    #expect(counters.byInput >= 20 && counters.byInput <= 40 && counters.ran == 0)
  }

  @Test("whoever has an answer finds the state that shows its effect published")
  func order() throws {
    let mailbox = try LoopMailbox<UInt64, UInt8, UInt8, Wide, UInt8>(state: Wide(), rules: 0)
    let total: UInt64 = 2_000
    let finished = DispatchSemaphore(value: 0)
    DispatchQueue(label: "loop").async {
      var ends = mailbox.loopEnds()
      // The instant of a tick is the number of the state that it publishes.
      var (published, answered): (Int64, UInt64) = (0, 0)
      while answered < total {
        published += 1
        let now = TickInstant(nanoseconds: published)
        ends.begin(Tick(index: 0, scheduled: now, started: now))
        while let request = ends.next() {
          ends.answer(request, .accepted)
          answered = request.number
        }
        ends.finish(Wide(), isSafe: false)
      }
      finished.signal()
    }
    var requests = mailbox.requestWriter()
    var answers = mailbox.answerReader()
    var (asked, answered, tooEarly): (UInt64, UInt64, Int) = (0, 0, 0)
    let limit = MonotonicClock.now + .seconds(600)
    while answered < total, MonotonicClock.now < limit {
      if asked < total, asked < answered + 8 {
        asked += 1
        _ = requests.push(Request(number: asked, issued: .zero, makesSafe: true, order: asked))
      }
      guard let answer = answers.pop() else {
        sched_yield()
        continue
      }
      answered += 1
      if mailbox.state.version.read() < answer.at.nanoseconds { tooEarly += 1 }
    }
    #expect(answered == total)
    _ = finished.wait(timeout: .now() + 600)
    #expect(tooEarly == 0)
  }

  @Test(
    "a second side of the loop is made when the first is gone, and goes on where that was; while it is there, it traps")
  func again() async throws {
    let mailbox = try SmallMailbox(state: 0, rules: 0)
    var requests = mailbox.requestWriter()
    var answers = mailbox.answerReader()
    for run in UInt64(1)...2 {
      _ = requests.push(Request(number: run, issued: .zero, makesSafe: false, order: 0))
      var ends = mailbox.loopEnds()
      ends.begin(.at(milliseconds: 0))
      var taken: [UInt64] = []
      while let request = ends.next() {
        taken.append(request.number)
        ends.answer(request, .accepted)
      }
      ends.finish(Int(run), isSafe: false)
      let number = answers.pop()?.number
      #expect(taken == [run] && number == run)
    }
    await #expect(processExitsWith: .failure) {
      let mailbox = try SmallMailbox(state: 0, rules: 0)
      let first = mailbox.loopEnds()
      let second = mailbox.loopEnds()
      withExtendedLifetime(mailbox) { _ = (first.dropped, second.dropped) }
    }
  }
}
