import Synchronization

/// The loop's side of a `LoopMailbox`, which takes requests and rules and publishes the state, answers and notices.
///
///     @_noLocks @_noAllocation
///     mutating func tick(_ tick: Tick) {
///       ends.begin(tick)
///       while let request = ends.next() { ends.answer(request, machine.obey(request.order, ends.rules)) }
///       …                                             // the loop's own work
///       ends.finish(machine.state, isSafe: machine.isSafe)
///     }
///
/// A tick calls, in this order: `begin(_:)`; any number of `next()`, `answer(_:_:)` and `report(_:)`; `finish(_:isSafe:)`. A safe
/// state calls `finish`, and may call `beginSafeState(_:)` before. What was asked for before a safe state and is taken after it is
/// stale. The type is not copyable: the ends belong to one loop at a time.
///
/// Timing: nothing waits or allocates. A tick that finds nothing new makes no system call. One that finds requests, or was
/// released by an input, clears the bell, and one with answers or notices rings the other bell: one system call each.
// Every member that a tick calls is inlinable: the compiler cannot prove a generic function that it does not see.
public struct LoopEnds<
  Order: BitwiseCopyable & Sendable, Refusal: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable, Rules: BitwiseCopyable & Sendable
>: ~Copyable, @unchecked Sendable {
  // Sendable: moving the ends moves the right to use them.
  /// The mailbox, which must be kept alive because it owns the bell of the requests.
  @usableFromInline let mailbox: LoopMailbox<Order, Refusal, Notice, State, Rules>
  @usableFromInline let requestBell: DoorbellInput?
  @usableFromInline var requests: RingReader<Request<Order>>
  @usableFromInline var answers: RingWriter<Answer<Refusal>>
  @usableFromInline var notices: RingWriter<Told<Notice>>
  @usableFromInline var output: LatestWriter<Published<State>>
  @usableFromInline let bell: DoorbellButton?
  @usableFromInline let requestsPerTick: Int
  /// The answers that `finish` will send.
  @usableFromInline let given: UnsafeMutablePointer<Answer<Refusal>>
  @usableFromInline let mostGiven: Int
  @usableFromInline var givenCount = 0
  /// The number of requests that this tick has taken.
  @usableFromInline var takenCount = 0
  @usableFromInline var hasNews = false
  @usableFromInline var lostNotices: Int64 = 0
  @usableFromInline var lostAnswers: Int64 = 0
  @usableFromInline var rulesInput: RulesInput<Rules>
  @usableFromInline var days: LatestReader<Int?>
  @usableFromInline let stall: LaneStall.Served?
  @usableFromInline let patience: Nanoseconds
  @usableFromInline var now = TickInstant.zero
  /// Whether a tick has begun. Before that `now` is no instant from which a gap can be measured.
  @usableFromInline var hasBegun = false
  /// Whether `begin(_:)` or `beginSafeState(_:)` was called and `finish` not yet.
  @usableFromInline var isBegun = false
  /// Whether a safe state was finished that had not been begun, and no tick has begun since.
  @usableFromInline var wasMadeSafe = false
  /// The instant of the newest stop that did not come as a request.
  @usableFromInline var lastStop = TickInstant.zero
  /// The instant up to which data that arrives may have waited outside the program while the loop stood still.
  @usableFromInline var backlogUntil = TickInstant.zero

  init(
    _ mailbox: LoopMailbox<Order, Refusal, Notice, State, Rules>, bell: DoorbellButton?, stall: LaneStall.Served?,
    requestBell: DoorbellInput?
  ) {
    self.mailbox = mailbox
    (self.requestBell, self.bell) = (requestBell, bell)
    requests = mailbox.requests.reader()
    answers = mailbox.answers.writer()
    notices = mailbox.notices.writer()
    output = mailbox.state.writer()
    requestsPerTick = mailbox.requestsPerTick
    // The answers to this tick's requests, and as many to requests that earlier ticks took and left unanswered.
    mostGiven = 2 * mailbox.requestsPerTick
    given = .allocate(capacity: mostGiven)
    rulesInput = mailbox.rules.input()
    days = mailbox.day.reader()
    self.stall = stall
    patience = mailbox.patience
  }

  deinit { given.deallocate() }

  /// The rules in effect in this tick.
  @inlinable public var rules: Rules { @inline(__always) get { rulesInput.current } }

  /// The number of times that `begin(_:)` has given `rules` another value, for a loop that has work to do after a change.
  @inlinable public var rulesChanges: UInt64 { @inline(__always) get { rulesInput.changes } }

  /// The instant up to which the loop's states are stored on the disk, as noted by `LoopMailbox.noteStored(upTo:)`. It is the earliest possible instant
  /// until something is noted.
  ///
  /// What counts against a limit must be on the disk before it happens, or a restart would grant the limit again: the loop counts what an output is
  /// about to do, finishes that tick, and drives the output in a later one, once `storedUpTo` has reached the instant of the counting tick. Without a
  /// disk that instant is never reached, and the output stays as it is.
  @inlinable public var storedUpTo: TickInstant {
    @inline(__always) get { TickInstant(nanoseconds: mailbox.stored.load(ordering: .acquiring)) }
  }

  /// The calendar day by the machine's wall clock and time zone, as a number that grows by one each midnight: the days since 1 January 1970. `nil` while the
  /// clock is not confirmed, as in the first minute of a program, or if no code notes the day (`LoopMailbox.noteDay(_:)`).
  ///
  /// The day serves limits per day. While the day is unknown the last known day applies, so that counts are kept. A clock that is
  /// set may skip days or repeat one, so the loop compares for inequality:
  ///
  ///     if let day = ends.day, day != state.day { (state.day, state.dosed) = (day, 0) }
  ///
  /// A new day is noted within a tenth of a second. Both fields must be kept over a restart (`keptAtOnce`), or a restart would grant the limit again.
  @inlinable public var day: Int? {
    @inline(__always) mutating get { days.read() }
  }

  /// The number of answers and notices that were lost, since these ends were made, because their ring was full or because a tick gave more than twice
  /// as many answers as it may take requests.
  @inlinable public var dropped: Int64 { @inline(__always) get { lostNotices &+ lostAnswers } }

  /// The gap between two ticks after which the loop counts as having stood still, as when its process was frozen. An
  /// order that was sent before such a gap is too old to be carried out.
  @inlinable static var standstill: Nanoseconds { @inline(__always) get { .seconds(1) } }
  /// The time after a standstill within which the program has read everything that was waiting in its sockets, even on
  /// a busy machine.
  @inlinable static var backlogReading: Nanoseconds { @inline(__always) get { .seconds(2) } }

  /// Whether the loop has stood still for a second or more and went on less than two seconds ago. What is read now may have been sent long before,
  /// also if it bears a new instant: sockets and lines keep what comes while a process is frozen. Such an order must not be carried out unless it makes
  /// the system safe. `isStale(_:)` says so of requests; a loop that reads a line of its own asks this.
  @inlinable public var hasBacklog: Bool {
    @inline(__always) get { now < backlogUntil && Mechanism.staleness.acts }
  }

  /// Begins a tick: clears the bell of the requests and takes rules that have changed.
  @inlinable @inline(__always)
  public mutating func begin(_ tick: Tick) {
    let gap = hasBegun && tick.missed > 0 ? tick.started - now : tick.lateness
    if gap >= Self.standstill { backlogUntil = tick.started + Self.backlogReading }
    hasBegun = true
    isBegun = true
    now = tick.started
    if wasMadeSafe {
      wasMadeSafe = false
      stopped(at: now)
    }
    if let stall { stall.serve(at: now) }
    takenCount = 0
    if let requestBell {
      // The bell rings after a push. One that rings later than this look releases the loop again, and that tick clears it.
      if case .input = tick.cause { requestBell.clear() } else if !requests.isEmpty { requestBell.clear() }
    }
    rulesInput.begin()
  }

  /// Begins a safe state, called in `safeState(_:cause:)` before answers or notices are given, which carry the instant of `tick`.
  /// Requests and rules are left to the next tick, in which what was asked for before the safe state is stale. Without this
  /// call, what was asked for before that next tick is stale.
  @inlinable @inline(__always)
  public mutating func beginSafeState(_ tick: Tick) {
    isBegun = true
    now = tick.started
    stopped(at: now)
  }

  /// Notes a stop that did not come as a request but by datagram, by radio or by a button. A request that was asked for before it and is taken after
  /// it is stale, unless it makes the system safe.
  ///
  /// - Parameter instant: when the stop arrived, on the clock of the loop's ticks.
  @inlinable @inline(__always)
  public mutating func stopped(at instant: TickInstant) { if lastStop < instant { lastStop = instant } }

  /// Takes the oldest waiting request. Returns `nil` if none waits, or if the tick has taken as many as it may.
  ///
  /// A stale request is answered `.stale` and not returned; see `isStale(_:)`.
  @inlinable @inline(__always)
  public mutating func next() -> Request<Order>? {
    while let request = nextOfAnyAge() {
      if !isStale(request) { return request }
      answer(request, .stale)
    }
    return nil
  }

  /// Takes the oldest request that waits, stale or not, for a loop that learns something from a request that it does not obey. `isStale(_:)` says
  /// whether it is stale. Returns `nil` if none waits, or if the tick has taken as many as it may.
  @inlinable @inline(__always)
  public mutating func nextOfAnyAge() -> Request<Order>? {
    guard takenCount < requestsPerTick, let request = requests.pop() else { return nil }
    takenCount &+= 1
    return request
  }

  /// Returns whether a request is older than the loop's patience, or was asked for before a stop (`stopped(at:)`), or may have waited while the loop
  /// stood still (`hasBacklog`), and does not make the system safe. Such a request must not be carried out.
  @inlinable @inline(__always)
  public func isStale(_ request: Request<Order>) -> Bool {
    !request.makesSafe && request.issued < now - patience && Mechanism.staleness.acts || isOvertaken(request)
  }

  /// Returns whether a request was asked for before a stop (`stopped(at:)`), or may have waited while the loop stood still (`hasBacklog`), and does not
  /// make the system safe, for a loop with a patience of its own.
  @inlinable @inline(__always)
  public func isOvertaken(_ request: Request<Order>) -> Bool {
    guard !request.makesSafe else { return false }
    return request.asked < lastStop && Mechanism.overtaking.acts
      || request.asked < backlogUntil && Mechanism.staleness.acts
  }

  /// Gives an answer to a request, which is sent when the tick finishes. Each request is answered once, in this tick or a later one.
  @inlinable @inline(__always)
  public mutating func answer(_ request: Request<Order>, _ verdict: Verdict<Refusal>) {
    guard givenCount < mostGiven else {
      lostAnswers &+= 1
      return
    }
    (given + givenCount).initialize(to: Answer(number: request.number, verdict: verdict, at: now))
    givenCount &+= 1
  }

  /// Publishes a notice. A reader may see the notice before the tick finishes; the bell rings when the tick finishes. Returns whether the ring had room: a
  /// notice that was lost is counted, also if the loop keeps it and publishes it later.
  @inlinable @inline(__always)
  @discardableResult
  public mutating func report(_ notice: Notice) -> Bool {
    let isTold = notices.push(Told(at: now, notice: notice))
    if isTold { hasNews = true } else { lostNotices &+= 1 }
    return isTold
  }

  /// Ends a tick or a safe state: publishes the state, then sends the answers, so that a client that gets an answer finds its
  /// effect in the state. Rings the bell if there are answers or notices. Answers that are lost here are in the counts of the next
  /// tick.
  ///
  /// - Parameters:
  ///   - state: the state that readers see from now on.
  ///   - isSafe: whether every output of the loop is in its safe state, confirmed by the device. Wider rules wait until this is true.
  @inlinable @inline(__always)
  public mutating func finish(_ state: State, isSafe: Bool) {
    // A tick begins; only a safe state may finish without.
    if hasBegun && !isBegun { wasMadeSafe = true }
    isBegun = false
    rulesInput.finish(isSafe: isSafe)
    output.write(
      Published(at: now, isSafe: isSafe, state: state, noticesDropped: lostNotices, answersDropped: lostAnswers))
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
