import NIOCore

/// The state of one HTTP connection: what is being read, which answers are outstanding, and which deadlines have
/// passed. The machine only decides; `RequestGate` carries out the decisions.
///
///     head ──head──▶ body ──end──▶ head …        answers in the order of the requests
///       └──────┴── last request, refusal, close ──▶ nothing
struct ConnectionMachine {
  enum Reading: Equatable {
    /// The connection is between requests (`since` is `nil`), or within a head that began at `since`.
    case head(since: NIODeadline?)
    case body(since: NIODeadline)
    /// Further bytes are discarded.
    case nothing
  }

  enum Refusal: Equatable {
    /// The error is to be answered at once, then the connection closes.
    case now
    /// Earlier requests are answered first; `answerEnded` returns the error when it is due.
    case later
    /// The answer to this request has begun or is complete, so the connection closes without an error document.
    case close
  }

  enum Check: Equatable {
    case wait(until: NIODeadline)
    case headTooSlow
    case bodyTooSlow
    case close
  }

  enum Next: Equatable {
    case carryOn
    case refuse(APIError)
    case close
  }

  private let limits: ConnectionLimits
  private(set) var reading = Reading.head(since: nil)
  /// The requests passed to the responder that are not completely answered; `true` stands for a HEAD request.
  private var unanswered = CircularBuffer<Bool>(initialCapacity: 1)
  /// Whether the head of the oldest outstanding answer has been written.
  private var answering = false
  /// Whether the request that is being read, or was read last, is the last one that is accepted.
  private(set) var isLastRequest = false
  private var refusal: (error: APIError, after: Int)?
  private var lastActivity: NIODeadline
  /// The number of bytes that the client had not read at the last check.
  private var lastWaitingBytes = Int.max
  /// Whether the connection is being closed, so that no answer is written any more.
  private(set) var isOver = false

  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    lastActivity = now
  }

  /// Whether the responder has no earlier request, so that an answer may be given on the event loop.
  var mayAnswer: Bool { unanswered.isEmpty && !isOver }
  /// Whether another request, or more of the present one, may be read: the responder has no complete request.
  var mayTakeMore: Bool {
    if case .body = reading { return true }
    return unanswered.isEmpty
  }
  /// Whether the answer being written is to a HEAD request.
  var answersHead: Bool { unanswered.first ?? false }
  /// Whether the answer being written is the connection's last.
  var isLastAnswer: Bool { isLastRequest && unanswered.count == 1 && refusal == nil }

  mutating func bytesArrived(at now: NIODeadline) {
    lastActivity = now
    if reading == .head(since: nil) { reading = .head(since: now) }
  }

  /// Notes that a request's head has arrived.
  ///
  /// - Parameter keepsAlive: whether another request may follow.
  mutating func headArrived(keepsAlive: Bool, at now: NIODeadline) {
    reading = .body(since: now)
    if !keepsAlive { isLastRequest = true }
  }

  mutating func endArrived() {
    guard case .body = reading else { return }
    reading = isLastRequest ? .nothing : .head(since: nil)
  }

  mutating func handedOver(isHead: Bool) { unanswered.append(isHead) }

  mutating func answerBegan() { answering = true }

  /// Notes that the responder wants the connection to end with the present answer.
  mutating func answersLast() {
    isLastRequest = true
    reading = .nothing
    while unanswered.count > 1 { unanswered.removeLast() }
  }

  /// Notes that an answer of the responder is complete, and returns what to do next.
  mutating func answerEnded(at now: NIODeadline) -> Next {
    answering = false
    lastActivity = now
    if !unanswered.isEmpty { unanswered.removeFirst() }
    if let (error, after) = refusal {
      refusal = (error, after - 1)
      return after == 1 ? .refuse(error) : .carryOn
    }
    return unanswered.isEmpty && isLastRequest ? .close : .carryOn
  }

  /// Notes that a request was answered on the event loop. Returns whether that answer was the connection's last.
  mutating func answered(at now: NIODeadline) -> Bool {
    lastActivity = now
    return isLastRequest
  }

  /// Notes that the request being read cannot be accepted. Returns when the error is to be answered.
  mutating func refuse(_ error: APIError) -> Refusal {
    guard !isOver, refusal == nil else { return .later }
    var due = unanswered.count
    if case .body = reading { due -= 1 }
    reading = .nothing
    isLastRequest = true
    if due < 0 { return .close }
    if due == 0 { return answering ? .close : .now }
    refusal = (error, due)
    return .later
  }

  /// Notes that the server is stopping or that the client has closed its sending half. Returns whether no answer is
  /// outstanding, so that the connection may be closed.
  mutating func finish() -> Bool {
    isLastRequest = true
    if case .head = reading { reading = .nothing }
    return unanswered.isEmpty
  }

  mutating func closing() {
    isOver = true
    reading = .nothing
  }

  mutating func drained(at now: NIODeadline) { lastActivity = now }

  /// Checks the deadlines of the connection, and returns what to do.
  ///
  /// - Parameters:
  ///   - waitingBytes: the number of bytes of answers that the client has not read. If it has fallen since the last
  ///     check, or was 0 then, the idle time starts anew.
  ///   - isKnown: whether the connection's last request showed a valid token; without one the idle time is shorter.
  mutating func check(at now: NIODeadline, isWritable: Bool, waitingBytes: Int, isKnown: Bool) -> Check {
    if waitingBytes > 0, waitingBytes < lastWaitingBytes || lastWaitingBytes == 0 { lastActivity = now }
    lastWaitingBytes = waitingBytes
    let idle = lastActivity + (isKnown ? limits.idleTime : limits.strangerIdleTime)
    var next = idle
    switch reading {
    case .head(let since?):
      if now >= since + limits.headTime { return .headTooSlow }
      next = min(next, since + limits.headTime)
    case .body(let since):
      if now >= since + limits.bodyTime { return .bodyTooSlow }
      next = min(next, since + limits.bodyTime)
    case .head, .nothing: break
    }
    // The responder has no time limit, but a client that does not read its answer counts as gone.
    if !unanswered.isEmpty, isWritable { return .wait(until: max(next, now + limits.headTime)) }
    return now >= idle ? .close : .wait(until: next)
  }
}
