import Synchronization
import Tactus

/// What a control loop says of one request, by the request's number.
public protocol MailboxAnswer: Sendable, BitwiseCopyable {
  /// The number of the request that this answers, as the mailbox gave it.
  var number: UInt64 { get }
}

extension Answer: MailboxAnswer {}

/// Requests to a system's loop, and its answers to them.
///
/// Usable from any thread. The lock is between the service's threads; the loop sees only the rings and takes no lock.
public final class Mailbox<Request: Sendable & BitwiseCopyable, Answer: MailboxAnswer>: Sendable {
  /// Called once, on any thread, with the loop's answer, or with why there is none.
  public typealias Completion = @Sendable (Result<Answer, APIError>) -> Void

  private struct Waiter {
    var number: UInt64
    var deadline: TickInstant
    var complete: Completion
  }

  private struct State: ~Copyable {
    var requests: RingWriter<Request>
    var answers: RingReader<Answer>
    var lastNumber: UInt64 = 0
    /// Of the newest answer that was taken.
    var lastAnswered: UInt64 = 0
    /// In the order of their numbers, as the answers come.
    var waiting: [Waiter] = []
    /// The loop's newest tick when the last request was made, and the requests made since: all that the ring can hold,
    /// since a tick takes what is there.
    var tickSeen = TickInstant.zero
    var sentSince = 0
  }

  private let state: Mutex<State>
  private let system: String
  private let requestsPerTick: Int
  private let newestTick: @Sendable () -> TickInstant
  private let ring: @Sendable () -> Void
  /// The loop's clock, by which requests are issued and time out.
  public let now: @Sendable () -> TickInstant

  /// - Parameters:
  ///   - system: for messages: `robot`.
  ///   - requestsPerTick: what a tick takes, and the ring holds.
  ///   - newestTick: the instant of the loop's newest snapshot.
  ///   - ring: wakes the loop.
  ///   - now: the loop's clock.
  public init(
    of system: String, requests: consuming RingWriter<Request>, answers: consuming RingReader<Answer>,
    requestsPerTick: Int, newestTick: @escaping @Sendable () -> TickInstant, ring: @escaping @Sendable () -> Void,
    now: @escaping @Sendable () -> TickInstant
  ) {
    state = Mutex(State(requests: requests, answers: answers))
    self.system = system
    self.requestsPerTick = requestsPerTick
    self.newestTick = newestTick
    self.ring = ring
    self.now = now
  }

  /// As above, with a loop's channel, of which it takes the requests' and the answers' ends.
  public convenience init<Notice, Snapshot>(
    of system: String, _ channel: LoopChannel<Request, Answer, Notice, Snapshot>,
    newestTick: @escaping @Sendable () -> TickInstant, ring: @escaping @Sendable () -> Void,
    now: @escaping @Sendable () -> TickInstant
  ) {
    self.init(
      of: system, requests: channel.requestWriter(), answers: channel.answerReader(),
      requestsPerTick: channel.requestsPerTick, newestTick: newestTick, ring: ring, now: now)
  }

  /// Makes a request, and calls `complete` exactly once, on any thread: with the loop's answer, or with 503 `BUSY` when the
  /// ring is full, 503 `NOT_TAKEN` when no answer came in time. Never blocks.
  ///
  /// - Parameters:
  ///   - isStop: it can only make the system safer.
  ///   - make: the request of this number, issued at this instant.
  public func send(isStop: Bool, _ make: (UInt64, TickInstant) -> Request, _ complete: @escaping Completion) {
    let isSent = state.withLock { state in
      // Read here: a thread that comes late to the lock would set the tick back.
      let (now, tick) = (now(), newestTick())
      if state.tickSeen != tick { (state.tickSeen, state.sentSince) = (tick, 0) }
      let limit = requestsPerTick - (isStop || !Mechanism.stopPlaces.acts ? 0 : MailboxNumbers.placesForStops)
      let number = state.lastNumber + 1
      // What is done although its answer finds no room would be reported as not taken. A stop is sent even so.
      let hasRoom = isStop || number - state.lastAnswered <= UInt64(clamping: MailboxNumbers.mostUnanswered)
      guard hasRoom, state.sentSince < limit, state.requests.push(make(number, now)) else { return false }
      state.lastNumber = number
      state.sentSince += 1
      state.waiting.append(Waiter(number: number, deadline: now + MailboxNumbers.timeout, complete: complete))
      return true
    }
    if isSent {
      ring()
    } else {
      complete(
        .failure(APIError(.serviceUnavailable, "BUSY", "the \(system)'s loop is behind: too many commands wait for it"))
      )
    }
  }

  /// Completes what the loop has answered, and what it has not answered in time at `now`.
  ///
  /// - Parameter before: called when the answers have been taken and are not delivered yet, so that what the loop did before it answered can
  ///   be seen by everyone who gets an answer.
  public func takeAnswers(at now: TickInstant, before: () -> Void = {}) {
    var done: [(Completion, Result<Answer, APIError>)] = []
    state.withLock { state in
      while let answer = state.answers.pop() {
        state.lastAnswered = max(state.lastAnswered, answer.number)
        // Answers come in the order of their numbers; one that is missing found its ring full.
        guard let index = state.waiting.firstIndex(where: { $0.number == answer.number }) else { continue }
        done.append((state.waiting.remove(at: index).complete, .success(answer)))
      }
      let overdue = state.waiting.prefix { $0.deadline <= now }
      for waiter in overdue { done.append((waiter.complete, .failure(notTaken))) }
      state.waiting.removeFirst(overdue.count)
    }
    before()
    for (complete, result) in done { complete(result) }
  }

  /// Requests that have been answered neither way.
  public var waitingCount: Int { state.withLock { $0.waiting.count } }

  private var notTaken: APIError {
    APIError(.serviceUnavailable, "NOT_TAKEN", "the \(system)'s loop did not take the command within 1 s")
  }
}

/// The limits of every mailbox, whatever its requests are.
public enum MailboxNumbers {
  /// How long a request waits for its answer. Longer than the loops' own patience with it (`RobotRequest.patience`,
  /// `LegRequest.patience`): a request that was given up moves nothing.
  public static let timeout = Nanoseconds.seconds(1)
  /// Places in the ring that only stops may take: a client that goes on driving while the loop stands still must not keep
  /// an e-stop out.
  static let placesForStops = 16
  /// Requests that are no stops and may be unanswered together: with those of stops they fit into a ring of answers, which holds 256.
  static let mostUnanswered = 256 - placesForStops
}
