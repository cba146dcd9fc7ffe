import NIOCore
import Synchronization

/// Passes events to all WebSocket clients without ever waiting for a client.
///
/// Each event is encoded into its frame once, and all clients share the bytes. Each event loop is called once for each batch.
public final class EventHub: Sendable {
  private struct State {
    var number: UInt64 = 0
    var changes = StateChanges()
    var audiences: [ObjectIdentifier: Audience] = [:]
  }

  private let state = Mutex(State())

  /// Makes a hub without clients. The first edge or state has the number 1.
  public init() {}

  /// Publishes events without waiting for any client. It may be used from any thread.
  public func publish(_ events: [Event]) {
    guard !events.isEmpty else { return }
    // Within the lock, so that two publishers' batches reach every client in the order of their numbers.
    state.withLock { state in
      let batch = EventBatch(
        events.map { event in
          switch event.kind {
          case .edge, .state: state.number += 1
          case .telemetry, .frame: break
          }
          return NumberedEvent(event, number: state.number, followed: state.changes.record(event, number: state.number))
        })
      for audience in state.audiences.values {
        audience.loop.execute { audience.deliver(batch) }
      }
    }
  }

  /// Starts a new check of the tokens of all sessions and watches, since one may have been revoked. Does not wait.
  public func checkTokens() {
    state.withLock { state in
      for audience in state.audiences.values {
        audience.loop.execute { audience.checkTokens() }
      }
    }
  }

  /// Adds a session. Returns the number of the last event that the session does not get. The function is to be called on the session's event loop.
  func join(_ session: WebSocketSession, on loop: any EventLoop) -> UInt64 {
    loop.preconditionInEventLoop()
    return state.withLock { state in
      let audience = state.audiences[ObjectIdentifier(loop)] ?? Audience(loop)
      state.audiences[ObjectIdentifier(loop)] = audience
      audience.sessions[ObjectIdentifier(session)] = session
      return state.number
    }
  }

  /// Removes a session. The function is to be called on the session's event loop.
  func leave(_ session: WebSocketSession, on loop: any EventLoop) {
    loop.preconditionInEventLoop()
    state.withLock { state in
      guard let audience = state.audiences[ObjectIdentifier(loop)] else { return }
      audience.sessions[ObjectIdentifier(session)] = nil
      if audience.isEmpty { state.audiences[ObjectIdentifier(loop)] = nil }
    }
  }

  /// Adds a watch, whose token `checkTokens` checks. The function is to be called on the watch's event loop.
  func join(_ watch: AdmissionWatch, on loop: any EventLoop) {
    loop.preconditionInEventLoop()
    state.withLock { state in
      let audience = state.audiences[ObjectIdentifier(loop)] ?? Audience(loop)
      state.audiences[ObjectIdentifier(loop)] = audience
      audience.watches[ObjectIdentifier(watch)] = watch
    }
  }

  /// Removes a watch. The function is to be called on the watch's event loop.
  func leave(_ watch: AdmissionWatch, on loop: any EventLoop) {
    loop.preconditionInEventLoop()
    state.withLock { state in
      guard let audience = state.audiences[ObjectIdentifier(loop)] else { return }
      audience.watches[ObjectIdentifier(watch)] = nil
      if audience.isEmpty { state.audiences[ObjectIdentifier(loop)] = nil }
    }
  }

  /// Schedules a watch's check of its token after `pause`. The function must be called on the watch's event loop, with
  /// the same pause for all watches.
  func check(_ watch: AdmissionWatch, after pause: TimeAmount, on loop: any EventLoop) {
    loop.preconditionInEventLoop()
    let audience = state.withLock { $0.audiences[ObjectIdentifier(loop)] }
    audience?.check(watch, after: pause)
  }

  /// The number of watches, for tests.
  var watches: Int { state.withLock { $0.audiences.values.reduce(0) { $0 + $1.watches.count } } }

  /// Counts a session that follows the changes of states from now on. Each such session is to call `unfollow` once.
  func follow() { state.withLock { $0.changes.followers += 1 } }

  /// Removes a session that `follow` has counted.
  func unfollow() { state.withLock { $0.changes.followers -= 1 } }

  /// The number of the last edge or state published.
  var number: UInt64 { state.withLock { $0.number } }
}

