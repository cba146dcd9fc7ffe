/// The side of a `LoopMailbox` that faces the other threads, with all its ends, for a simulation, a test or a program that sends
/// requests from one thread. It may be used by one thread only.
public final class LoopClient<
  Order: BitwiseCopyable & Sendable, Refusal: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable
> {
  @usableFromInline var requests: RingWriter<Request<Order>>
  @usableFromInline var answers: RingReader<Answer<Refusal>>
  @usableFromInline var notices: RingReader<Told<Notice>>
  @usableFromInline var state: LatestReader<Published<State>>

  init<Rules: BitwiseCopyable & Sendable>(_ mailbox: LoopMailbox<Order, Refusal, Notice, State, Rules>) {
    requests = mailbox.requestWriter()
    answers = mailbox.answerReader()
    notices = mailbox.noticeReader()
    state = mailbox.state.reader()
  }

  /// Sends a request. The caller rings the bell of the requests afterwards.
  ///
  /// - Returns: whether there was room for the request; `false` means that the loop is behind.
  @inlinable public func send(_ request: Request<Order>) -> Bool { requests.push(request) }

  /// Returns the state that the loop published last.
  @inlinable public func newest() -> Published<State> { state.read() }

  /// Takes the oldest waiting answer. Returns `nil` if none waits.
  @inlinable public func nextAnswer() -> Answer<Refusal>? { answers.pop() }

  /// Takes the oldest waiting notice. Returns `nil` if none waits.
  @inlinable public func nextNotice() -> Told<Notice>? { notices.pop() }

  /// Takes all waiting answers, the oldest first.
  @inlinable public func takeAnswers() -> [Answer<Refusal>] {
    var taken: [Answer<Refusal>] = []
    while let answer = answers.pop() { taken.append(answer) }
    return taken
  }

  /// Takes all waiting notices, the oldest first.
  @inlinable public func takeNotices() -> [Told<Notice>] {
    var taken: [Told<Notice>] = []
    while let notice = notices.pop() { taken.append(notice) }
    return taken
  }
}
