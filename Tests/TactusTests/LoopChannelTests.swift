import Testing

@testable import Tactus

/// What `LoopEnds` adds nothing to is tested there: order, bells, bounds.
@Suite("loop channel")
struct LoopChannelTests {
  private typealias Channel = LoopChannel<Int, Int64, Character8, Double>
  private struct Character8: BitwiseCopyable, Sendable, Equatable { var code: UInt8 }

  /// A tick of whoever has the ends.
  private func tick(_ ends: inout Channel.Ends, state: Double, _ body: (inout Channel.Ends) -> Void) {
    ends.begin(Tick(index: 0, scheduled: .zero, started: .zero))
    body(&ends)
    ends.finish(state)
  }

  @Test("a client has the state, answers and notices of a loop, each once and in order")
  func client() {
    let channel = Channel(state: 0.5)
    var ends = channel.loopEnds()
    let client = channel.client()
    #expect(client.newest() == 0.5)
    for request in 1...3 { #expect(client.send(request)) }
    tick(&ends, state: 1.5) { ends in
      while let request = ends.next() { ends.answer(Int64(request) * 10) }
      ends.tell(Character8(code: 7))
      ends.tell(Character8(code: 8))
    }
    #expect(client.newest() == 1.5)
    #expect(client.takeAnswers() == [10, 20, 30] && client.takeAnswers().isEmpty)
    #expect(
      client.nextNotice()?.code == 7 && client.takeNotices() == [Character8(code: 8)] && client.nextNotice() == nil)
  }

  @Test(
    "a full ring: a request is refused, a notice is not told and counted, an answer is lost and counted from the next tick on"
  )
  func full() {
    let channel = Channel(state: 0, requestsPerTick: 3, answers: 2, notices: 1)
    #expect(channel.requestsPerTick == 4 && channel.answerCapacity == 2 && channel.noticeCapacity == 1)
    var ends = channel.loopEnds()
    let client = channel.client()
    #expect((1...5).map { client.send($0) } == [true, true, true, true, false])
    tick(&ends, state: 1) { ends in
      while let request = ends.next() { ends.answer(Int64(request)) }
      let told = [ends.tell(Character8(code: 1)), ends.tell(Character8(code: 2))]
      #expect(told == [true, false] && ends.noticesDropped == 1 && ends.answersDropped == 0)
    }
    #expect(client.takeAnswers() == [1, 2])
    tick(&ends, state: 2) { ends in #expect(ends.answersDropped == 2) }
    #expect(client.send(6) && client.nextAnswer() == nil)
  }

  @Test("ends that are gone leave what they had taken to nobody, and new ones go on where they were")
  func again() {
    let channel = Channel(state: 0)
    let client = channel.client()
    do {
      var ends = channel.loopEnds()
      #expect(client.send(1) && client.send(2))
      ends.begin(Tick(index: 0, scheduled: .zero, started: .zero))
      let first = ends.next()
      #expect(first == 1)
    }
    var ends = channel.loopEnds()
    tick(&ends, state: 1) { ends in
      while let request = ends.next() { ends.answer(Int64(request)) }
    }
    #expect(client.takeAnswers() == [2])
  }
}
