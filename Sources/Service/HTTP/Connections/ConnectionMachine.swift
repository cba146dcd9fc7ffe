import NIOCore

/// Where one HTTP connection stands: what is being read, which answers are owed, and when it has lasted too long. Decides and
/// does nothing else; the gate carries out.
///
///     head ──head──▶ body ──end──▶ head …        answers in the order of the requests
///       └──────┴── last request, refusal, close ──▶ nothing
struct ConnectionMachine {
  enum Reading: Equatable {
    /// Between requests (nil) or within a head since then.
    case head(since: NIODeadline?)
    case body(since: NIODeadline)
    /// What still comes is thrown away.
    case nothing
  }

  enum Refusal: Equatable {
    /// Answer it at once, then close.
    case now
    /// Earlier requests are answered first; `answerEnded` hands it out.
    case later
    /// Its answer has begun or is out: nothing more can be said.
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
  /// Requests that the responder has and that are not wholly answered; true: a HEAD.
  private var unanswered = CircularBuffer<Bool>(initialCapacity: 1)
  /// The head of the oldest one's answer is out.
  private var answering = false
  /// No request is taken after the one being read or read last.
  private(set) var isLastRequest = false
  private var refusal: (error: APIError, after: Int)?
  private var lastActivity: NIODeadline
  /// Bytes that the client had not read at the last check.
  private var lastWaitingBytes = Int.max
  /// The connection is being closed: no answer is written any more.
  private(set) var isOver = false

  init(_ limits: ConnectionLimits, at now: NIODeadline) {
    self.limits = limits
    lastActivity = now
  }

  /// No earlier request is with the responder: an answer may be given here and now.
  var mayAnswer: Bool { unanswered.isEmpty && !isOver }
  /// Another request, or more of the present one, may be read: the responder has none that is whole.
  var mayTakeMore: Bool {
    if case .body = reading { return true }
    return unanswered.isEmpty
  }
  /// The answer being written is to a HEAD.
  var answersHead: Bool { unanswered.first ?? false }
  /// The answer being written is the connection's last.
  var isLastAnswer: Bool { isLastRequest && unanswered.count == 1 && refusal == nil }

  mutating func bytesArrived(at now: NIODeadline) {
    lastActivity = now
    if reading == .head(since: nil) { reading = .head(since: now) }
  }

  /// - Parameter keepsAlive: another request may follow.
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

  /// The responder wants the connection to end with the answer it gives.
  mutating func answersLast() {
    isLastRequest = true
    reading = .nothing
    while unanswered.count > 1 { unanswered.removeLast() }
  }

  /// An answer was given by the responder.
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

  /// An answer was given here. True: it was the connection's last.
  mutating func answered(at now: NIODeadline) -> Bool {
    lastActivity = now
    return isLastRequest
  }

  /// The request being read cannot be taken.
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

  /// The server stops, or the client has sent all it wanted. True: nothing is owed, close.
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

  /// - Parameters:
  ///   - waitingBytes: of answers that the client has not read. Fewer than at the last check: it is slow, not gone;
  ///     none then: its time begins.
  ///   - isKnown: whether its last request showed a token; without one it may be silent for less.
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
    // The responder takes as long as it takes; a client that does not take the answer is gone.
    if !unanswered.isEmpty, isWritable { return .wait(until: max(next, now + limits.headTime)) }
    return now >= idle ? .close : .wait(until: next)
  }
}
