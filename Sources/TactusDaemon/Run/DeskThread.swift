import Dispatch
import Service
import Synchronization

/// The thread of one system's desk: what may wait for a disk is done here, one piece after the other, while the main thread goes on
/// handing out answers and feeding the watchdog.
///
/// Used by the main thread, which waits in `finish` only. Work must be short but for the disk.
public final class DeskThread: Sendable {
  /// What may wait for a disk. What it returns is for `takeEvents`.
  public typealias Work = @Sendable () -> [Event]

  /// A serial queue is a thread while it has something to do.
  private let queue: DispatchQueue
  /// Given and not done yet.
  private let unfinished = Atomic(0)
  private let isBeatWaiting = Atomic(false)
  private let told = Mutex<[Event]>([])

  /// - Parameter system: `sprinkler`
  public init(_ system: String) { queue = DispatchQueue(label: "tactus.\(system).desk") }

  /// All that was given is done. What may come without end is given only then, so that it does not pile up here.
  public var isIdle: Bool { unfinished.load(ordering: .acquiring) == 0 }

  /// Does this after all that was given before.
  public func run(_ work: @escaping Work) {
    unfinished.add(1, ordering: .relaxed)
    queue.async { [self] in
      let events = work()
      if !events.isEmpty { told.withLock { $0 += events } }
      unfinished.subtract(1, ordering: .releasing)
    }
  }

  /// As `run`, for what is given again and again: nothing while the last such has not begun.
  public func beat(_ work: @escaping Work) {
    guard !isBeatWaiting.exchange(true, ordering: .relaxed) else { return }
    run { [self] in
      isBeatWaiting.store(false, ordering: .relaxed)
      return work()
    }
  }

  /// Returns the events for subscribers of the work that is done, each once.
  public func takeEvents() -> [Event] {
    told.withLock { told in
      defer { told = [] }
      return told
    }
  }

  /// Returns when all that was given is done, and then this.
  public func finish(_ work: () -> Void) { queue.sync(execute: work) }
}
