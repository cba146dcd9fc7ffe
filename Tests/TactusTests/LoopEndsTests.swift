import TestSupport
import Testing

@testable import Tactus

@Suite("A loop's ends", .ownThread)
struct LoopEndsTests {
  @Test("answers come when the tick finishes, in the order of their requests, with number, verdict and instant")
  func answers() throws {
    let bench = try LoopEndsBench()
    for order in 1...3 { bench.ask(order, client: UInt32(order)) }
    bench.ends.begin(.at(milliseconds: 10))
    var clients: [UInt32] = []
    while let request = bench.ends.next() {
      clients.append(request.client)
      bench.ends.answer(request, request.order == 2 ? .refused(7) : .accepted)
    }
    let early = bench.takeAnswers()
    #expect(early.isEmpty && !bench.hasRung && bench.state.read().state == -1)
    bench.ends.finish(5, isSafe: false)
    let answers = bench.takeAnswers()
    #expect(clients == [1, 2, 3])
    #expect(answers.map(\.number) == [1, 2, 3])
    #expect(answers.map(\.verdict) == [.accepted, .refused(7), .accepted])
    #expect(answers.allSatisfy { $0.at == instant(milliseconds: 10) })
    #expect(bench.state.read().state == 5 && bench.hasRung)
  }

  @Test("nothing to tell: the state is published and nobody is woken; a notice wakes, with its instant")
  func notices() throws {
    let bench = try LoopEndsBench()
    bench.acceptAll(.at(milliseconds: 10), state: 1)
    #expect(bench.state.read().state == 1 && !bench.hasRung)
    bench.ends.begin(.at(milliseconds: 20))
    bench.ends.report(42)
    #expect(!bench.hasRung)
    bench.ends.finish(2, isSafe: false)
    #expect(bench.hasRung)
    let told = bench.takeNotices()
    #expect(told.map(\.notice) == [42] && told.map(\.at) == [instant(milliseconds: 20)])
    bench.acceptAll(.at(milliseconds: 30), state: 3)
    #expect(!bench.hasRung && bench.ends.dropped == 0)
  }

  @Test(
    "a request that is older than the loop's patience is answered stale and not carried out; one of just that age is")
  func stale() throws {
    let bench = try LoopEndsBench()
    bench.ask(1, issued: instant(milliseconds: 750))
    bench.ask(2, issued: TickInstant(nanoseconds: instant(milliseconds: 750).nanoseconds - 1))
    bench.ask(3, issued: instant(milliseconds: 2000))  // made after the tick began
    bench.ask(4, issued: TickInstant(nanoseconds: .min))
    bench.ask(5, issued: .distantFuture)
    let orders = bench.acceptAll(.at(milliseconds: 1000))
    #expect(orders == [1, 3, 5])
    let answers = bench.takeAnswers()
    #expect(answers.map(\.verdict) == [.accepted, .stale, .accepted, .stale, .accepted])
    #expect(answers.map(\.number) == [1, 2, 3, 4, 5])
  }

  @Test("a stop that came otherwise, and a safe state: what was asked for before is stale, what makes safe is not")
  func stopped() throws {
    let bench = try LoopEndsBench()
    let (before, at) = (instant(milliseconds: 990), instant(milliseconds: 995))
    bench.ask(1, issued: instant(milliseconds: 999), asked: before)
    bench.ask(2, issued: instant(milliseconds: 999), asked: at)
    bench.ask(3, issued: before, makesSafe: true)
    bench.ask(4, issued: before)
    bench.ends.stopped(at: at)
    bench.ends.stopped(at: before)
    #expect(bench.acceptAll(.at(milliseconds: 1000)) == [2, 3])
    #expect(bench.takeAnswers().map(\.verdict) == [.stale, .accepted, .accepted, .stale])
    bench.ask(5, issued: instant(milliseconds: 1009))
    bench.ends.beginSafeState(.at(milliseconds: 1010))
    bench.ends.finish(0, isSafe: true)
    bench.ask(6, issued: instant(milliseconds: 1010))
    #expect(bench.acceptAll(.at(milliseconds: 1020)) == [6])
    // A safe state that only finishes is one, too.
    bench.ask(7, issued: instant(milliseconds: 1025))
    bench.ends.finish(0, isSafe: true)
    bench.ask(8, issued: instant(milliseconds: 1040))
    bench.ask(9, issued: instant(milliseconds: 1025), makesSafe: true)
    #expect(bench.acceptAll(.at(milliseconds: 1040)) == [8, 9])
    bench.ask(10, issued: instant(milliseconds: 1039))
    #expect(bench.acceptAll(.at(milliseconds: 1050)).isEmpty, "it was asked for before that safe state was over")
  }

