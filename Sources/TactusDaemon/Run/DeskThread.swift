import Dispatch
import Service
import Synchronization

/// The thread of one system's desk. Work that may wait for a disk is done here in the order in which it was added,
/// while the main thread continues to deliver answers and to feed the watchdog.
///
/// Used by the main thread, which waits only in `finish`. Apart from waiting for the disk, work must be short.
final class DeskThread: Sendable {
  /// Work that may wait for a disk. It returns events for `takeEvents`.
  typealias Work = @Sendable () -> [Event]

  /// The queue of the work. A serial queue occupies a thread only while it has work.
  private let queue: DispatchQueue
  /// The number of pieces of work that were added and are not done yet.
  private let unfinished = Atomic(0)
  private let isBeatWaiting = Atomic(false)
  private let told = Mutex<[Event]>([])

  /// Creates the thread.
  ///
  /// - Parameter system: the name of the system, such as `sprinkler`.
  init(_ system: String) { queue = DispatchQueue(label: "tactus.\(system).desk") }

  /// Whether all added work is done. Work that may arrive without limit is added only while this is `true`, so that it
  /// does not accumulate.
  var isIdle: Bool { unfinished.load(ordering: .acquiring) == 0 }

  /// Adds work, which is done after all work that was added before.
  func run(_ work: @escaping Work) {
    unfinished.add(1, ordering: .relaxed)
    queue.async { [self] in
      let events = work()
      if !events.isEmpty { told.withLock { $0 += events } }
      unfinished.subtract(1, ordering: .releasing)
    }
  }

  /// Adds periodic work. The work is dropped if the previous periodic work has not begun yet.
  func beat(_ work: @escaping Work) {
    guard !isBeatWaiting.exchange(true, ordering: .relaxed) else { return }
    run { [self] in
      isBeatWaiting.store(false, ordering: .relaxed)
      return work()
    }
  }

  /// Returns the events of the finished work, each once.
  func takeEvents() -> [Event] {
    told.withLock { told in
      defer { told = [] }
      return told
    }
  }

  /// Waits until all added work is done, and then does this work.
  func finish(_ work: () -> Void) { queue.sync(execute: work) }
}
