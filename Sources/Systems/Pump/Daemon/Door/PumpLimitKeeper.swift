import Logging
import Pump
import Store
import Synchronization
import Tactus

/// Stores the used part of the pump's run limit, so that the limit holds across restarts.
///
/// The state is written when the pump starts or stops running, which is enough: the running time up to a restart follows from the boot clock. `keep`
/// may wait for the disk and is called on one thread, which is not the daemon's main thread.
public final class PumpLimitKeeper: Sendable {
  private struct State {
    /// The state stored by the previous process: the outer `nil` means that it could not be read yet, the inner one that there was none.
    var left: PumpLimit??
    var kept: PumpGovernor?
    var isFailing = false
  }

  private let store: any PumpLimitStore
  private let boot: BootID?
  private let logger: Logger
  private let state = Mutex(State())

  /// Creates a keeper that stores the used part of the limit in `store`.
  ///
  /// - Parameter boot: the identifier of the machine's present boot, or `nil` if it is not known.
  public init(_ store: any PumpLimitStore, boot: BootID? = BootClock.boot, logger: Logger) {
    self.store = store
    self.boot = boot
    self.logger = logger
  }

  /// The end of a session that the previous process left open: `crash` or `power-cut`.
  var lastEnd: String {
    get throws(StoreError) {
      let left = try state.withLock { state throws(StoreError) in try readLeft(&state) }
      guard let boot, let noted = left?.boot else { return "crash" }
      return noted == boot ? "crash" : "power-cut"
    }
  }

  /// Returns the state stored by the previous process; the first read precedes the first write of this process.
  private func readLeft(_ state: inout State) throws(StoreError) -> PumpLimit? {
    if let left = state.left { return left }
    let left = try store.limit()
    state.left = .some(left)
    return left
  }

  /// Returns the governor with the time used in the previous process. If that cannot be read, the limit counts as used up, so that a start without
  /// the store does not grant a new limit.
  ///
  /// - Parameters:
  ///   - now: the present instant on the loop's clock.
  ///   - bootNow: the same instant on the boot clock.
  public func resume(
    _ governor: PumpGovernor, now: TickInstant = MonotonicClock.now, bootNow: TickInstant = BootClock.now
  ) -> PumpGovernor {
    guard Mechanism.runLimitKept.acts else { return governor }
    var governor = governor
    do throws(StoreError) {
      guard let left = try state.withLock({ state throws(StoreError) in try readLeft(&state) }) else { return governor }
      if boot != nil, left.boot == boot {
        let ago: Nanoseconds = bootNow - left.since
        governor.resume(isPumping: left.isPumping, since: now - ago, before: left.before)
      } else {
        // After a reboot it is not known how long the pump ran on, or how long ago that was.
        governor.resume(
          isPumping: false, since: now,
          before: left.isPumping && Mechanism.powerCutSpends.acts ? governor.limit : left.before)
      }
    } catch {
      governor.resume(isPumping: false, since: now, before: governor.limit)
      guard governor.rest > .zero else { return governor }
      logger.warning(
        "it is not known how long the pump has pumped: its limit counts as spent",
        metadata: [
          "system": "pump", "reason": .string("\(error)"),
          "way_out": .string("let it rest for \(Int(saturating: governor.rest.inSeconds)) s, or reset it"),
        ])
    }
    return governor
  }

  /// Stores the governor if it has changed. A write that the store rejects is retried at the next call.
  public func keep(
    _ governor: PumpGovernor, now: TickInstant = MonotonicClock.now, bootNow: TickInstant = BootClock.now
  ) {
    state.withLock { state in
      guard state.kept != governor else { return }
      let (isPumping, since): (Bool, TickInstant) =
        switch governor.phase {
        case .pumping(let since): (true, since)
        case .still(let since): (false, since)
        }
      let ago: Nanoseconds = now - since
      let limit = PumpLimit(boot: boot, isPumping: isPumping, since: bootNow - ago, before: governor.before)
      do throws(StoreError) {
        _ = try readLeft(&state)
        try store.keep(limit)
        state.kept = governor
        state.isFailing = false
      } catch {
        // The code that opens the store has already reported that it is not open.
        if !state.isFailing, store.isOpen {
          logger.error(
            "the store does not take how long the pump has pumped: after a restart this would not count",
            metadata: ["system": "pump", "reason": .string("\(error)")])
        }
        state.isFailing = store.isOpen
      }
    }
  }
}
