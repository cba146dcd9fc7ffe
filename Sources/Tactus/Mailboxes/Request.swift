/// A request to a loop from another thread than a lane's. The loop answers the request with its `number`.
public struct Request<Order: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// The number that identifies the request in its answer. The sender chooses it; the loop only copies it.
  public let number: UInt64
  /// The instant at which the request was made, on the clock of the loop's ticks.
  public let issued: TickInstant
  /// The instant at which a client asked for it, on the same clock. It may have waited since, for a body or for a disk, and a stop may have come.
  public let asked: TickInstant
  /// Whether the request can only make the system safer. Such a request never becomes stale.
  public let makesSafe: Bool
  /// The number of the client that sent the request, or 0 if it was not sent on behalf of a client.
  public let client: UInt32
  /// The order that the loop is asked to carry out.
  public let order: Order

  /// Creates a request.
  ///
  /// - Parameters:
  ///   - number: the number that identifies the request in its answer.
  ///   - issued: the instant at which the request was made, on the clock of the loop's ticks.
  ///   - asked: the instant at which a client asked for it; unless given, that at which it was made.
  ///   - makesSafe: whether the request can only make the system safer, so that it never becomes stale.
  ///   - client: the number of the client that sent the request, or 0 if it was not sent on behalf of a client.
  ///   - order: the order that the loop is asked to carry out.
  @inlinable @inline(__always)
  public init(
    number: UInt64, issued: TickInstant, asked: TickInstant? = nil, makesSafe: Bool, client: UInt32 = 0, order: Order
  ) {
    self.number = number
    self.issued = issued
    self.asked = asked ?? issued
    self.makesSafe = makesSafe
    self.client = client
    self.order = order
  }
}

/// A loop's decision on a request.
public enum Verdict<Refusal: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// The order is carried out. The state that was published before the answer shows its effect.
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
  /// Whether the request was accepted, refused or stale.
  public let verdict: Verdict<Refusal>
  /// The instant at which the tick that answered the request began.
  public let at: TickInstant

  /// Creates an answer.
  ///
  /// - Parameters:
  ///   - number: the number of the request.
  ///   - verdict: whether the request was accepted, refused or stale.
  ///   - at: the instant at which the tick that answered the request began.
  @inlinable @inline(__always)
  public init(number: UInt64, verdict: Verdict<Refusal>, at: TickInstant) {
    self.number = number
    self.verdict = verdict
    self.at = at
  }
}

/// A notice, which is an event that a loop reports without a request.
public struct Told<Notice: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// The instant at which the tick that published the notice began.
  public let at: TickInstant
  /// The event that the loop reports.
  public let notice: Notice

  /// Creates a notice.
  ///
  /// - Parameters:
  ///   - at: the instant at which the tick that published the notice began.
  ///   - notice: the event that the loop reports.
  @inlinable @inline(__always)
  public init(at: TickInstant, notice: Notice) {
    self.at = at
    self.notice = notice
  }
}

/// The data that a loop publishes at the end of each tick.
public struct Published<State: BitwiseCopyable & Sendable>: BitwiseCopyable, Sendable {
  /// The instant at which the tick that published the value began, or `.zero` before the first tick.
  public let at: TickInstant
  /// Whether every output of the loop was in its safe state, confirmed by the device. The result is `false` before the first tick.
  public let isSafe: Bool
  /// The state of the loop, in the system's own type.
  public let state: State
  /// The number of notices that were lost because their ring was full, since the loop's ends were made.
  public let noticesDropped: Int64
  /// The number of answers that were lost because their ring was full, since the loop's ends were made.
  public let answersDropped: Int64

  /// Creates a publication by hand, for tests.
  @inlinable public init(
    at: TickInstant, isSafe: Bool, state: State, noticesDropped: Int64 = 0, answersDropped: Int64 = 0
  ) {
    (self.at, self.isSafe, self.state) = (at, isSafe, state)
    (self.noticesDropped, self.answersDropped) = (noticesDropped, answersDropped)
  }
}
