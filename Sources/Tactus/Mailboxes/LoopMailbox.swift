/// All mailboxes of one loop: requests and rules in; the state, answers and notices out.
///
///     typealias FanMailbox = LoopMailbox<FanOrder, FanRefusal, FanNotice, FanState, FanRules>
///     let mailbox = try FanMailbox(state: FanState(), rules: FanRules())
///     Loop("fan", every: .hertz(100), inputs: [mailbox.loopInput]) { FanLoop(ends: mailbox.loopEnds(bell: bell.button)) }
///
/// The code that declares the loop owns it and keeps it as long as the runtime runs. Every loop has one: what several threads send
/// goes through one door, which has the writer of requests and the reader of answers.
public final class LoopMailbox<
  Order: BitwiseCopyable & Sendable, Refusal: BitwiseCopyable & Sendable, Notice: BitwiseCopyable & Sendable,
  State: BitwiseCopyable & Sendable, Rules: BitwiseCopyable & Sendable
>: Sendable {
  /// The loop's side: `FanMailbox.Ends` for a `typealias FanMailbox = LoopMailbox<…>`.
  public typealias Ends = LoopEnds<Order, Refusal, Notice, State, Rules>

  /// What the loop published last, with the instant of its tick and whether its outputs were safe then.
  public var state: Latest<Published<State>> { channel.state }
  /// The loop's rules, and the way to change them.
  public let rules: RulesBox<Rules>
  /// How many requests wait at most, and how many a tick takes at most: all that wait.
  public var requestsPerTick: Int { channel.requestsPerTick }
  /// How many answers wait at most to be read. A door that lets no more requests than this be unanswered loses no answer.
  public var answerCapacity: Int { channel.answerCapacity }
  /// How many notices wait at most to be read.
  public var noticeCapacity: Int { channel.noticeCapacity }
  /// How old a request may become that does not make safe.
  public let patience: Nanoseconds
  let channel: LoopChannel<Request<Order>, Answer<Refusal>, Told<Notice>, Published<State>>
  let requestBell: Doorbell

  /// Mailboxes that have not been used. Allocates; all sizes are fixed from then on.
  ///
  /// - Parameters:
  ///   - state: what is read before the loop's first tick.
  ///   - rules: what the loop begins with.
  ///   - requestsPerTick: 1 or more; rounded up to a power of two. Four times as many answers, at least 256, and 256
  ///     notices wait until they are read.
  ///   - patience: 0 or more. A request that is older when the loop takes it is answered `.stale`, unless it makes safe.
  /// - Throws: `.system` when the process or the machine has no descriptor left.
  public init(
    state: State, rules: Rules, requestsPerTick: Int = 64, patience: Nanoseconds = .milliseconds(250)
  ) throws(RuntimeError) {
    require(patience >= .zero, "a loop's patience with requests is 0 or more")
    requestBell = try Doorbell()
    channel = LoopChannel(
      state: Published(at: .zero, isSafe: false, state: state), requestsPerTick: requestsPerTick)
    self.patience = patience
    self.rules = RulesBox(rules)
  }

  /// What releases the loop when `requestButton` was rung, for `Loop(inputs:)`.
  public var loopInput: LoopInput { requestBell.loopInput }

  /// To ring after a request was pushed. Valid as long as this object.
  public var requestButton: DoorbellButton { requestBell.button }

  /// The loop's side. There is one at a time: a second call traps unless the first one is gone, whose work the new one
  /// continues.
  ///
  /// - Parameters:
  ///   - bell: rung when answers or notices are there to take; it must outlive the loop. `nil` if no thread waits for them.
  ///   - stall: served when a tick begins, for tests of code that watches the loop, or `nil` if there is none.
  public func loopEnds(bell: DoorbellButton? = nil, stall: LaneStall.Served? = nil) -> Ends {
    Ends(self, bell: bell, stall: stall)
  }

  /// The end that makes requests. One at a time, as of `Ring.writer()`. A full ring of requests refuses: the loop is behind.
  public func requestWriter() -> RingWriter<Request<Order>> { channel.requestWriter() }

  /// The end that takes the answers. One at a time, as of `Ring.reader()`.
  public func answerReader() -> RingReader<Answer<Refusal>> { channel.answerReader() }

  /// The end that takes the notices. One at a time, as of `Ring.reader()`.
  public func noticeReader() -> RingReader<Told<Notice>> { channel.noticeReader() }
}