  @Test("a loop that publishes its state before its first tick was not in a safe state: what waits is taken")
  func publishedFirst() throws {
    let bench = try LoopEndsBench()
    bench.ask(1, issued: instant(milliseconds: 5))
    bench.ends.finish(0, isSafe: true)
    #expect(bench.acceptAll(.at(milliseconds: 10)) == [1])
  }

  @Test(
    "a loop that stood still for a second, as in a frozen process: for two seconds more what is asked is stale, as it may have waited in a socket; what makes safe is not",
    arguments: [(missed: Int64(0), late: Int64(1000)), (missed: 40, late: 3)])
  func stoodStill(missed: Int64, late: Int64) throws {
    let bench = try LoopEndsBench()
    bench.acceptAll(.at(milliseconds: 1000))
    bench.ask(1, issued: instant(milliseconds: 2000))
    bench.ask(2, issued: instant(milliseconds: 2000), makesSafe: true)
    let tick = Tick(
      index: 50, scheduled: instant(milliseconds: 2000 - late), started: instant(milliseconds: 2000), missed: missed)
    #expect(bench.acceptAll(tick) == [2] && bench.ends.hasBacklog)
    bench.ask(3, issued: instant(milliseconds: 3999))
    #expect(bench.acceptAll(.at(milliseconds: 3999)).isEmpty && bench.ends.hasBacklog)
    bench.ask(4, issued: instant(milliseconds: 3999))
    bench.ask(5, issued: instant(milliseconds: 4000))
    #expect(bench.acceptAll(.at(milliseconds: 4000)) == [5] && !bench.ends.hasBacklog)
    #expect(bench.takeAnswers().map(\.verdict) == [.stale, .accepted, .stale, .stale, .accepted])
  }

  @Test("a loop that is late by less than a second, or has a long period, did not stand still")
  func notStill() throws {
    let bench = try LoopEndsBench()
    bench.acceptAll(.at(milliseconds: 1000))
    bench.ask(1, issued: instant(milliseconds: 11_000))
    #expect(bench.acceptAll(.at(milliseconds: 11_000)) == [1])
    bench.ask(2, issued: instant(milliseconds: 11_999))
    let late = Tick(
      index: 2, scheduled: instant(milliseconds: 11_001), started: instant(milliseconds: 11_999), missed: 1)
    #expect(bench.acceptAll(late) == [2] && !bench.ends.hasBacklog)
  }

  @Test("the first tick, also if releases before it were missed: nothing has stood still, and requests are taken")
  func begins() throws {
    let bench = try LoopEndsBench()
    bench.ask(1, issued: instant(milliseconds: 5000))
    let tick = Tick(
      index: 3, scheduled: instant(milliseconds: 4990), started: instant(milliseconds: 5000), missed: 3)
    #expect(bench.acceptAll(tick) == [1] && !bench.ends.hasBacklog)
  }

  @Test("a request that makes safe never becomes stale")
  func makesSafe() throws {
    let bench = try LoopEndsBench()
    bench.ask(1, issued: .zero)
    bench.ask(2, issued: .zero, makesSafe: true)
    let orders = bench.acceptAll(.at(milliseconds: 3_600_000))
    #expect(orders == [2])
    #expect(bench.takeAnswers().map(\.verdict) == [.stale, .accepted])
  }

  @Test("a tick takes all that the ring can hold, and no more; what is pushed meanwhile waits for the next tick")
  func bounded() throws {
    let bench = try LoopEndsBench(requestsPerTick: 3)
    #expect(bench.mailbox.requestsPerTick == 4)
    for order in 1...4 { bench.ask(order) }
    let isTaken = bench.ask(5)
    #expect(!isTaken)
    bench.ends.begin(.at(milliseconds: 0))
    var orders: [Int] = []
    while let request = bench.ends.next() {
      orders.append(request.order)
      bench.ask(100)
    }
    #expect(orders == [1, 2, 3, 4])
    bench.ends.finish(0, isSafe: false)
    #expect(bench.acceptAll(.at(milliseconds: 1)) == [100, 100, 100, 100])
  }

