import Synchronization
import Tactus
import Testing

@testable import Service

@Suite("The mailbox")
struct MailboxTests {
  private struct Answer: MailboxAnswer { var number: UInt64 }

  @Test("answers that were there are handed out after `before`; one that comes during it waits for the next call")
  func before() {
    let (requests, answers) = (Ring<UInt64>(capacity: 4), Ring<Answer>(capacity: 4))
    let mailbox = Mailbox<UInt64, Answer>(
      of: "test", requests: requests.writer(), answers: answers.reader(), requestsPerTick: 64,
      newestTick: { .zero }, ring: {}, now: { .zero })
    let done = Mutex<[UInt64]>([])
    for _ in 0..<2 {
      mailbox.send(isStop: true) { number, _ in
        number
      } _: { result in
        done.withLock { $0.append((try? result.get().number) ?? 0) }
      }
    }
    var loop = answers.writer()
    _ = loop.push(Answer(number: 1))
    var calls = 0
    mailbox.takeAnswers(at: .zero) {
      calls += 1
      #expect(done.withLock { $0 }.isEmpty, "nobody has an answer yet")
      // What the loop told before this one is not known to whoever is called now.
      _ = loop.push(Answer(number: 2))
    }
    #expect(calls == 1 && done.withLock { $0 } == [1])
    mailbox.takeAnswers(at: .zero)
    #expect(done.withLock { $0 } == [1, 2])
  }
}
