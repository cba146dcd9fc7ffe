import Synchronization
import Tactus

/// The answer of a control loop to one request, which it identifies by number.
public protocol MailboxAnswer: Sendable, BitwiseCopyable {
  /// The number of the request that this answers, as given by the mailbox.
  var number: UInt64 { get }
}

extension Answer: MailboxAnswer {}

/// Carries requests to a system's loop and the loop's answers back.
///
/// It may be used from any thread. The lock is taken by the service's threads only; the loop uses only the rings and takes no lock.
public final class Mailbox<Request: Sendable & BitwiseCopyable, Answer: MailboxAnswer>: Sendable {
  /// A function that is called once, on any thread, with the loop's answer, or with the error if there is none.
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
    /// The number of the newest answer received.
    var lastAnswered: UInt64 = 0
    /// The requests without an answer, in the order of their numbers, which is also the order of the answers.
    var waiting: [Waiter] = []
    /// The loop's newest tick when the last request was made. `sentSince` counts the requests made since that tick;
    /// they are all that the ring can hold, because a tick takes every request in it.
    var tickSeen = TickInstant.zero
    var sentSince = 0
    /// The number of the newest emergency stop, until the loop has answered it or a later request.
    var emergencyStop: UInt64?
    /// Makes an emergency stop that found no room in the ring. It is sent before anything else as soon as there is room.
    var owedStop: (@Sendable (UInt64, TickInstant) -> Request)?
    /// The instant at which the newest stop of each part was asked for.
    var stopped: [SystemPart: TickInstant] = [:]

    /// Returns whether a stop of the request's part was sent that was asked for after the request.
    func isOvertaken(_ asked: Asked) -> Bool {
      stopped.contains { part, instant in
        asked.at < instant && (part == asked.part || part == .whole || asked.part == .whole)
      }
    }

    /// Begins a new count of the ring's places if the loop has begun another tick.
    mutating func see(_ tick: TickInstant) {
      if tickSeen != tick { (tickSeen, sentSince) = (tick, 0) }
    }

    /// Puts a request into the ring. Returns whether it found room.
    mutating func push(_ request: Request, limit: Int) -> Bool {
      guard sentSince < limit, requests.push(request) else { return false }
      (lastNumber, sentSince) = (lastNumber + 1, sentSince + 1)
      return true
    }

