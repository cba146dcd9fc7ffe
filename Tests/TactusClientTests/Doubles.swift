import Foundation
import Testing

@testable import TactusClient

/// Time that passes when a test says so. Who sleeps is woken in the order of the deadlines.
final class ManualClock: ClientClock, @unchecked Sendable {
  // `@unchecked Sendable`: everything is behind `lock`.
  private struct Sleeper {
    var until: Duration
    var number: Int
    var continuation: CheckedContinuation<Void, any Error>
  }
  private let lock = NSLock()
  private var time: Duration = .zero
  private var sleepers: [Sleeper] = []
  private var count = 0
  private var wall = 1_000_000.0

  var now: Duration { lock.withLock { time } }
  var wallSeconds: Double {
    get { lock.withLock { wall } }
    set { lock.withLock { wall = newValue } }
  }
  /// When each sleeper wakes, soonest first.
  var deadlines: [Duration] { lock.withLock { sleepers.map(\.until).sorted() } }

  func wait(for duration: Duration) async throws {
    let number = lock.withLock {
      count += 1
      return count
    }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        // `nil`: it is over already.
        let isCancelled: Bool? = lock.withLock {
          if Task.isCancelled { return true }
          guard duration > .zero else { return nil }
          sleepers.append(Sleeper(until: time + duration, number: number, continuation: continuation))
          return false
        }
        switch isCancelled {
        case true: continuation.resume(throwing: CancellationError())
        case nil: continuation.resume()
        default: break
        }
      }
    } onCancel: {
      let cancelled = lock.withLock {
        let index = sleepers.firstIndex { $0.number == number }
        return index.map { sleepers.remove(at: $0) }
      }
      cancelled?.continuation.resume(throwing: CancellationError())
    }
  }

  /// Lets time pass up to the next deadline, and wakes who sleeps until then.
  func advanceToNext() {
    let due = lock.withLock {
      guard let next = sleepers.map(\.until).min() else { return [Sleeper]() }
      time = max(time, next)
      defer { sleepers.removeAll { $0.until <= time } }
      return sleepers.filter { $0.until <= time }
    }
    for sleeper in due.sorted(by: { ($0.until, $0.number) < ($1.until, $1.number) }) { sleeper.continuation.resume() }
  }

  /// Sets the time, without waking anybody before the next `advanceToNext`.
  func jump(by duration: Duration) { lock.withLock { time += duration } }
}

/// Always the same number.
struct FixedRandom: RandomSource {
  var value = 0.5
  func fraction() -> Double { value }
}

/// A daemon of a test's own: it answers as the test says and keeps what it was sent.
final class FakeDaemon: Transport, @unchecked Sendable {
  // `@unchecked Sendable`: everything is behind `lock`.
  typealias Answer = @Sendable (ClientRequest) throws(ClientError) -> ClientAnswer
  private let lock = NSLock()
  private var kept: [ClientRequest] = []
  private var keptTokens: [String?] = []
  private var answers: [String: Answer] = [:]
  private var sockets: [FakeSocket] = []
  private var attempts = 0
  private var mayOpen = true
  private var held: [String: Gate] = [:]

  var requests: [ClientRequest] { lock.withLock { kept } }
  /// The token of each request.
  var tokens: [String?] { lock.withLock { keptTokens } }
  var socket: FakeSocket? { lock.withLock { sockets.last } }
  var socketsOpened: Int { lock.withLock { sockets.count } }
  var socketAttempts: Int { lock.withLock { attempts } }
  var hasSocket: Bool {
    get { lock.withLock { mayOpen } }
    set { lock.withLock { mayOpen = newValue } }
  }

  func requests(_ path: String) -> [ClientRequest] { requests.filter { $0.path == path } }

  /// What a path is answered; `{"ok": true}` where nothing was said.
  func answer(_ path: String, _ body: String) { answer(path, 200, body) }

  func answer(_ path: String, _ status: Int, _ body: String) {
    lock.withLock { answers[path] = { _ in ClientAnswer(status: status, body: Data(body.utf8)) } }
  }

  func answer(_ path: String, _ answer: @escaping Answer) { lock.withLock { answers[path] = answer } }

  /// Requests of a path wait until the gate is opened.
  func hold(_ path: String) -> Gate {
    let gate = Gate()
    lock.withLock { held[path] = gate }
    return gate
  }

