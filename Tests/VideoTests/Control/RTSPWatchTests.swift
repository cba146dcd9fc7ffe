import Tactus
import Testing

@testable import Video

extension TickInstant {
  fileprivate static func seconds(_ count: Int64) -> TickInstant { .zero + .seconds(count) }
}

@Suite struct RTSPWatchTests {
  @Test("a port that answers: asked every five seconds, and nothing is said")
  func answers() {
    var watch = RTSPWatch(at: .seconds(0))
    #expect(watch.step(nil, at: .seconds(4)) == .nothing)
    for round in 0..<100 as Range<Int64> {
      #expect(watch.step(nil, at: .seconds(5 + round * 6)) == .ask)
      #expect(watch.step(nil, at: .seconds(5 + round * 6)) == .nothing)
      #expect(watch.step(true, at: .seconds(6 + round * 6)) == .nothing)
    }
  }

  @Test(
    "no answer within five seconds: said; the third in a row: started again; an answer between: said, and counted anew")
  func silent() {
    var watch = RTSPWatch(at: .seconds(0))
    func ask(_ answer: Bool?, at second: Int64) -> RTSPWatch.Action {
      #expect(watch.step(nil, at: .seconds(second)) == .ask)
      if answer == nil { #expect(watch.step(nil, at: .seconds(second + 5) - .nanoseconds(1)) == .nothing) }
      return watch.step(answer, at: .seconds(second + 5))
    }
    #expect(ask(nil, at: 5) == .silent)
    #expect(ask(false, at: 15) == .silent)
    #expect(ask(true, at: 25) == .answersAgain)
    #expect(ask(true, at: 35) == .nothing)
    #expect(ask(nil, at: 45) == .silent)
    #expect(ask(nil, at: 55) == .silent)
    #expect(ask(nil, at: 65) == .restart)
  }

  @Test("something else answers, or the connection is refused: as no answer, at once")
  func nonsense() {
    var watch = RTSPWatch(at: .seconds(0))
    #expect(watch.step(nil, at: .seconds(5)) == .ask)
    #expect(watch.step(false, at: .seconds(5)) == .silent)
    #expect(watch.step(nil, at: .seconds(6)) == .nothing)
    #expect(watch.step(nil, at: .seconds(10)) == .ask)
  }
}
