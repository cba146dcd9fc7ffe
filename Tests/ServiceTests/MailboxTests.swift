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

  @Test("a flood of drives: sixteen places of the ring are left, and every stop finds one")
  func stopsHavePlaces() {
    let (requests, answers) = (Ring<UInt64>(capacity: 64), Ring<Answer>(capacity: 256))
    let mailbox = Mailbox<UInt64, Answer>(
      of: "test", requests: requests.writer(), answers: answers.reader(), requestsPerTick: 64,
      newestTick: { .zero }, ring: {}, now: { .zero })
    let refused = Mutex(0)
    func send(_ count: Int, isStop: Bool) {
      for _ in 0..<count {
        mailbox.send(isStop: isStop) { number, _ in
          number
        } _: { result in
          if case .failure = result { refused.withLock { $0 += 1 } }
        }
      }
    }
    send(1_000, isStop: false)
    #expect(refused.withLock { $0 } == 1_000 - 48)
    send(16, isStop: true)
    #expect(refused.withLock { $0 } == 1_000 - 48, "a stop is refused")
  }

  @Test("a stop overtakes what was asked for before it: void, whatever its part; what is asked for later is not")
  func overtaking() {
    let (requests, answers) = (Ring<UInt64>(capacity: 64), Ring<Answer>(capacity: 256))
    let mailbox = Mailbox<UInt64, Answer>(
      of: "test", requests: requests.writer(), answers: answers.reader(), requestsPerTick: 64,
      newestTick: { .zero }, ring: {}, now: { .zero })
    /// Returns the code of the refusal, or "sent".
    func send(_ part: SystemPart?, at milliseconds: Int64, isStop: Bool = false) -> String {
      let asked = part.map { Asked($0, at: .zero + .milliseconds(milliseconds)) }
      let code = Mutex("sent")
      mailbox.send(isStop: isStop, asked) { number, _ in
        number
      } _: { result in
        if case .failure(let error) = result { code.withLock { $0 = error.code } }
      }
      return code.withLock { $0 }
    }
    #expect(send(.item(3), at: 1) == "sent", "nothing has been stopped yet")
    #expect(send(.item(3), at: 10, isStop: true) == "sent")
    #expect(send(.item(3), at: 9) == "OVERTAKEN")
    #expect(send(.whole, at: 9) == "OVERTAKEN", "it would move the item that was stopped, too")
    #expect(send(.item(4), at: 9) == "sent", "the stop was another item's")
    #expect(send(nil, at: 9) == "sent", "nobody asked for it")
    #expect(send(.item(3), at: 10) == "sent" && send(.item(3), at: 11) == "sent")
    #expect(send(nil, at: 30, isStop: true) == "sent" && send(.item(3), at: 12) == "sent", "a stop nobody asked for")
    #expect(send(.whole, at: 20, isStop: true) == "sent")
    #expect(send(.item(4), at: 19) == "OVERTAKEN" && send(.item(4), at: 20) == "sent")
    #expect(send(.item(4), at: 5, isStop: true) == "sent", "a stop is never overtaken")
    #expect(send(.item(4), at: 19) == "OVERTAKEN", "a stop of before does not set the instant back")
  }

  @Test(
    "an emergency stop counts from when it is sent until the loop answers it or a later request, whoever was told what meanwhile"
  )
  func stopOnItsWay() {
    let (requests, answers) = (Ring<UInt64>(capacity: 4), Ring<Answer>(capacity: 4))
    // The second request is the emergency stop, and those from the fourth on.
    let mailbox = Mailbox<UInt64, Answer>(
      of: "test", requests: requests.writer(), answers: answers.reader(), requestsPerTick: 4,
      newestTick: { .zero }, ring: {}, now: { .zero }, isEmergencyStop: { $0 == 2 || $0 >= 4 })
    var loop = answers.writer()
    let codes = Mutex<[String]>([])
    func send() {
      mailbox.send(isStop: true) { number, _ in
        number
      } _: { result in
        if case .failure(let error) = result { codes.withLock { $0.append(error.code) } }
      }
    }
    send()
    #expect(!mailbox.isEmergencyStopOnItsWay)
    send()
    #expect(mailbox.isEmergencyStopOnItsWay)
    mailbox.takeAnswers(at: .zero + .seconds(1))
    #expect(codes.withLock { $0 } == ["NOT_TAKEN", "NOT_TAKEN"])
    #expect(mailbox.isEmergencyStopOnItsWay, "whoever asked was told 503; the loop may take it yet")
    _ = loop.push(Answer(number: 1))
    mailbox.takeAnswers(at: .zero)
    #expect(mailbox.isEmergencyStopOnItsWay, "an answer of before it")
    send()
    // The stop's own answer found the ring full.
    _ = loop.push(Answer(number: 3))
    mailbox.takeAnswers(at: .zero) {
      #expect(!mailbox.isEmergencyStopOnItsWay, "from here on the state says it, and the note is written")
    }
    #expect(!mailbox.isEmergencyStopOnItsWay)
    for _ in 0..<2 { send() }
    #expect(codes.withLock { $0.last } == "BUSY")
    #expect(mailbox.isEmergencyStopOnItsWay, "the loop hangs, and the last one found no room")
    _ = loop.push(Answer(number: 4))
    mailbox.takeAnswers(at: .zero)
    #expect(mailbox.isEmergencyStopOnItsWay)
  }

  @Test("an emergency stop that finds the ring full is sent as soon as there is room, before anything that comes later")
  func owedStop() {
    let (requests, answers) = (Ring<UInt64>(capacity: 4), Ring<Answer>(capacity: 4))
    let tick = Mutex(TickInstant.zero)
    let rings = Mutex(0)
    let (stop, other): (UInt64, UInt64) = (1_000, 0)
    let mailbox = Mailbox<UInt64, Answer>(
      of: "test", requests: requests.writer(), answers: answers.reader(), requestsPerTick: 4,
      newestTick: { tick.withLock { $0 } }, ring: { rings.withLock { $0 += 1 } }, now: { .zero },
      isEmergencyStop: { $0 >= stop })
    var loop = requests.reader()
    var answered = answers.writer()
    let refusals = Mutex<[String]>([])
    func send(_ what: UInt64) {
      mailbox.send(isStop: true) { number, _ in
        what + number
      } _: { result in
        if case .failure(let error) = result { refusals.withLock { $0.append("\(error.code) \(error.message)") } }
      }
    }
    func take() -> [UInt64] {
      var taken: [UInt64] = []
      while let request = loop.pop() { taken.append(request) }
      return taken
    }
    for _ in 0..<4 { send(other) }
    send(stop)
    let told = refusals.withLock { $0 }
    #expect(told.count == 1 && told[0].hasPrefix("BUSY") && told[0].contains("given to it as soon as it goes on"))
    // The loop has the four and has answered them, and is not known to have begun its next tick: no room yet.
    #expect(take() == [1, 2, 3, 4])
    for number in UInt64(1)...4 { _ = answered.push(Answer(number: number)) }
    mailbox.takeAnswers(at: .zero)
    #expect(take().isEmpty && mailbox.isEmergencyStopOnItsWay, "an answer to what came before it ends nothing")
    let before = rings.withLock { $0 }
    tick.withLock { $0 = .zero + .milliseconds(20) }
    mailbox.takeAnswers(at: .zero)
    #expect(take() == [stop + 5] && rings.withLock { $0 } == before + 1)
    _ = answered.push(Answer(number: 5))
    mailbox.takeAnswers(at: .zero)
    #expect(!mailbox.isEmergencyStopOnItsWay)
    // Once more, and a reset, say, is sent before anybody takes answers.
    for _ in 0..<3 { send(other) }
    send(stop)
    #expect(take() == [6, 7, 8])
    tick.withLock { $0 = .zero + .milliseconds(40) }
    send(other)
    #expect(take() == [stop + 9, 10])
  }

  @Test(
    "nobody takes answers for a while: what was done is never reported as not taken, the rest is refused at once; stops go"
  )
  func answersHaveRoom() {
    let (requests, answers) = (Ring<UInt64>(capacity: 64), Ring<Answer>(capacity: 256))
    let tick = Mutex(TickInstant.zero)
    let mailbox = Mailbox<UInt64, Answer>(
      of: "test", requests: requests.writer(), answers: answers.reader(), requestsPerTick: 64,
      newestTick: { tick.withLock { $0 } }, ring: {}, now: { .zero })
    var taken = requests.reader()
    var answered = answers.writer()
    let outcomes = Mutex<[String: Int]>([:])
    func send(_ count: Int, isStop: Bool) {
      for _ in 0..<count {
        mailbox.send(isStop: isStop) { number, _ in
          number
        } _: { result in
          let outcome =
            switch result {
            case .success: "done"
            case .failure(let error): error.code
            }
          outcomes.withLock { $0[outcome, default: 0] += 1 }
        }
      }
    }
    var done = 0
    for round in 0..<20 {
      send(40, isStop: false)
      if round == 19 { send(16, isStop: true) }
      // A tick of the loop: everything is done, and answered as long as there is room.
      while let number = taken.pop() {
        done += 1
        let hasRoom = answered.push(Answer(number: number))
        #expect(hasRoom, "round \(round)")
      }
      tick.withLock { $0 = $0 + .milliseconds(20) }
    }
    mailbox.takeAnswers(at: .zero + .seconds(5))
    #expect(done == 256 && outcomes.withLock { $0 } == ["done": 256, "BUSY": 800 - 240])
    send(1, isStop: false)
    let next = taken.pop()
    #expect(next == 257)
  }
}