  func answer(to request: ClientRequest, token: String?) async throws(ClientError) -> ClientAnswer {
    let (answer, gate) = lock.withLock {
      kept.append(request)
      keptTokens.append(token)
      return (answers[request.path], held[request.path])
    }
    await gate?.pass()
    return try answer?(request) ?? ClientAnswer(status: 200, body: Data(#"{"ok": true}"#.utf8))
  }

  func openSocket(token: String?) async throws(ClientError) -> any EventSocket {
    let socket: FakeSocket? = lock.withLock {
      attempts += 1
      guard mayOpen else { return nil }
      let socket = FakeSocket()
      sockets.append(socket)
      return socket
    }
    guard let socket else { throw .unreachable("no WebSocket here") }
    return socket
  }
}

/// Lets nobody through before it is opened.
actor Gate {
  private var isOpen = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func pass() async {
    guard !isOpen else { return }
    await withCheckedContinuation { waiting.append($0) }
  }

  func open() {
    isOpen = true
    for one in waiting { one.resume() }
    waiting = []
  }
}

/// The daemon's end of a WebSocket.
final class FakeSocket: EventSocket, @unchecked Sendable {
  // `@unchecked Sendable`: `sent` and `closed` are behind `lock`.
  let messages: AsyncThrowingStream<SocketMessage, any Error>
  private let continuation: AsyncThrowingStream<SocketMessage, any Error>.Continuation
  private let lock = NSLock()
  private var sent: [SocketMessage] = []
  private var closed = false

  init() { (messages, continuation) = AsyncThrowingStream.makeStream() }

  var isClosed: Bool { lock.withLock { closed } }
  /// What the client has sent in binary messages.
  var frames: [Data] {
    lock.withLock { sent.compactMap { if case .binary(let data) = $0 { data } else { nil } } }
  }
  /// What the client has sent in text messages.
  var texts: [String] {
    lock.withLock {
      sent.compactMap { if case .text(let data) = $0 { String(decoding: data, as: UTF8.self) } else { nil } }
    }
  }
  var commands: [[String: JSONValue]] {
    frames.compactMap { try? JSONDecoder().decode([String: JSONValue].self, from: $0) }
  }

  func send(_ message: SocketMessage) async throws(ClientError) {
    let isDone = lock.withLock {
      if !closed { sent.append(message) }
      return !closed
    }
    guard isDone else { throw .unreachable("closed") }
  }

  func close() {
    lock.withLock { closed = true }
    continuation.finish()
  }

  /// The daemon says something.
  func say(_ text: String) { continuation.yield(.text(Data(text.utf8))) }

  /// The robot answers a command.
  func reply(_ echo: Double, _ state: String = "driving", reason: String? = nil) {
    let reason = reason.map { "\"\($0)\"" } ?? "null"
    continuation.yield(.binary(Data("{\"echo\":\(Int(echo)),\"state\":\"\(state)\",\"reason\":\(reason)}".utf8)))
  }
}

/// Waits until something holds. It must: only a defect makes the patience of five minutes pass.
@MainActor
func eventually(
  _ what: String, sourceLocation: SourceLocation = #_sourceLocation, _ condition: @MainActor () async -> Bool
) async {
  let end = ContinuousClock.now + .seconds(300)
  while ContinuousClock.now < end {
    if await condition() { return }
    await Task.yield()
  }
  Issue.record("never: \(what)", sourceLocation: sourceLocation)
}

/// A daemon, its model and its time.
@MainActor
struct Bench {
  let daemon = FakeDaemon()
  let clock = ManualClock()
  let model: DaemonModel

  init(cache: (any StateCache)? = nil, random: Double = 0.5) {
    model = DaemonModel(
      Endpoint(host: "test"), token: "secret", cache: cache, transport: daemon, clock: clock,
      random: FixedRandom(value: random))
    daemon.answer("/api/systems", #"{"ok": true, "systems": []}"#)
    daemon.answer("/api/schedules", #"{"ok": true, "schedules": []}"#)
    daemon.answer("/api/schedules/preview?count=20", #"{"ok": true, "starts": []}"#)
    daemon.answer("/api/status", #"{"ok": true, "version": "1", "systems": {}}"#)
  }

  static let hello =
    #"{"type":"hello","system":"daemon","seq":1,"monotonicNs":1,"client":7,"scope":"control","systems":["robot"],"version":"1"}"#

  /// Connects by WebSocket, with the states of these systems.
  func connect(_ states: [String: String]) async {
    model.start()
    await eventually("a socket") { daemon.socket != nil }
    daemon.socket?.say(Self.hello)
    for (system, state) in states { say(system, state) }
    await eventually("live") { model.state == .live(.socket) }
    await eventually("the descriptions are read") { !daemon.requests("/api/systems").isEmpty }
  }

  /// The daemon says a message about a system: a complete state, unless another type is given.
  func say(_ system: String, _ body: String, type: String = "state") {
    daemon.socket?.say(#"{"type":"\#(type)","system":"\#(system)","seq":1,"monotonicNs":1,\#(body.dropFirst())"#)
  }
}

/// A state as the daemon says it, from a value of ours.
func json(_ value: some Encodable) -> String {
  (try? JSONEncoder().encode(value)).map { String(decoding: $0, as: UTF8.self) } ?? ""
}
