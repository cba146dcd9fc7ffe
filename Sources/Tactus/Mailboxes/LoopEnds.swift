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
  @usableFromInline var channel: LoopChannelEnds<Request<Order>, Answer<Refusal>, Told<Notice>, Published<State>>
  @usableFromInline var rulesInput: RulesInput<Rules>
  @usableFromInline let stall: LaneStall.Served?
  @usableFromInline let patience: Nanoseconds
  @usableFromInline var now = TickInstant.zero

  init(
    _ mailbox: LoopMailbox<Order, Refusal, Notice, State, Rules>, bell: DoorbellButton?, stall: LaneStall.Served?
  ) {
    self.mailbox = mailbox
    channel = mailbox.channel.loopEnds(requestBell: mailbox.requestBell.input, bell: bell)
    rulesInput = mailbox.rules.input()
    self.stall = stall
    patience = mailbox.patience
  }

  /// The rules as of this tick.
  @inlinable public var rules: Rules { @inline(__always) get { rulesInput.current } }

  /// Answers and notices that were lost because their ring was full, since these ends were made.
  @inlinable public var dropped: Int64 { @inline(__always) get { channel.noticesDropped &+ channel.answersDropped } }

  /// Begins a tick: clears the bell of requests and takes rules that have changed.
  @inlinable @inline(__always)
  public mutating func begin(_ tick: Tick) {
    now = tick.started
    if let stall { stall.serve(at: now) }
    channel.begin(tick)
    rulesInput.begin()
  }

  /// As `begin(_:)` for `safeState(_:cause:)`, before it answers or publishes notices: both bear the instant of `tick`. Requests
  /// and rules are left to the next tick.
  @inlinable @inline(__always)
  public mutating func beginSafeState(_ tick: Tick) { now = tick.started }

  /// Takes the oldest request that waits. It is `nil` if none waits, or if the tick has taken as many as it may.
  ///
  /// A request that is older than the loop's patience and does not make safe is answered `.stale` and not returned.
  @inlinable @inline(__always)
  public mutating func next() -> Request<Order>? {
    while let request = channel.next() {
      if request.makesSafe || !(request.issued < now - patience) || !Mechanism.staleness.acts { return request }
      answer(request, .stale)
    }
    return nil
  }

  /// Answers a request, when the tick finishes. Each request is answered once; a later tick may do so, too.
  @inlinable @inline(__always)
  public mutating func answer(_ request: Request<Order>, _ verdict: Verdict<Refusal>) {
    channel.answer(Answer(number: request.number, verdict: verdict, at: now))
  }

  /// Publishes a notice. A reader may have it before the tick finishes; the bell rings then.
  @inlinable @inline(__always)
  public mutating func tell(_ notice: Notice) { channel.tell(Told(at: now, notice: notice)) }

  /// Ends a tick or a safe state: publishes the state, then the answers, so that a client that is answered finds the effect in
  /// the state. Then rings, if there are answers or notices. Answers that are lost here are in the counts of the next tick.
  ///
  /// - Parameters:
  ///   - state: the state that readers get from now on.
  ///   - isSafe: whether every output of the loop is in its safe state, confirmed by the device: wider rules wait for that.
  @inlinable @inline(__always)
  public mutating func finish(_ state: State, isSafe: Bool) {
    rulesInput.finish(isSafe: isSafe)
    channel.finish(
      Published(
        at: now, isSafe: isSafe, state: state, noticesDropped: channel.noticesDropped,
        answersDropped: channel.answersDropped))
  }
}
