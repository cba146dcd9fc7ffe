import Logging
import Pump
import Store
import Synchronization
import Tactus

/// Keeps how much of its limit the pump has used, so that the limit holds over any number of restarts.
///
/// Written when the pump begins to pump or stops, which is enough: what it has pumped until a restart follows from the boot's clock.
/// `keep` may wait for the disk: it is called on one thread, which is not the daemon's main one.
public final class PumpLimitKeeper: Sendable {
  private struct State {
    var kept: PumpGovernor?
    var isFailing = false
  }

  private let store: PumpStore
  private let boot: BootID?
  private let logger: Logger
  /// What the last process left; `nil` if there was none.
  private let left: PumpLimit?
  private let state = Mutex(State())

  /// - Parameter boot: of the machine; `nil` if it is not known.
  public init(_ store: PumpStore, boot: BootID? = BootClock.boot, logger: Logger) throws(StoreError) {
    self.store = store
    self.boot = boot
    self.logger = logger
    left = try store.limit()
  }

  /// How a session ended that the last process left open.
  public var lastEnd: String {
    guard let boot, let noted = left?.boot else { return "crash" }
    return noted == boot ? "crash" : "power-cut"
  }

  /// The governor with what the last process left.
  ///
  /// - Parameters:
  ///   - now: by the loop's clock.
  ///   - bootNow: the same instant by the boot's clock.
  public func resume(
    _ governor: PumpGovernor, now: TickInstant = MonotonicClock.now, bootNow: TickInstant = BootClock.now
  ) -> PumpGovernor {
    guard let left else { return governor }
    var governor = governor
    if boot != nil, left.boot == boot {
      governor.resume(isPumping: left.isPumping, since: now - (bootNow - left.since), before: left.before)
    } else {
      // Nobody knows for how long it went on, or how long ago that was.
      governor.resume(isPumping: false, since: now, before: left.isPumping ? governor.limit : left.before)
    }
    return governor
  }

  /// Writes it if it is another one. What the store refuses is tried again with the next call.
  public func keep(
    _ governor: PumpGovernor, now: TickInstant = MonotonicClock.now, bootNow: TickInstant = BootClock.now
  ) {
    state.withLock { state in
      guard state.kept != governor else { return }
      let (isPumping, since) =
        switch governor.phase {
        case .pumping(let since): (true, since)
        case .still(let since): (false, since)
        }
      let limit = PumpLimit(
        boot: boot, isPumping: isPumping, since: bootNow - (now - since), before: governor.before)
      do throws(StoreError) {
        try store.keep(limit)
        state.kept = governor
        state.isFailing = false
      } catch {
        if !state.isFailing {
          logger.error(
            "the store does not take how long the pump has pumped: after a restart its limit begins anew",
            metadata: ["system": "pump", "reason": .string("\(error)")])
        }
        state.isFailing = true
      }
    }
  }
}