/// Events that were published together.
private struct EventBatch: Sendable {
  let events: [NumberedEvent]
  /// Whether every session gets at least one event of the batch.
  private let isForAll: Bool
  private let hasTelemetry: Bool
  /// The clients for which the batch has a frame.
  private let clients: Set<UInt32>

  init(_ events: [NumberedEvent]) {
    self.events = events
    isForAll = events.contains { $0.kind == .edge || $0.kind == .state }
    hasTelemetry = events.contains { $0.kind == .telemetry }
    clients = Set(events.compactMap { if case .frame(let client) = $0.kind { client } else { nil } })
  }

  /// Returns whether a session may get any event of the batch.
  func isFor(_ session: WebSocketSession) -> Bool {
    isForAll || hasTelemetry && !session.rates.isEmpty || clients.contains(session.caller.client)
  }
}

/// The sessions and watches of one event loop.
///
/// New events are sent to a few sessions at a time, and in between the event loop is free for its sockets: a thousand
/// sessions take tens of milliseconds, for which no stop may wait. A session whose turn comes late gets several batches
/// in one system call.
///
/// Unchecked because everything is changed on `loop` only, the sessions and watches within the hub's lock.
private final class Audience: @unchecked Sendable {
  /// The greatest number of sessions to which one turn sends something: about a millisecond's work.
  private static let most = 32
  private static let pause = TimeAmount.milliseconds(1)

  let loop: any EventLoop
  var sessions: [ObjectIdentifier: WebSocketSession] = [:]
  var watches: [ObjectIdentifier: AdmissionWatch] = [:]
  /// The batches that have not been sent to every session, oldest first, and the number of the first of them.
  private var batches = CircularBuffer<EventBatch>()
  private var firstBatch = 0
  /// The sessions that wait for their turn, each with the number of its first batch. These numbers never fall.
  private var waiting = CircularBuffer<(session: WebSocketSession, from: Int)>()
  private var isScheduled = false
  /// The watches that wait for their next check, each with its instant. All wait for the same time, so these instants
  /// never decrease and one timer serves all of them.
  private var checks = CircularBuffer<(watch: AdmissionWatch, at: NIODeadline)>()
  private var isCheckScheduled = false
  var isEmpty: Bool { sessions.isEmpty && watches.isEmpty }

  init(_ loop: any EventLoop) { self.loop = loop }

  func deliver(_ batch: EventBatch) {
    loop.preconditionInEventLoop()
    let number = firstBatch + batches.count
    batches.append(batch)
    for session in sessions.values where !session.waitsForEvents && batch.isFor(session) {
      session.waitsForEvents = true
      waiting.append((session, number))
    }
    if !isScheduled { takeTurn() }
  }

  /// Sends a few sessions the batches that they have not been sent yet, and drops the batches that no session waits for.
  private func takeTurn() {
    var count = 0
    while count < Self.most, let (session, from) = waiting.popFirst() {
      session.waitsForEvents = false
      if session.deliver(batches.dropFirst(from - firstBatch).map(\.events)) { count += 1 }
    }
    let needed = waiting.first?.from ?? firstBatch + batches.count
    batches.removeFirst(needed - firstBatch)
    firstBatch = needed
    guard !waiting.isEmpty else { return }
    isScheduled = true
    _ = loop.assumeIsolated().scheduleTask(in: Self.pause) {
      self.isScheduled = false
      self.takeTurn()
    }
  }

  func check(_ watch: AdmissionWatch, after pause: TimeAmount) {
    let instant = loop.now + pause
    watch.nextCheck = instant
    checks.append((watch, instant))
    scheduleCheck()
  }

  private func scheduleCheck() {
    guard !isCheckScheduled, let next = checks.first else { return }
    isCheckScheduled = true
    _ = loop.assumeIsolated().scheduleTask(deadline: max(next.at, loop.now + Self.pause)) {
      self.isCheckScheduled = false
      self.takeChecks()
    }
  }

  /// Lets some of the watches whose check is due check their tokens. A watch that has been checked in the meantime has
  /// another instant, and another place in the queue.
  private func takeChecks() {
    var count = 0
    while count < Self.most, let (watch, at) = checks.first, at <= loop.now {
      checks.removeFirst()
      guard watch.nextCheck == at else { continue }
      watch.check()
      count += 1
    }
    scheduleCheck()
  }

  func checkTokens() {
    loop.preconditionInEventLoop()
    for watch in Array(watches.values) { watch.check() }
  }
}
