/// The messages between one loop and the threads around it: requests go to the loop; answers, notices and states come from it.
///
/// The message types are the system's own, each a trivial value. `LoopMailbox` is such a channel with Tactus's message types, with
/// rules and with a limit on the age of a request.
///
/// The code that declares the loop owns the channel and keeps it as long as the runtime runs. Each end can be taken once at a time,
/// as for `Ring` and `Latest`.
public final class LoopChannel<
  Request: BitwiseCopyable & Sendable, Answer: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable
>: Sendable {
  /// The loop's side of the channel: `PumpChannel.Ends` for a `typealias PumpChannel = LoopChannel<…>`.
  public typealias Ends = LoopChannelEnds<Request, Answer, Notice, State>
  /// The side of the other threads, with all its ends.
  public typealias Client = LoopChannelClient<Request, Answer, Notice, State>

  /// The state that the loop published last.
  public let state: Latest<State>
  /// The greatest number of requests that wait, which is also the greatest number that a tick takes.
  public let requestsPerTick: Int
  /// The greatest number of answers that wait to be read. A client with at most this many unanswered requests loses no answer.
  public let answerCapacity: Int
  /// The greatest number of notices that wait to be read.
  public let noticeCapacity: Int
  let requests: Ring<Request>
  let answers: Ring<Answer>
  let notices: Ring<Notice>

  /// Creates a channel that has not been used. The initialiser allocates; all sizes are fixed from then on, each rounded up to a power of two.
  ///
  /// - Parameters:
  ///   - state: the state that readers see before the loop's first tick.
  ///   - requestsPerTick: the number of requests that may wait, 1 or more.
  ///   - answers: the number of answers that may wait, 1 or more; by default four times the number of requests, at least 256.
  ///   - notices: the number of notices that may wait, 1 or more.
  public init(state: State, requestsPerTick: Int = 64, answers: Int? = nil, notices: Int = 256) {
    requests = Ring(capacity: requestsPerTick)
    // A tick takes all that the ring holds: the bell that it has cleared does not ring again for what it would leave.
    self.requestsPerTick = requests.capacity
    self.answers = Ring(capacity: answers ?? max(256, 4 * requests.capacity))
    answerCapacity = self.answers.capacity
    self.notices = Ring(capacity: notices)
    noticeCapacity = self.notices.capacity
    self.state = Latest(state)
  }

  /// Returns the loop's side. A second call traps unless the ends of the first are gone; the new ends then continue their work.
  ///
  /// - Parameters:
  ///   - requestBell: the bell that is rung after requests have been pushed and that is one of the loop's inputs. Without it requests
  ///     wait for the next tick.
  ///   - bell: rung when answers or notices are ready to be read. Both bells must outlive the loop.
  public func loopEnds(requestBell: DoorbellInput? = nil, bell: DoorbellButton? = nil) -> Ends {
    Ends(self, requestBell: requestBell, bell: bell)
  }

  /// Returns all ends of the other threads' side, for use instead of the three functions that follow.
  public func client() -> Client { Client(self) }

  /// Returns the end that sends requests. If the ring of requests is full, sending fails because the loop is behind.
  public func requestWriter() -> RingWriter<Request> { requests.writer() }

  /// Returns the end that reads the answers.
  public func answerReader() -> RingReader<Answer> { answers.reader() }

  /// Returns the end that reads the notices.
  public func noticeReader() -> RingReader<Notice> { notices.reader() }
}

/// The loop's side of a `LoopChannel`.
///
/// A tick calls, in this order: `begin(_:)`; any number of `next()`, `answer(_:)` and `tell(_:)`; `finish(_:)`. A safe state omits
/// `begin`. The type is not copyable: the ends belong to one loop at a time.
///
/// Timing: nothing waits or allocates. A tick that finds nothing new makes no system call. One that finds requests, or was
/// released by an input, clears the bell, and one with answers or notices rings the other bell: one system call each.
// Every member that a tick calls is inlinable: the compiler cannot prove a generic function that it does not see.
public struct LoopChannelEnds<
  Request: BitwiseCopyable & Sendable, Answer: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable
