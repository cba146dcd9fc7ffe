import NIOCore
import Synchronization

/// A connection that has several requests or messages waiting.
protocol TurnTaker: AnyObject {
  /// Takes one of the waiting requests, if any are left.
  func takeTurn()
}

/// Shares the time of one event loop among connections whose clients have sent several requests without waiting for answers.
///
/// An event loop polls its sockets when it has no other work. Forty clients that send hundreds of small requests in
/// each packet gave it so much work that an e-stop on another connection waited for more than a second. Therefore the
/// requests behind a connection's first one are taken in turns, a few at a time, and between two turns the event loop
/// is free for its sockets. The messages of WebSockets wait in the same way, and the pieces of long answers.
///
/// It is to be used on its event loop only.
final class PipelineTurns {
  /// The greatest number of requests in one turn. In a debug build, in which one request costs up to 0.3 ms, turns take
  /// at most about half of the time.
  static let most = 8
  static let pause = TimeAmount.milliseconds(4)

  private let eventLoop: any EventLoop
  /// The connections with waiting requests, oldest first; each connection is listed once at most.
  private var waiting = CircularBuffer<any TurnTaker>()
  private var isScheduled = false

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// Notes that the connection has a waiting request. Its `takeTurn` is called once, in one of the next turns.
  func add(_ connection: any TurnTaker) {
    waiting.append(connection)
    schedule()
  }

  private func schedule() {
    guard !isScheduled else { return }
    isScheduled = true
    _ = eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.giveTurns() }
  }

  private func giveTurns() {
    // A connection that waits again is queued behind the others, and has a second request taken in this turn if they leave room.
    for _ in 0..<Self.most { waiting.popFirst()?.takeTurn() }
    // The pause begins when the turn ends; otherwise the next turn would follow a long one at once.
    isScheduled = false
    if !waiting.isEmpty { schedule() }
  }
}

/// The turns of each event loop. It may be used from any thread.
final class TurnsOfLoops: Sendable {
  private let all = Mutex<[ObjectIdentifier: NIOLoopBound<PipelineTurns>]>([:])

  /// Returns the turns of an event loop. The function is to be called on that event loop.
  func turns(of eventLoop: any EventLoop) -> PipelineTurns {
    all.withLock { all in
      if let known = all[ObjectIdentifier(eventLoop)] { return known.value }
      let new = NIOLoopBound(PipelineTurns(eventLoop), eventLoop: eventLoop)
      all[ObjectIdentifier(eventLoop)] = new
      return new.value
    }
  }
}

extension TurnsOfLoops {
  /// Waits for a turn on an event loop, which polls its sockets before.
  func wait(on eventLoop: any EventLoop) async {
    await withCheckedContinuation { continuation in
      eventLoop.execute { self.turns(of: eventLoop).add(WaitingTask(continuation)) }
    }
  }
}

private final class WaitingTask: TurnTaker {
  private let continuation: CheckedContinuation<Void, Never>

  init(_ continuation: CheckedContinuation<Void, Never>) { self.continuation = continuation }

  func takeTurn() { continuation.resume() }
}
