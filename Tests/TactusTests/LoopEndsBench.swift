@testable import Tactus

typealias SmallMailbox = LoopMailbox<Int, UInt8, Int, Int, Double>

func instant(milliseconds: Int64) -> TickInstant { TickInstant(nanoseconds: milliseconds * 1_000_000) }

extension Tick {
  /// A tick that begins on time, by hand.
  static func at(milliseconds: Int64, cause: ReleaseCause = .period) -> Tick {
    let now = instant(milliseconds: milliseconds)
    return Tick(index: 0, cause: cause, scheduled: now, started: now)
  }
}

/// The door's side, and the loop's for a test that ticks by hand.
final class LoopEndsBench {
  let mailbox: SmallMailbox
  let news: Doorbell
  var ends: SmallMailbox.Ends
  var requests: RingWriter<Request<Int>>
  var answers: RingReader<Answer<UInt8>>
  var notices: RingReader<Told<Int>>
  var state: LatestReader<Published<Int>>
  var last: UInt64 = 0

  init(requestsPerTick: Int = 64) throws {
    mailbox = try SmallMailbox(state: -1, rules: 0, requestsPerTick: requestsPerTick)
    news = try Doorbell()
    ends = mailbox.loopEnds(bell: news.button)
    requests = mailbox.requestWriter()
    answers = mailbox.answerReader()
    notices = mailbox.noticeReader()
    state = mailbox.state.reader()
  }

  /// Pushes a request. Returns whether the ring took it.
  @discardableResult
  func ask(
    _ order: Int = 0, issued: TickInstant = .zero, asked: TickInstant? = nil, makesSafe: Bool = false,
    client: UInt32 = 0
  ) -> Bool {
    last += 1
    return requests.push(
      Request(number: last, issued: issued, asked: asked, makesSafe: makesSafe, client: client, order: order))
  }

  /// Orders that the loop takes and accepts, in a tick of its own.
  @discardableResult
  func acceptAll(_ tick: Tick, state: Int = 0) -> [Int] {
    var orders: [Int] = []
    ends.begin(tick)
    while let request = ends.next() {
      orders.append(request.order)
      ends.answer(request, .accepted)
    }
    ends.finish(state, isSafe: false)
    return orders
  }

  func next() -> Request<Int>? { ends.next() }

  func takeAnswers() -> [Answer<UInt8>] {
    var taken: [Answer<UInt8>] = []
    while let answer = answers.pop() { taken.append(answer) }
    return taken
  }

  func takeNotices() -> [Told<Int>] {
    var taken: [Told<Int>] = []
    while let notice = notices.pop() { taken.append(notice) }
    return taken
  }

  var hasRung: Bool { news.wait(limit: .zero) }
  var requestBellIsRung: Bool { mailbox.requestBell!.wait(limit: .zero) }
}
