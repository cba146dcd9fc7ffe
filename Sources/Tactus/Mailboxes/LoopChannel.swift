/// What goes between one loop and the threads around it: requests to the loop; its answers, notices and state from it.
///
/// The messages are the system's own types, each a trivial value. `LoopMailbox` is such a channel for messages that are
/// Tactus's own, with rules and with a limit of how old a request may become.
///
/// The code that declares the loop owns the channel and keeps it as long as the runtime runs. Every end can be had once at a time, as of
/// `Ring` and `Latest`.
public final class LoopChannel<
  Request: BitwiseCopyable & Sendable, Answer: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable
>: Sendable {
  /// The loop's side: `PumpChannel.Ends` for a `typealias PumpChannel = LoopChannel<…>`.
  public typealias Ends = LoopChannelEnds<Request, Answer, Notice, State>
  /// The other side, all of it.
  public typealias Client = LoopChannelClient<Request, Answer, Notice, State>

  /// What the loop published last.
  public let state: Latest<State>
  /// How many requests wait at most, and how many a tick takes at most: all that wait.
  public let requestsPerTick: Int
  /// Greatest number of answers that wait to be read. A client with at most this many unanswered requests loses no answer.
  public let answerCapacity: Int
  /// How many notices wait at most to be read.
  public let noticeCapacity: Int
  let requests: Ring<Request>
  let answers: Ring<Answer>
  let notices: Ring<Notice>

  /// A channel that has not been used. Allocates; all sizes are fixed from then on, each rounded up to a power of two.
  ///
  /// - Parameters:
  ///   - state: what is read before the loop's first tick.
  ///   - requestsPerTick: 1 or more.
  ///   - answers: 1 or more; four times as many as requests unless given, at least 256.
  ///   - notices: 1 or more.
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

  /// The loop's side. A second call traps unless the ends of the first are gone, whose work the new ones continue.
  ///
  /// - Parameters:
  ///   - requestBell: rung after requests have been pushed, and one of the loop's inputs. Without it they wait until the next tick.
  ///   - bell: rung when answers or notices are there to take. Both bells must outlive the loop.
  public func loopEnds(requestBell: DoorbellInput? = nil, bell: DoorbellButton? = nil) -> Ends {
    Ends(self, requestBell: requestBell, bell: bell)
  }

  /// The other side, all of it: instead of the three that follow.
  public func client() -> Client { Client(self) }

  /// The end that makes requests. A full ring of requests refuses: the loop is behind.
  public func requestWriter() -> RingWriter<Request> { requests.writer() }

  /// The end that takes the answers.
  public func answerReader() -> RingReader<Answer> { answers.reader() }

  /// The end that takes the notices.
  public func noticeReader() -> RingReader<Notice> { notices.reader() }
}

/// The loop's side of a `LoopChannel`.
///
/// In a tick, in this order: `begin(_:)`; any number of `next()`, `answer(_:)` and `tell(_:)`; `finish(_:)`. A safe state leaves
/// `begin` out. Not copyable: it belongs to one loop at a time.
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
  /// How many requests a tick takes at most.
  public let requestsPerTick: Int
  /// Answers that `finish` is to send.
  @usableFromInline let given: UnsafeMutablePointer<Answer>
  @usableFromInline let mostGiven: Int
  @usableFromInline var givenCount = 0
  /// Requests that this tick has taken.
  @usableFromInline var takenCount = 0
  @usableFromInline var hasNews = false
  @usableFromInline var lostNotices: Int64 = 0
  @usableFromInline var lostAnswers: Int64 = 0

  /// Notices that found their ring full, since these ends were made.
  @inlinable public var noticesDropped: Int64 { @inline(__always) get { lostNotices } }
  /// Answers that were lost because their ring was full, or because a tick gave more of them than twice the requests that it takes.
  @inlinable public var answersDropped: Int64 { @inline(__always) get { lostAnswers } }

  init(_ channel: LoopChannel<Request, Answer, Notice, State>, requestBell: DoorbellInput?, bell: DoorbellButton?) {
    (self.requestBell, self.bell) = (requestBell, bell)
    requests = channel.requests.reader()
    answers = channel.answers.writer()
    notices = channel.notices.writer()
    output = channel.state.writer()
    requestsPerTick = channel.requestsPerTick
    // Those of this tick's requests, and as many that earlier ticks took and left unanswered.
    mostGiven = 2 * channel.requestsPerTick
    given = .allocate(capacity: mostGiven)
  }

  deinit { given.deallocate() }

  /// Begins a tick: clears the bell of requests.
  @inlinable @inline(__always)
  public mutating func begin(_ tick: Tick) {
    takenCount = 0
    guard let requestBell else { return }
    // The bell rings after a push. One that rings later than this look releases the loop again, and that tick clears it.
    if case .input = tick.cause { requestBell.clear() } else if !requests.isEmpty { requestBell.clear() }
  }

  /// Takes the oldest request that waits. It is `nil` if none waits, or if the tick has taken as many as it may.
  @inlinable @inline(__always)
  public mutating func next() -> Request? {
    guard takenCount < requestsPerTick, let request = requests.pop() else { return nil }
    takenCount &+= 1
    return request
  }

  /// Gives an answer, when the tick finishes. Each request is answered once; a later tick may do so, too.
  @inlinable @inline(__always)
  public mutating func answer(_ answer: Answer) {
    guard givenCount < mostGiven else {
      lostAnswers &+= 1
      return
    }
    (given + givenCount).initialize(to: answer)
    givenCount &+= 1
  }

  /// Publishes a notice, unless there is no room for it. A reader may have it before the tick finishes; the bell
  /// rings then.
  ///
  /// - Returns: whether there was room.
  @inlinable @inline(__always) @discardableResult
  public mutating func tell(_ notice: Notice) -> Bool {
    let isTold = notices.push(notice)
    if isTold { hasNews = true } else { lostNotices &+= 1 }
    return isTold
  }

  /// Ends a tick or a safe state: publishes the state, then the answers, so that a client that is answered finds the effect in
  /// the state. Then rings, if there are answers or notices. Answers that are lost here are counted from the next tick on.
  @inlinable @inline(__always)
  public mutating func finish(_ state: State) {
    output.write(state)
    giveAnswers()
  }

  /// As `finish(_:)`, of the state at `pointer`: a large one is copied once.
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

/// The other side of a `LoopChannel`, all of it in one hand, for a simulation, a test or a program that asks from one thread. One thread
/// only may use it.
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

  /// Makes a request. The caller rings the bell of requests afterwards.
  ///
  /// - Returns: whether there was room: `false` if the loop is behind.
  @inlinable public func send(_ request: Request) -> Bool { requests.push(request) }

  /// What the loop published last.
  @inlinable public func newest() -> State { state.read() }

  /// Takes the oldest answer that waits. It is `nil` if none waits.
  @inlinable public func nextAnswer() -> Answer? { answers.pop() }

  /// Takes the oldest notice that waits. It is `nil` if none waits.
  @inlinable public func nextNotice() -> Notice? { notices.pop() }

  /// Takes all answers that wait, the oldest first.
  @inlinable public func takeAnswers() -> [Answer] {
    var taken: [Answer] = []
    while let answer = answers.pop() { taken.append(answer) }
    return taken
  }

  /// Takes all notices that wait, the oldest first.
  @inlinable public func takeNotices() -> [Notice] {
    var taken: [Notice] = []
    while let notice = notices.pop() { taken.append(notice) }
    return taken
  }
}
