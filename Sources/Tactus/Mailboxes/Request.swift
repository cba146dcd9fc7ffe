/// A request to a loop, from a thread that is no lane. The loop answers it with its `number`.
public struct Request<Order: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// Names the request in its answer. The sender chooses it; the loop only copies it.
  public let number: UInt64
  /// When it was made, on the clock of the loop's ticks.
  public let issued: TickInstant
  /// Whether it can only make the system safer. Such a request never becomes stale.
  public let makesSafe: Bool
  /// Number of the client that sent the request; 0 if it was sent for no client.
  public let client: UInt32
  /// What is to be done.
  public let order: Order

  /// - Parameters:
  ///   - number: names the request in its answer.
  ///   - issued: when it was made, on the clock of the loop's ticks.
  ///   - makesSafe: whether it can only make the system safer, so that it never becomes stale.
  ///   - client: number of the client that sent it; 0 if it was sent for no client.
  ///   - order: what is to be done.
  @inlinable @inline(__always)
  public init(number: UInt64, issued: TickInstant, makesSafe: Bool, client: UInt32 = 0, order: Order) {
    self.number = number
    self.issued = issued
    self.makesSafe = makesSafe
    self.client = client
    self.order = order
  }
}

/// What a loop says of a request.
public enum Verdict<Refusal: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// The order is carried out; the state that was published before the answer shows it.
  case accepted
  /// The order is not carried out, for this reason.
  case refused(Refusal)
  /// The request waited for the loop longer than the loop's patience, and the order is not carried out.
  case stale
}

extension Verdict: Equatable where Refusal: Equatable {}

/// A loop's answer to the request of the same number.
public struct Answer<Refusal: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// The number of the request.
  public let number: UInt64
  /// What became of the request.
  public let verdict: Verdict<Refusal>
  /// When the tick began that answered the request.
  public let at: TickInstant

  /// - Parameters:
  ///   - number: the number of the request.
  ///   - verdict: what became of the request.
  ///   - at: when the tick began that answered the request.
  @inlinable @inline(__always)
  public init(number: UInt64, verdict: Verdict<Refusal>, at: TickInstant) {
    self.number = number
    self.verdict = verdict
    self.at = at
  }
}

/// A notice: something that a loop reports without a request.
public struct Told<Notice: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// When the tick began that published the notice.
  public let at: TickInstant
  /// What happened.
  public let notice: Notice

  /// - Parameters:
  ///   - at: when the tick began that published the notice.
  ///   - notice: what happened.
  @inlinable @inline(__always)
  public init(at: TickInstant, notice: Notice) {
    self.at = at
    self.notice = notice
  }
}

/// What a loop publishes when a tick ends.
public struct Published<State: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// When that tick began; `.zero` before the first.
  public let at: TickInstant
  /// Whether every output of the loop was in its safe state, confirmed by the device. False before the first tick.
  public let isSafe: Bool
  /// The loop's own.
  public let state: State
  /// Notices that were lost because their ring was full, since the loop's ends were made.
  public let noticesDropped: Int64
  /// Answers that were lost because their ring was full, since the loop's ends were made.
  public let answersDropped: Int64

  /// What is published, by hand.
  @inlinable public init(
    at: TickInstant, isSafe: Bool, state: State, noticesDropped: Int64 = 0, answersDropped: Int64 = 0
  ) {
    (self.at, self.isSafe, self.state) = (at, isSafe, state)
    (self.noticesDropped, self.answersDropped) = (noticesDropped, answersDropped)
  }
}
