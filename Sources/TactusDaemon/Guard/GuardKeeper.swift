import Dispatch
import Glibc
import Synchronization
import Tactus
import TactusGuard

/// The thread that kills, reaps and starts guards, which may take seconds, so that the main thread waits for none of it.
///
/// Called by the main thread. What came of it is rung for and taken with `takeOutcomes()`, in the order in which it happened.
package final class GuardKeeper: Sendable {
  enum Outcome: Sendable {
    case lost(GuardLossMachine.Reason)
    /// Another guard watches: its process id.
    case ready(process: pid_t)
    case failed(GuardError)
  }

  private struct Linked: ~Copyable, @unchecked Sendable {  // safe: used under its lock, by one thread at a time
    let link: GuardLink
  }

  /// The socket to send heartbeats to: the same for every successor.
  let socket: Int32
  /// The first guard's process id.
  let firstProcess: pid_t
  /// The hardware watchdog that the guard feeds; `nil` for none.
  let watchdog: HardwareWatchdog?
  /// The time-out that its driver has put into effect for the first guard, in seconds.
  let watchdogSeconds: Double
  private let link: Mutex<Linked>
  private let bell: DoorbellButton
  /// A serial queue is a thread while it has something to do.
  private let queue = DispatchQueue(label: "tactus.guard")
  private let outcomes = Mutex<[Outcome]>([])

  /// - Parameter link: the keeper alone uses it from now on.
  init(_ link: GuardLink, bell: DoorbellButton) {
    socket = link.socket
    firstProcess = link.process
    watchdog = link.watchdog
    watchdogSeconds = link.watchdogTimeout?.inSeconds ?? 0
    self.link = Mutex(Linked(link: link))
    self.bell = bell
  }

  /// A child of this process has ended: was it the guard?
  func look() {
    run { link in link.hasEnded() ? .lost(.died) : nil }
  }

  /// The guard did not answer heartbeats at this instant, unless it is another's silence.
  func lookAfterHang(at instant: TickInstant) {
    run { link in Self.isSilence(at: instant, of: link.started) && !link.hasEnded() ? .lost(.hung) : nil }
  }

  /// Returns whether a silence that was found at this instant can be that of a guard that was started then: one that has been there for less than
  /// the patience cannot have owed an answer for all of it.
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

  /// What has come of all that since the last call.
  func takeOutcomes() -> [Outcome] {
    outcomes.withLock { outcomes in
      defer { outcomes = [] }
      return outcomes
    }
  }

  /// The guard's orderly end, after a start of another that is under way. Blocks.
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
