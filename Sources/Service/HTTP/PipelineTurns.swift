import NIOCore
import Synchronization

/// The turns of the connections of one event loop whose clients have sent requests behind one another.
///
/// An event loop looks at its sockets when it has nothing else to do. Forty clients that send hundreds of small requests in each packet give
/// it so much to do that an e-stop on another connection waited for more than a second. So what waits behind a connection's first request
/// is taken in turns, a few requests at a time, and between two turns the event loop is free for the sockets.
///
/// Only for its event loop.
final class PipelineTurns {
  /// Requests of one turn. With a debug build, in which one costs up to 0.3 ms, turns take at most about half of the time.
  static let most = 8
  static let pause = TimeAmount.milliseconds(4)

  private let eventLoop: any EventLoop
  /// Oldest first; each connection is in it once at most.
  private var waiting = CircularBuffer<ArrivalHandler>()
  private var isScheduled = false

  init(_ eventLoop: any EventLoop) { self.eventLoop = eventLoop }

  /// The connection has a request that waits. Its `takeTurn` is called once, in one of the next turns.
  func add(_ connection: ArrivalHandler) {
    waiting.append(connection)
    schedule()
  }

  private func schedule() {
    guard !isScheduled else { return }
    isScheduled = true
    _ = eventLoop.assumeIsolated().scheduleTask(in: Self.pause) { self.take() }
  }

  private func take() {
    // One that waits again comes behind the others, and has a second request taken in this turn if they leave room for it.
    for _ in 0..<Self.most { waiting.popFirst()?.takeTurn() }
    // The pause begins when the turn ends: otherwise the next would follow on a long one at once.
    isScheduled = false
    if !waiting.isEmpty { schedule() }
  }
}

/// The turns of each event loop. Any thread.
final class TurnsOfLoops: Sendable {
  private let all = Mutex<[ObjectIdentifier: NIOLoopBound<PipelineTurns>]>([:])

  /// Those of an event loop, on which this is called.
  func turns(of eventLoop: any EventLoop) -> PipelineTurns {
    all.withLock { all in
      if let known = all[ObjectIdentifier(eventLoop)] { return known.value }
      let new = NIOLoopBound(PipelineTurns(eventLoop), eventLoop: eventLoop)
      all[ObjectIdentifier(eventLoop)] = new
      return new.value
    }
  }
}
