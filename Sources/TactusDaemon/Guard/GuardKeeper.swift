import Dispatch
import Glibc
import Synchronization
import Tactus
import TactusGuard

/// Kills, reaps and starts guards on its own thread, which may take seconds, so that the main thread does not wait.
///
/// It is to be called by the main thread. The outcomes are announced by the bell and returned by `takeOutcomes()` in the order in which they
/// occurred.
package final class GuardKeeper: Sendable {
  enum Outcome: Sendable {
    case lost(GuardLossMachine.Reason)
    /// Another guard is watching; `process` is its process ID.
    case ready(process: pid_t)
    case failed(GuardError)
  }

  private struct Linked: ~Copyable, @unchecked Sendable {  // safe: used under its lock, by one thread at a time
    let link: GuardLink
  }

  /// The socket for heartbeats, which all successors share.
  let socket: Int32
  /// The process ID of the first guard.
  let firstProcess: pid_t
  /// The hardware watchdog that the guard feeds, or `nil` if it feeds none.
  let watchdog: HardwareWatchdog?
  /// The timeout in seconds that the watchdog's driver has set for the first guard.
  let watchdogSeconds: Double
  private let link: Mutex<Linked>
  private let bell: DoorbellButton
  /// The serial queue of the work. It occupies a thread only while there is work.
  private let queue = DispatchQueue(label: "tactus.guard")
  private let outcomes = Mutex<[Outcome]>([])

  /// Makes a keeper for a guard that has been started.
  ///
  /// - Parameter link: the link to the first guard; only the keeper uses it from now on.
  init(_ link: GuardLink, bell: DoorbellButton) {
    socket = link.socket
    firstProcess = link.process
    watchdog = link.watchdog
    watchdogSeconds = link.watchdogTimeout?.inSeconds ?? 0
    self.link = Mutex(Linked(link: link))
    self.bell = bell
  }

  /// Tells the guard that the loops start now.
  func begin() { link.withLock { $0.link.begin() } }

  /// Checks whether the guard has ended. The function is to be called when a child of this process has ended.
  func check() {
    run { link in link.hasEnded() ? .lost(.died) : nil }
  }

  /// Handles a silence: the guard has not answered heartbeats at this instant. Ignores it if it cannot be that of the present guard.
  func checkAfterHang(at instant: TickInstant) {
    run { link in Self.isSilence(at: instant, of: link.started) && !link.hasEnded() ? .lost(.hung) : nil }
  }

  /// Returns whether a silence found at `instant` can be that of a guard started at `started`: a guard that has existed
  /// for less than the patience cannot have owed an answer for all of that time.
  package static func isSilence(at instant: TickInstant, of started: TickInstant) -> Bool {
    instant - started >= SupervisorLoop.guardPatience
  }

  /// Kills the guard if it lives, waits until the kernel has ended it, and starts another.
  func replace() {
    run { link in
      do throws(GuardError) {
        try link.replace()
        return .ready(process: link.process)
      } catch {
        return .failed(error)
      }
    }
  }

  /// Returns the outcomes since the last call.
  func takeOutcomes() -> [Outcome] {
    outcomes.withLock { outcomes in
      defer { outcomes = [] }
      return outcomes
    }
  }

  /// Ends the guard in order, after any start in progress. Blocks until the guard has ended.
  func dismiss() {
    queue.sync { link.withLock { $0.link.dismiss() } }
  }

  private func run(_ work: @escaping @Sendable (GuardLink) -> Outcome?) {
    queue.async { [self] in
      guard let outcome = link.withLock({ work($0.link) }) else { return }
      outcomes.withLock { $0.append(outcome) }
      bell.ring()
    }
  }
}