  @Test(
    "rings that nobody reads: what does not fit is counted, what was there before is still there, and nothing blocks")
  func full() throws {
    let bench = try LoopEndsBench()
    let (answers, notices) = (bench.mailbox.answerCapacity, bench.mailbox.noticeCapacity)
    for round in 0..<(answers / 64 + 1) {
      for _ in 0..<64 { bench.ask() }
      bench.acceptAll(.at(milliseconds: Int64(round)))
    }
    #expect(bench.ends.dropped == 64)
    bench.ends.begin(.at(milliseconds: 1000))
    for notice in 0..<(notices + 3) { bench.ends.report(notice) }
    bench.ends.finish(9, isSafe: false)
    #expect(bench.ends.dropped == 64 + 3)
    #expect(bench.takeAnswers().map(\.number) == (1...UInt64(answers)).map { $0 })
    #expect(bench.takeNotices().map(\.notice) == Array(0..<notices))
    let published = bench.state.read()
    #expect(published.state == 9 && published.noticesDropped == 3 && published.answersDropped == 64)
    // There is room again.
    bench.ask()
    bench.acceptAll(.at(milliseconds: 1001))
    #expect(bench.takeAnswers().map(\.number) == [bench.last] && bench.ends.dropped == 67)
  }

  @Test("a safe state finishes without having begun: no answer is sent twice, and its notices bear its own instant")
  func safeState() throws {
    let bench = try LoopEndsBench()
    bench.ask()
    bench.acceptAll(.at(milliseconds: 10), state: 1)
    #expect(bench.takeAnswers().count == 1 && bench.hasRung)
    bench.ends.finish(2, isSafe: true)
    #expect(bench.takeAnswers().isEmpty && !bench.hasRung && bench.state.read().state == 2)
    bench.ends.beginSafeState(.at(milliseconds: 30))
    bench.ends.report(1)
    bench.ends.finish(3, isSafe: true)
    #expect(bench.takeNotices().map(\.at) == [instant(milliseconds: 30)])
    #expect(bench.takeAnswers().isEmpty && bench.hasRung && bench.state.read().state == 3)
  }

  @Test("answers of a tick that did not finish are sent by the next that does")
  func unfinished() throws {
    let bench = try LoopEndsBench()
    bench.ask()
    bench.ends.begin(.at(milliseconds: 10))
    let request = try #require(bench.next())
    bench.ends.answer(request, .accepted)
    bench.ask()
    bench.acceptAll(.at(milliseconds: 20))
    let answers = bench.takeAnswers()
    #expect(
      answers.map(\.number) == [1, 2] && answers.map(\.at) == [instant(milliseconds: 10), instant(milliseconds: 20)])
  }

  @Test("a later tick may answer; more answers than were asked for are counted, not written past the end")
  func later() throws {
    let bench = try LoopEndsBench(requestsPerTick: 1)
    bench.ask()
    bench.ends.begin(.at(milliseconds: 10))
    let first = try #require(bench.next())
    bench.ends.finish(0, isSafe: false)
    bench.ask()
    bench.ends.begin(.at(milliseconds: 20))
    bench.ends.answer(first, .accepted)
    let second = try #require(bench.next())
    bench.ends.answer(second, .accepted)
    for _ in 0..<5 { bench.ends.answer(second, .refused(1)) }
    bench.ends.finish(0, isSafe: false)
    #expect(bench.takeAnswers().map(\.number) == [1, 2])
    #expect(bench.ends.dropped == 5)
  }

  @Test("the bell of requests is cleared by the tick that takes them, and by every tick that an input has released")
  func bell() throws {
    let bench = try LoopEndsBench()
    bench.ask()
    bench.mailbox.requestButton.ring()
    bench.acceptAll(.at(milliseconds: 10))
    #expect(!bench.requestBellIsRung)
    bench.mailbox.requestButton.ring()
    bench.acceptAll(.at(milliseconds: 20, cause: .input))
    #expect(!bench.requestBellIsRung)
    // Rung after a tick that has taken the request already: the loop is released once more and finds nothing.
    bench.mailbox.requestButton.ring()
    bench.acceptAll(.at(milliseconds: 30))
    #expect(bench.requestBellIsRung)
  }

  @Test(
    "rules are taken when a tick begins; a safe state leaves them to the next tick, which may then have the wider ones")
  func rules() throws {
    let bench = try LoopEndsBench()
    let box = bench.mailbox.rules
    box.commit(box.propose(), now: 1, whenSafe: 2)
    #expect(bench.ends.rules == 0)
    bench.ends.beginSafeState(.at(milliseconds: 5))
    #expect(bench.ends.rules == 0)
    bench.acceptAll(.at(milliseconds: 10))
    #expect(bench.ends.rules == 1)
    bench.ends.finish(0, isSafe: true)
    #expect(bench.ends.rules == 1)
    bench.ends.begin(.at(milliseconds: 20))
    #expect(bench.ends.rules == 2)
  }
}
