import Synchronization

/// All mailboxes of one loop: requests and rules go to the loop; the state, answers and notices come from it.
///
///     typealias FanMailbox = LoopMailbox<FanOrder, FanRefusal, FanNotice, FanState, FanRules>
///     let mailbox = try FanMailbox(state: FanState(), rules: FanRules())
///     Loop("fan", every: .hertz(100), inputs: [mailbox.loopInput]) { FanLoop(ends: mailbox.loopEnds(bell: bell.button)) }
///
/// The code that declares the loop owns the mailbox and keeps it as long as the runtime runs. Each loop has one. If several threads
/// send requests, they do so through one shared object that holds the writer of requests and the reader of answers.
public final class LoopMailbox<
  Order: BitwiseCopyable & Sendable, Refusal: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable, Rules: BitwiseCopyable & Sendable
>: Sendable {
  /// The loop's side of the mailbox: `FanMailbox.Ends` for a `typealias FanMailbox = LoopMailbox<…>`.
  public typealias Ends = LoopEnds<Order, Refusal, Notice, State, Rules>
  /// The side of the other threads, with all its ends: `FanMailbox.Client`.
  public typealias Client = LoopClient<Order, Refusal, Notice, State>

  /// The state that the loop published last, with the instant of its tick and whether its outputs were safe then.
  public let state: Latest<Published<State>>
  /// The loop's rules, through which they are also changed.
  public let rules: RulesBox<Rules>
  /// The greatest number of requests that wait, which is also the greatest number that a tick takes.
  public var requestsPerTick: Int { requests.capacity }
  /// The greatest number of answers that wait to be read. A sender with at most this many unanswered requests loses no answer.
  public var answerCapacity: Int { answers.capacity }
  /// The greatest number of notices that wait to be read.
  public var noticeCapacity: Int { notices.capacity }
  /// The greatest age of a request that the loop accepts, unless the request makes the system safe.
  public let patience: Nanoseconds
  let requests: Ring<Request<Order>>
  let answers: Ring<Answer<Refusal>>
  let notices: Ring<Told<Notice>>
  /// The bell that is rung after a request, or `nil` if the loop takes no requests.
  let requestBell: Doorbell?
  /// The instant up to which states are stored, in nanoseconds of the loop's clock; see `noteStored(upTo:)`.
  @usableFromInline let stored = Atomic<Int64>(.min)
  /// The calendar day; see `noteDay(_:)`.
  let day: Latest<Int?>
  private let dayWriter: Mutex<LatestWriter<Int?>>

  /// Creates mailboxes that have not been used. The initialiser allocates; all sizes are fixed from then on.
  ///
  /// - Parameters:
  ///   - state: the state that readers see before the loop's first tick.
  ///   - rules: the rules that the loop begins with.
  ///   - requestsPerTick: the number of requests that may wait, 1 or more; rounded up to a power of two.
  ///   - answers: the number of answers that may wait to be read, 1 or more; unless given four times as many as requests, at least 256.
  ///   - notices: the number of notices that may wait to be read, 1 or more.
  ///   - patience: the greatest age of a request, 0 or more. An older request is answered `.stale`, unless it makes the system safe.
  ///   - takesRequests: whether requests are ever made. Without them there is no bell for them, which is one descriptor less.
  /// - Throws: `.system` when the process or the machine has no descriptor left.
  public convenience init(
    state: State, rules: Rules, requestsPerTick: Int = 64, answers: Int? = nil, notices: Int = 256,
    patience: Nanoseconds = .milliseconds(250), takesRequests: Bool = true
  ) throws(RuntimeError) {
    try self.init(
      state: state, rules: RulesBox(rules), requestsPerTick: requestsPerTick, answers: answers, notices: notices,
      patience: patience, takesRequests: takesRequests)
  }

  /// Creates mailboxes whose loop begins with the rules of an existing box; all else as above.
  public init(
    state: State, rules: RulesBox<Rules>, requestsPerTick: Int = 64, answers: Int? = nil, notices: Int = 256,
    patience: Nanoseconds = .milliseconds(250), takesRequests: Bool = true
  ) throws(RuntimeError) {
    require(patience >= .zero, "a loop's patience with requests is 0 or more")
    requestBell = takesRequests ? try Doorbell() : nil
    self.state = Latest(Published(at: .zero, isSafe: false, state: state))
    // A tick takes all that the ring holds: the bell that it has cleared does not ring again for what it would leave.
    requests = Ring(capacity: requestsPerTick)
    self.answers = Ring(capacity: answers ?? max(256, 4 * requests.capacity))
    self.notices = Ring(capacity: notices)
    self.patience = patience
    self.rules = rules
    let day = Latest<Int?>(nil)
    self.day = day
    dayWriter = Mutex(day.writer())
  }

  /// Tells the loop up to which instant its states are stored on the disk; see `LoopEnds.storedUpTo`. The function may be called from any thread, by
  /// the code that stores the states.
  ///
  /// - Parameter instant: the instant of the tick that published the newest stored state.
  public func noteStored(upTo instant: TickInstant) { stored.max(instant.nanoseconds, ordering: .releasing) }

  /// Tells the loop the calendar day; see `LoopEnds.day`. The function may be called from any thread.
  ///
  /// - Parameter number: the number of the day, or `nil` while the wall clock is not confirmed.
  public func noteDay(_ number: Int?) { dayWriter.withLock { $0.write(number) } }

  /// The loop input that releases the loop when `requestButton` is rung, for `Loop(inputs:)`.
  public var loopInput: LoopInput { bell.loopInput }

  /// The button to ring after a request was pushed. The value is valid as long as this object exists.
  public var requestButton: DoorbellButton { bell.button }

  private var bell: Doorbell {
    require(requestBell != nil, "mailboxes without requests have no bell for them")
    return requestBell!
  }

  /// Returns the loop's side. There is one at a time: a second call traps unless the first is gone; the new one then continues its work.
  ///
  /// - Parameters:
  ///   - bell: rung when answers or notices are ready to be read; it must outlive the loop. `nil` if no thread waits for them.
  ///   - stall: a stall that is served when a tick begins, for tests of code that watches the loop, or `nil` if there is none.
  ///   - requestBell: in simulated time, the bell that is rung after a request in place of `requestButton`, and that is an input of the loop in place of
  ///     `loopInput`.
  public func loopEnds(
    bell: DoorbellButton? = nil, stall: LaneStall.Served? = nil, requestBell: DoorbellInput? = nil
  ) -> Ends {
    Ends(self, bell: bell, stall: stall, requestBell: requestBell ?? self.requestBell?.input)
  }

  /// Returns the side of the other threads as one object, which has the ends that `requestWriter`, `answerReader` and
  /// `noticeReader` return.
  public func client() -> Client { Client(self) }

  /// Returns the end that sends requests. There is one at a time, as for `Ring.writer()`. If the ring of requests is full, sending
  /// fails because the loop is behind.
  public func requestWriter() -> RingWriter<Request<Order>> { requests.writer() }

  /// Returns the end that reads the answers. There is one at a time, as for `Ring.reader()`.
  public func answerReader() -> RingReader<Answer<Refusal>> { answers.reader() }

  /// Returns the end that reads the notices. There is one at a time, as for `Ring.reader()`.
  public func noticeReader() -> RingReader<Told<Notice>> { notices.reader() }
}
