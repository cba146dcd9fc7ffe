import Tactus
import Testing

@testable import TactusDaemon

@Suite("what the supervisor tells the main thread")
struct SupervisorNewsTests {
  @Test("of the beats that waited only the newest counts, once; all else is told in its order")
  func newest() {
    let at = { (seconds: Int64) in TickInstant.zero + .seconds(seconds) }
    var waiting: [SupervisorNotice] = [
      .beat(at(1)), .resumed(loop: 2), .pulse, .beat(at(2)), .guardHangs(at(2)), .beat(at(3)), .pulse,
    ]
    let news = SupervisorNews { waiting.isEmpty ? nil : waiting.removeFirst() }
    #expect(news.beat == at(3) && news.hasPulse && waiting.isEmpty)
    #expect(news.others.count == 2)
    if case .resumed(let loop)? = news.others.first { #expect(loop == 2) } else { Issue.record("another order") }
    if case .guardHangs? = news.others.last {} else { Issue.record("another order") }
    let none = SupervisorNews { nil }
    #expect(none.beat == nil && !none.hasPulse && none.others.isEmpty)
  }

  @Test("a machine on which there is always one more beat: the main thread goes on to the signals")
  func always() {
    var count: Int64 = 0
    let news = SupervisorNews {
      count += 1
      return .beat(.zero + .seconds(count))
    }
    #expect(news.beat == .zero + .seconds(count) && count == Int64(SupervisorNews.most))
  }
}
