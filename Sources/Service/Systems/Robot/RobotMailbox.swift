import Robot
import Synchronization
import Tactus

/// Requests to the robot's loop, and its answers back to whoever waits for them.
///
/// Any thread. The lock is between the service's own threads; the loop sees only the rings and takes no lock.
final class RobotMailbox: Sendable {
  typealias Completion = @Sendable (Result<RobotAnswer, APIError>) -> Void

  /// How long a request waits for its answer. Longer than the loop's own patience with it (`RobotRequest.patience`): what
  /// nobody waits for any more does not move the robot.
  static let timeout = Nanoseconds.seconds(1)
  /// Places in the ring that only stops may take: a client that goes on driving while the loop stands still must not keep
  /// an e-stop out.
  static let placesForStops = 16

  private struct Waiter {
    var number: UInt64
    var deadline: TickInstant
    var complete: Completion
  }

  private struct State: ~Copyable {
    var requests: RingWriter<RobotRequest>
    var answers: RingReader<RobotAnswer>
    var lastNumber: UInt64 = 0
    /// In the order of their numbers, as the answers come.
    var waiting: [Waiter] = []
    /// The loop's newest tick when the last request was made, and the requests made since: all that the ring can hold,
    /// since a tick takes what is there.
    var tickSeen = TickInstant.zero
    var sentSince = 0
  }

  private let state: Mutex<State>
  private let snapshot: Latest<RobotSnapshot>
  private let ring: @Sendable () -> Void
  private let now: @Sendable () -> TickInstant

  /// - Parameters:
  ///   - ring: wakes the robot's loop.
  ///   - now: the loop's clock.
  init(
    requests: consuming RingWriter<RobotRequest>, answers: consuming RingReader<RobotAnswer>,
    snapshot: Latest<RobotSnapshot>, ring: @escaping @Sendable () -> Void, now: @escaping @Sendable () -> TickInstant
  ) {
    state = Mutex(State(requests: requests, answers: answers))
    self.snapshot = snapshot
    self.ring = ring
    self.now = now
  }

  /// Makes a request, and calls `complete` exactly once, on any thread: with the loop's answer, or with 503 `BUSY` when the
  /// ring is full, 503 `NOT_TAKEN` when no answer came in time. Never blocks.
  func send(_ command: RobotRequest.Command, client: UInt32, _ complete: @escaping Completion) {
    let now = now()
    var reader = snapshot.reader()
    let tick = reader.read().at
    let isSent = state.withLock { state in
      if state.tickSeen != tick { (state.tickSeen, state.sentSince) = (tick, 0) }
      let limit = RobotLoop.requestsPerTick - (command.isStop ? 0 : Self.placesForStops)
      let request = RobotRequest(number: state.lastNumber + 1, issued: now, command, client: client)
      guard state.sentSince < limit, state.requests.push(request) else { return false }
      state.lastNumber += 1
      state.sentSince += 1
      state.waiting.append(Waiter(number: request.number, deadline: now + Self.timeout, complete: complete))
      return true
    }
    if isSent {
      ring()
    } else {
      complete(
        .failure(APIError(.serviceUnavailable, "BUSY", "the robot's loop is behind: too many commands wait for it")))
    }
  }

  /// As `send`, for who can wait.
  func ask(_ command: RobotRequest.Command, client: UInt32) async throws -> RobotAnswer {
    try await withCheckedThrowingContinuation { continuation in
      send(command, client: client) { continuation.resume(with: $0) }
    }
  }

  /// Completes what the loop has answered, and what it has not answered in time at `now`.
  func takeAnswers(at now: TickInstant) {
    var done: [(Completion, Result<RobotAnswer, APIError>)] = []
    state.withLock { state in
      while let answer = state.answers.pop() {
        // Answers come in the order of their numbers; one that is missing found its ring full.
        guard let index = state.waiting.firstIndex(where: { $0.number == answer.number }) else { continue }
        done.append((state.waiting.remove(at: index).complete, .success(answer)))
      }
      let overdue = state.waiting.prefix { $0.deadline <= now }
      for waiter in overdue { done.append((waiter.complete, .failure(Self.notTaken))) }
      state.waiting.removeFirst(overdue.count)
    }
    for (complete, result) in done { complete(result) }
  }

  /// Requests that have been answered neither way.
  var waitingCount: Int { state.withLock { $0.waiting.count } }

  private static let notTaken = APIError(
    .serviceUnavailable, "NOT_TAKEN", "the robot's loop did not take the command within 1 s")
}

extension RobotRequest.Command {
  /// Whether it can only make the robot stop.
  fileprivate var isStop: Bool {
    switch self {
    case .drive(let speeds, _): speeds.isZero
    case .stop, .emergencyStop, .leave: true
    case .reset, .query: false
    }
  }
}