    /// Sends the emergency stop that found no room, if there is one and room for it now. Returns whether it was sent.
    mutating func sendOwedStop(limit: Int, at now: TickInstant) -> Bool {
      guard let make = owedStop, push(make(lastNumber + 1, now), limit: limit) else { return false }
      (owedStop, emergencyStop) = (nil, lastNumber)
      return true
    }
  }

  private enum Sending {
    case sent
    case full
    case owed
    case overtaken
  }

  private let state: Mutex<State>
  private let system: String
  private let requestsPerTick: Int
  private let newestTick: @Sendable () -> TickInstant
  private let ring: @Sendable () -> Void
  private let isEmergencyStop: @Sendable (Request) -> Bool
  /// The loop's clock, by which requests are issued and expire.
  public let now: @Sendable () -> TickInstant

  /// Makes the mailbox of one loop.
  ///
  /// - Parameters:
  ///   - system: the system's name for messages: `robot`.
  ///   - requestsPerTick: the number of requests that a tick takes and the ring holds.
  ///   - newestTick: returns the instant of the loop's newest snapshot.
  ///   - ring: wakes the loop.
  ///   - now: returns the present instant of the loop's clock.
  ///   - isEmergencyStop: returns whether a request is an emergency stop, which counts from when it is sent; see `isEmergencyStopOnItsWay`.
  public init(
    of system: String, requests: consuming RingWriter<Request>, answers: consuming RingReader<Answer>,
    requestsPerTick: Int, newestTick: @escaping @Sendable () -> TickInstant, ring: @escaping @Sendable () -> Void,
    now: @escaping @Sendable () -> TickInstant, isEmergencyStop: @escaping @Sendable (Request) -> Bool = { _ in false }
  ) {
    state = Mutex(State(requests: requests, answers: answers))
    self.system = system
    self.requestsPerTick = requestsPerTick
    self.newestTick = newestTick
    self.ring = ring
    self.now = now
    self.isEmergencyStop = isEmergencyStop
  }

  /// Sends a request. Calls `complete` exactly once, on any thread: with the loop's answer, with 503 `BUSY` if the ring
  /// is full, with 409 `OVERTAKEN` if a stop that was asked for later was sent before, or with 503 `NOT_TAKEN` if no answer came in time. Never
  /// blocks. An emergency stop that finds the ring full is refused as well, and all the same sent as soon as there is room, before any later request.
  ///
  /// Requests wait for different lengths of time on their way here: for a body, a disk, a thread. A stop that arrives second may therefore be sent
  /// first, and makes earlier requests void. Requests are compared by the instant at which they were asked for, and only those with `asked`.
  ///
  /// - Parameters:
  ///   - isStop: whether the request can only make the system safer.
  ///   - asked: the part of the system that a client asked for, and when, or `nil` if a stop makes nothing void and the request cannot be overtaken.
  ///   - make: makes the request with the given number and instant of issue. Called again if it is an emergency stop that found no room.
  public func send(
    isStop: Bool, _ asked: Asked? = nil, _ make: @escaping @Sendable (UInt64, TickInstant) -> Request,
    _ complete: @escaping Completion
  ) {
    let sending = state.withLock { state -> Sending in
      // Both are read under the lock, since a thread that comes late to it would set the tick back.
      let (now, tick) = (now(), newestTick())
      state.see(tick)
      _ = state.sendOwedStop(limit: requestsPerTick, at: now)
      let limit = requestsPerTick - (isStop || !Mechanism.stopPlaces.acts ? 0 : MailboxNumbers.placesForStops)
      let number = state.lastNumber + 1
      if let asked, !isStop, Mechanism.overtaking.acts, state.isOvertaken(asked) { return .overtaken }
      // A request whose answer finds no room would be carried out and reported as not taken, so only a stop is sent then.
      let hasRoom = isStop || number - state.lastAnswered <= UInt64(clamping: MailboxNumbers.mostUnanswered)
      let request = make(number, now)
      let isSent = hasRoom && state.push(request, limit: limit)
      guard isSent || isEmergencyStop(request) else { return .full }
      if let asked, isStop { state.stopped[asked.part] = max(state.stopped[asked.part] ?? .zero, asked.at) }
      guard isSent else {
        state.owedStop = make
        return .owed
      }
      if isEmergencyStop(request) { state.emergencyStop = number }
      state.waiting.append(Waiter(number: number, deadline: now + MailboxNumbers.timeout, complete: complete))
      return .sent
    }
    switch sending {
    case .sent: ring()
    case .overtaken:
      complete(
        .failure(
          .conflict(
            APIError.overtakenCode, "the command did nothing: a stop that came after it was obeyed before it")))
    case .full, .owed:
      let words = "the \(system)'s loop is behind: too many commands wait for it"
      let more = sending == .owed ? "; the emergency stop is given to it as soon as it goes on" : ""
      complete(.failure(APIError(.serviceUnavailable, "BUSY", words + more)))
    }
  }

  /// Completes the requests that the loop has answered, and those whose time is over at `now`.
  ///
  /// - Parameter before: called after the answers have been received and before they are delivered, so that the effects
  ///   which precede an answer are visible to its recipient.
  public func takeAnswers(at now: TickInstant, before: () -> Void = {}) {
    var done: [(Completion, Result<Answer, APIError>)] = []
    let hasSent = state.withLock { state in
      while let answer = state.answers.pop() {
        state.lastAnswered = max(state.lastAnswered, answer.number)
        // The loop takes requests in their order: it has the stop, even if the answer to the stop found its ring full.
        if let stop = state.emergencyStop, answer.number >= stop { state.emergencyStop = nil }
        // Answers come in the order of their numbers; one that is missing found its ring full.
        guard let index = state.waiting.firstIndex(where: { $0.number == answer.number }) else { continue }
        done.append((state.waiting.remove(at: index).complete, .success(answer)))
      }
      let overdue = state.waiting.prefix { $0.deadline <= now }
      for waiter in overdue { done.append((waiter.complete, .failure(notTaken))) }
      state.waiting.removeFirst(overdue.count)
      guard state.owedStop != nil else { return false }
      state.see(newestTick())
      return state.sendOwedStop(limit: requestsPerTick, at: now)
    }
    if hasSent { ring() }
    before()
    for (complete, result) in done { complete(result) }
  }

  /// The number of requests that have neither been answered nor timed out.
  public var waitingCount: Int { state.withLock { $0.waiting.count } }

  /// Whether an emergency stop was sent that the loop is not known to have taken. The stop must hold all the same, also
  /// over a restart, since the loop may hang, whether its sender still waits or was answered that it was not taken in
  /// time. Once the loop has answered, its state shows whether it is stopped.
  public var isEmergencyStopOnItsWay: Bool { state.withLock { $0.emergencyStop != nil || $0.owedStop != nil } }

  private var notTaken: APIError {
    APIError(.serviceUnavailable, "NOT_TAKEN", "the \(system)'s loop did not take the command within 1 s")
  }
}

/// The part of a system that a request is for. A stop makes the earlier requests for its part void, a stop of the whole system those for every part,
/// and the stop of any part those for the whole system.
public enum SystemPart: Hashable, Sendable {
  /// The request is for the whole system.
  case whole
  /// The item of this number: a leg, a zone.
  case item(Int)
}

/// The part of the system that a client's request is for, and the instant of the request.
public struct Asked: Sendable {
  /// The part of the system that the request is for.
  public let part: SystemPart
  /// The instant at which the first byte of the request was read, on the clock of the mailbox.
  public let at: TickInstant

  /// Creates the value; `instant` is when the first byte of the request was read.
  public init(_ part: SystemPart = .whole, at instant: TickInstant) { (self.part, at) = (part, instant) }
}

/// The limits of every mailbox, whatever its requests are.
public enum MailboxNumbers {
  /// The time for which a request waits for its answer. This is longer than the loops themselves wait (`LoopMailbox.patience`), so that a request
  /// that has timed out has no effect.
  public static let timeout = Nanoseconds.seconds(1)
  /// The number of places in the ring that are reserved for stops, so that a client that goes on driving while the loop is stalled cannot keep out an
  /// e-stop.
  static let placesForStops = 16
  /// The number of requests other than stops that may be unanswered at a time. Together with the stops they fit into
  /// the ring of answers, which holds 256.
  static let mostUnanswered = 256 - placesForStops
}

extension Latest {
  /// The value that the loop has published last.
  public var newest: Element {
    var reader = self.reader()
    return reader.read()
  }
}
