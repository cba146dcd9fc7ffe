import Synchronization
import Tactus
import Testing

@testable import SprinklerDaemon

@Suite("What has closed valves and is being written down")
struct StopsBeingKeptTests {
  private func at(_ milliseconds: Int64) -> TickInstant { TickInstant(nanoseconds: milliseconds * 1_000_000) }

  private final class Answers: Sendable {
    private let given = Mutex<[String?]>([])
    var all: [String?] { given.withLock { $0 } }
    func add(_ result: Result<SprinklerDesk.Done, any Error>) {
      given.withLock { $0.append((try? result.get())?.storeFailure) }
    }
  }

  @Test("a disk that does not answer: the client is told so after 250 ms, once; what opens a valve waits for the disk")
  func overdue() async {
    let (stops, answers, (disk, answer)) = (StopsBeingKept(), Answers(), AsyncStream.makeStream(of: Void.self))
    stops.keep(until: at(0) + StopsBeingKept.patience) {
      for await _ in disk { break }
      return .init(runs: [], programs: [])
    } _: {
      answers.add($0)
    }
    stops.answerOverdue(at: at(249))
    #expect(answers.all == [])
    stops.answerOverdue(at: at(250))
    #expect(answers.all == ["the disk has not answered yet"])
    stops.answerOverdue(at: at(900))
    answer.yield()
    await stops.settled()
    #expect(answers.all.count == 1)
  }

  @Test("two stops: the second is written down behind the first, and each is answered with what came of it")
  func order() async {
    let (stops, answers, began) = (StopsBeingKept(), Answers(), Answers())
    for number in 1...2 {
      let done = SprinklerDesk.Done(runs: [], programs: [], storeFailure: "\(number)")
      stops.keep(until: at(250)) {
        began.add(.success(done))
        return done
      } _: {
        answers.add($0)
      }
    }
    await stops.settled()
    #expect(began.all == ["1", "2"] && answers.all == ["1", "2"])
  }

  @Test("a restore waits for the disk however long that takes")
  func patient() async {
    let (stops, answers, (disk, answer)) = (StopsBeingKept(), Answers(), AsyncStream.makeStream(of: Void.self))
    stops.keep(until: nil) {
      for await _ in disk { break }
      return .init(runs: [], programs: [], storeFailure: "kept")
    } _: {
      answers.add($0)
    }
    stops.answerOverdue(at: at(3_600_000))
    #expect(answers.all == [])
    answer.yield()
    await stops.settled()
    #expect(answers.all == ["kept"])
  }
}
