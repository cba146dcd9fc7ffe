import NIOCore
import Synchronization

/// Hands events to every WebSocket client that wants them. Never waits for one.
///
/// An event is put into its frame once, and all clients share the bytes. Each event loop is called once for each batch.
public final class EventHub: Sendable {
  private struct State {
    var number: UInt64 = 0
    var audiences: [ObjectIdentifier: Audience] = [:]
  }

  private let state = Mutex(State())

  /// A hub without clients. The first edge or state has the number 1.
  public init() {}

  /// Any thread; returns at once.
  public func publish(_ events: [Event]) {
    guard !events.isEmpty else { return }
    // Within the lock, so that two publishers' batches reach every client in the order of their numbers.
    state.withLock { state in
      let batch = events.map { event in
        switch event.kind {
        case .edge, .state: state.number += 1
        case .telemetry, .frame: break
        }
        return NumberedEvent(event, number: state.number)
      }
      for audience in state.audiences.values {
        audience.loop.execute { audience.tell(batch) }
      }
    }
  }

  /// Called on the session's event loop. Returns the number of the last event that this session does not get.
  func join(_ session: WebSocketSession, on loop: any EventLoop) -> UInt64 {
    loop.preconditionInEventLoop()
    return state.withLock { state in
      let audience = state.audiences[ObjectIdentifier(loop)] ?? Audience(loop)
      state.audiences[ObjectIdentifier(loop)] = audience
      audience.sessions[ObjectIdentifier(session)] = session
      return state.number
    }
  }

  /// On the session's event loop.
  func leave(_ session: WebSocketSession, on loop: any EventLoop) {
    loop.preconditionInEventLoop()
    state.withLock { state in
      guard let audience = state.audiences[ObjectIdentifier(loop)] else { return }
      audience.sessions[ObjectIdentifier(session)] = nil
      if audience.sessions.isEmpty { state.audiences[ObjectIdentifier(loop)] = nil }
    }
  }

  /// The number of the last edge or state.
  var number: UInt64 { state.withLock { $0.number } }
}

/// The sessions of one event loop.
///
/// Unchecked: `sessions` is touched on `loop` only.
private final class Audience: @unchecked Sendable {
  let loop: any EventLoop
  var sessions: [ObjectIdentifier: WebSocketSession] = [:]

  init(_ loop: any EventLoop) { self.loop = loop }

  func tell(_ batch: [NumberedEvent]) {
    loop.preconditionInEventLoop()
    // A session that is dropped here leaves the list: the loop goes over a copy.
    for session in Array(sessions.values) { session.tell(batch) }
  }
}