>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the ends moves the right to use them.
  @usableFromInline let requestBell: DoorbellInput?
  @usableFromInline var requests: RingReader<Request>
  @usableFromInline var answers: RingWriter<Answer>
  @usableFromInline var notices: RingWriter<Notice>
  @usableFromInline var output: LatestWriter<State>
  @usableFromInline let bell: DoorbellButton?
  /// The greatest number of requests that a tick takes.
  public let requestsPerTick: Int
  /// The answers that `finish` will send.
  @usableFromInline let given: UnsafeMutablePointer<Answer>
  @usableFromInline let mostGiven: Int
  @usableFromInline var givenCount = 0
  /// The number of requests that this tick has taken.
  @usableFromInline var takenCount = 0
  @usableFromInline var hasNews = false
  @usableFromInline var lostNotices: Int64 = 0
  @usableFromInline var lostAnswers: Int64 = 0

  /// The number of notices that were lost because their ring was full, since these ends were made.
  @inlinable public var noticesDropped: Int64 { @inline(__always) get { lostNotices } }
  /// The number of answers that were lost because their ring was full, or because a tick gave more than twice as many answers as it
  /// may take requests.
  @inlinable public var answersDropped: Int64 { @inline(__always) get { lostAnswers } }

  init(_ channel: LoopChannel<Request, Answer, Notice, State>, requestBell: DoorbellInput?, bell: DoorbellButton?) {
    (self.requestBell, self.bell) = (requestBell, bell)
    requests = channel.requests.reader()
    answers = channel.answers.writer()
    notices = channel.notices.writer()
    output = channel.state.writer()
    requestsPerTick = channel.requestsPerTick
    // The answers to this tick's requests, and as many to requests that earlier ticks took and left unanswered.
    mostGiven = 2 * channel.requestsPerTick
    given = .allocate(capacity: mostGiven)
  }

  deinit { given.deallocate() }

  /// Begins a tick: clears the bell of the requests.
  @inlinable @inline(__always)
  public mutating func begin(_ tick: Tick) {
    takenCount = 0
    guard let requestBell else { return }
    // The bell rings after a push. One that rings later than this look releases the loop again, and that tick clears it.
    if case .input = tick.cause { requestBell.clear() } else if !requests.isEmpty { requestBell.clear() }
  }

  /// Takes the oldest waiting request. Returns `nil` if none waits, or if the tick has taken as many as it may.
  @inlinable @inline(__always)
  public mutating func next() -> Request? {
    guard takenCount < requestsPerTick, let request = requests.pop() else { return nil }
    takenCount &+= 1
    return request
  }

  /// Gives an answer, which is sent when the tick finishes. Each request is answered once, in this tick or a later one.
  @inlinable @inline(__always)
  public mutating func answer(_ answer: Answer) {
    guard givenCount < mostGiven else {
      lostAnswers &+= 1
      return
    }
    (given + givenCount).initialize(to: answer)
    givenCount &+= 1
  }

  /// Publishes a notice, unless the ring of notices is full. A reader may see the notice before the tick finishes; the bell rings
  /// when the tick finishes.
  ///
  /// - Returns: whether there was room for the notice.
  @inlinable @inline(__always) @discardableResult
  public mutating func tell(_ notice: Notice) -> Bool {
    let isTold = notices.push(notice)
    if isTold { hasNews = true } else { lostNotices &+= 1 }
    return isTold
  }

  /// Ends a tick or a safe state: publishes the state, then sends the answers, so that a client that gets an answer finds its
  /// effect in the state. Rings the bell if there are answers or notices. Answers that are lost here are counted from the next tick
  /// on.
  @inlinable @inline(__always)
  public mutating func finish(_ state: State) {
    output.write(state)
    giveAnswers()
  }

  /// Ends a tick or a safe state, as `finish(_:)` does, with the state at `pointer`. A large state is copied once.
  @inlinable @inline(__always)
  public mutating func finish(from pointer: UnsafePointer<State>) {
    output.write(from: pointer)
    giveAnswers()
  }

  @inlinable @inline(__always)
  mutating func giveAnswers() {
    var index = 0
    while index < givenCount {
      if answers.push(given[index]) { hasNews = true } else { lostAnswers &+= 1 }
      index &+= 1
    }
    givenCount = 0
    if hasNews {
      hasNews = false
      if let bell { bell.ring() }
    }
  }
}

/// The side of a `LoopChannel` that faces the other threads, with all its ends, for a simulation, a test or a program that sends
/// requests from one thread. It may be used by one thread only.
public final class LoopChannelClient<
  Request: BitwiseCopyable & Sendable, Answer: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable
> {
  @usableFromInline var requests: RingWriter<Request>
  @usableFromInline var answers: RingReader<Answer>
  @usableFromInline var notices: RingReader<Notice>
  @usableFromInline var state: LatestReader<State>

  init(_ channel: LoopChannel<Request, Answer, Notice, State>) {
    requests = channel.requestWriter()
    answers = channel.answerReader()
    notices = channel.noticeReader()
    state = channel.state.reader()
  }

  /// Sends a request. The caller rings the bell of the requests afterwards.
  ///
  /// - Returns: whether there was room for the request; `false` means that the loop is behind.
  @inlinable public func send(_ request: Request) -> Bool { requests.push(request) }

  /// Returns the state that the loop published last.
  @inlinable public func newest() -> State { state.read() }

  /// Takes the oldest waiting answer. Returns `nil` if none waits.
  @inlinable public func nextAnswer() -> Answer? { answers.pop() }

  /// Takes the oldest waiting notice. Returns `nil` if none waits.
  @inlinable public func nextNotice() -> Notice? { notices.pop() }

  /// Takes all waiting answers, the oldest first.
  @inlinable public func takeAnswers() -> [Answer] {
    var taken: [Answer] = []
    while let answer = answers.pop() { taken.append(answer) }
    return taken
  }

  /// Takes all waiting notices, the oldest first.
  @inlinable public func takeNotices() -> [Notice] {
    var taken: [Notice] = []
    while let notice = notices.pop() { taken.append(notice) }
    return taken
  }
}
