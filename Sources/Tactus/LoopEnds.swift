/// The loop's side of a `LoopMailbox`: requests and rules in; the state, answers and notices out.
///
///     @_noLocks @_noAllocation
///     mutating func tick(_ tick: Tick) {
///       ends.begin(tick)
///       while let request = ends.next() { ends.answer(request, machine.take(request.order, ends.rules)) }
///       …                                             // the loop's own work
///       ends.finish(machine.state, isSafe: machine.isSafe)
///     }
///
/// In a tick, in this order: `begin(_:)`; any number of `next()`, `answer(_:_:)` and `tell(_:)`; `finish(_:isSafe:)`. A safe state
/// may call `finish` alone, or `beginSafeState(_:)` before. Not copyable: it belongs to one loop at a time.
///
/// Timing: nothing waits or allocates. A tick that finds nothing new makes no system call. One that finds requests, or was
/// released by an input, clears the bell, and one with answers or notices rings the other bell: one system call each.
// Every member that a tick calls is inlinable: the compiler cannot prove a generic function that it does not see.
public struct LoopEnds<
  Order: BitwiseCopyable & Sendable, Refusal: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable, Rules: BitwiseCopyable & Sendable
>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the ends moves the right to use them.
  /// Kept alive: the bell is one of its.
  @usableFromInline let mailbox: LoopMailbox<Order, Refusal, Notice, State, Rules>
  @usableFromInline let requestBell: DoorbellInput
  @usableFromInline var requests: RingReader<Request<Order>>
  @usableFromInline var answers: RingWriter<Answer<Refusal>>
  @usableFromInline var notices: RingWriter<Told<Notice>>
  @usableFromInline var output: LatestWriter<Published<State>>
  @usableFromInline var rulesInput: RulesInput<Rules>
  @usableFromInline let bell: DoorbellButton?
  @usableFromInline let stall: LaneStall.Served?
  @usableFromInline let patience: Nanoseconds
  @usableFromInline let requestsPerTick: Int
  /// Answers that `finish` is to send.
  @usableFromInline let given: UnsafeMutablePointer<Answer<Refusal>>
  @usableFromInline let mostGiven: Int
  @usableFromInline var givenCount = 0
  /// Requests that this tick has taken.
  @usableFromInline var takenCount = 0
  @usableFromInline var hasNews = false
  @usableFromInline var now = TickInstant.zero
  @usableFromInline var droppedNotices: Int64 = 0
  @usableFromInline var droppedAnswers: Int64 = 0

  init(
    _ mailbox: LoopMailbox<Order, Refusal, Notice, State, Rules>, bell: DoorbellButton?, stall: LaneStall.Served?
  ) {
    self.mailbox = mailbox
    requestBell = mailbox.requestBell.input
    requests = mailbox.requests.reader()
    answers = mailbox.answers.writer()
    notices = mailbox.notices.writer()
    output = mailbox.state.writer()
    rulesInput = mailbox.rules.input()
    (self.bell, self.stall) = (bell, stall)
    patience = mailbox.patience
    requestsPerTick = mailbox.requestsPerTick
    // Those of this tick's requests, and as many that earlier ticks took and left unanswered.
    mostGiven = 2 * mailbox.requestsPerTick
    given = .allocate(capacity: mostGiven)
  }

  deinit { given.deallocate() }

  /// The rules as of this tick.
  @inlinable public var rules: Rules { @inline(__always) get { rulesInput.current } }

  /// Answers and notices that were lost because their ring was full, since these ends were made.
  @inlinable public var dropped: Int64 { @inline(__always) get { droppedNotices &+ droppedAnswers } }

  /// Begins a tick: clears the bell of requests and takes rules that have changed.
  @inlinable @inline(__always)
  public mutating func begin(_ tick: Tick) {
    now = tick.started
    if let stall { stall.serve(at: now) }
    takenCount = 0
    // The bell rings after a push. One that rings later than this look releases the loop again, and that tick clears it.
    if case .input = tick.cause { requestBell.clear() } else if !requests.isEmpty { requestBell.clear() }
    rulesInput.begin()
  }

  /// As `begin(_:)` for `safeState(_:cause:)`, before it answers or tells: answers and notices bear the instant of `tick`. Requests
  /// and rules are left to the next tick.
  @inlinable @inline(__always)
  public mutating func beginSafeState(_ tick: Tick) { now = tick.started }

  /// The next request, oldest first; `nil` if there is none, or the tick has taken as many as it may.
  ///
  /// A request that is older than the loop's patience and does not make safe is answered `.stale` and not returned.
  @inlinable @inline(__always)
  public mutating func next() -> Request<Order>? {
    while takenCount < requestsPerTick, let request = requests.pop() {
      takenCount &+= 1
      if request.makesSafe || !(request.issued < now - patience) { return request }
      answer(request, .stale)
    }
    return nil
  }

  /// Answers a request, when the tick finishes. Each request is answered once; a later tick may do so, too.
  @inlinable @inline(__always)
  public mutating func answer(_ request: Request<Order>, _ verdict: Verdict<Refusal>) {
    guard givenCount < mostGiven else {
      droppedAnswers &+= 1
      return
    }
    (given + givenCount).initialize(to: Answer(number: request.number, verdict: verdict, at: now))
    givenCount &+= 1
  }

  /// Tells something that nobody has asked for. A reader may have it before the tick finishes; the bell rings then.
  @inlinable @inline(__always)
  public mutating func tell(_ notice: Notice) {
    if notices.push(Told(at: now, notice: notice)) { hasNews = true } else { droppedNotices &+= 1 }
  }

  /// Ends a tick or a safe state: publishes the state, then the answers, so that a client that is answered finds the effect in
  /// the state. Then rings, if there are answers or notices. Answers that are lost here are in the counts of the next tick.
  ///
  /// - Parameters:
  ///   - state: what everybody may read from now on.
  ///   - isSafe: whether every output of the loop is in its safe state, confirmed by the device: wider rules wait for that.
  @inlinable @inline(__always)
  public mutating func finish(_ state: State, isSafe: Bool) {
    rulesInput.finish(isSafe: isSafe)
    output.write(
      Published(
        at: now, isSafe: isSafe, state: state, noticesDropped: droppedNotices, answersDropped: droppedAnswers))
    var index = 0
    while index < givenCount {
      if answers.push(given[index]) { hasNews = true } else { droppedAnswers &+= 1 }
      index &+= 1
    }
    givenCount = 0
    if hasNews {
      hasNews = false
      if let bell { bell.ring() }
    }
  }
}
