import Testing

@testable import Tactus

@Suite("A loop's client")
struct LoopClientTests {
  private func request(_ order: Int) -> Request<Int> {
    Request(number: UInt64(order), issued: .zero, makesSafe: false, order: order)
  }

  /// A tick of whoever has the ends.
  private func tick(_ ends: inout SmallMailbox.Ends, state: Int, _ body: (inout SmallMailbox.Ends) -> Void) {
    ends.begin(.at(milliseconds: 0))
    body(&ends)
    ends.finish(state, isSafe: false)
  }

  @Test("a client has the state, answers and notices of a loop, each once and in order")
  func client() throws {
    let mailbox = try SmallMailbox(state: 5, rules: 0)
    var ends = mailbox.loopEnds()
    let client = mailbox.client()
    #expect(client.newest().state == 5)
    for order in 1...3 { #expect(client.send(request(order))) }
    tick(&ends, state: 15) { ends in
      while let request = ends.next() { ends.answer(request, .refused(UInt8(request.order) * 10)) }
      ends.report(7)
      ends.report(8)
    }
    #expect(client.newest().state == 15)
    #expect(client.takeAnswers().map(\.verdict) == [.refused(10), .refused(20), .refused(30)])
    #expect(client.takeAnswers().isEmpty && client.nextNotice()?.notice == 7)
    #expect(client.takeNotices().map(\.notice) == [8] && client.nextNotice() == nil)
  }

  @Test(
    "a full ring: a request is refused, a notice is not told and counted, an answer is lost and counted from the next tick on"
  )
  func full() throws {
    let mailbox = try SmallMailbox(state: 0, rules: 0, requestsPerTick: 3, answers: 2, notices: 1)
    #expect(mailbox.requestsPerTick == 4 && mailbox.answerCapacity == 2 && mailbox.noticeCapacity == 1)
    var ends = mailbox.loopEnds()
    let client = mailbox.client()
    #expect((1...5).map { client.send(request($0)) } == [true, true, true, true, false])
    tick(&ends, state: 1) { ends in
      while let request = ends.next() { ends.answer(request, .accepted) }
      let told = [ends.report(1), ends.report(2)]
      #expect(told == [true, false] && ends.lostNotices == 1 && ends.lostAnswers == 0)
    }
    #expect(client.takeAnswers().map(\.number) == [1, 2])
    tick(&ends, state: 2) { ends in #expect(ends.lostAnswers == 2) }
    #expect(client.send(request(6)) && client.nextAnswer() == nil)
  }

  @Test("ends that are gone leave what they had taken to nobody, and new ones go on where they were")
  func again() throws {
    let mailbox = try SmallMailbox(state: 0, rules: 0)
    let client = mailbox.client()
    do {
      var ends = mailbox.loopEnds()
      #expect(client.send(request(1)) && client.send(request(2)))
      ends.begin(.at(milliseconds: 0))
      let first = ends.next()?.order
      #expect(first == 1)
    }
    var ends = mailbox.loopEnds()
    tick(&ends, state: 1) { ends in
      while let request = ends.next() { ends.answer(request, .accepted) }
    }
    #expect(client.takeAnswers().map(\.number) == [2])
  }
}
