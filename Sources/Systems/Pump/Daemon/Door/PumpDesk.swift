import Pump
import Service
import Store
import Tactus
import TactusDaemon

/// Stores the pump's sessions, its values by the minute and the used part of its run limit. Runs beside the loop on a thread that may wait for the disk.
public final class PumpDesk: SystemDesk {
  let history: PumpHistory
  let readings: PumpReadings
  private let limit: PumpLimitKeeper
  private let newest: @Sendable () -> Published<PumpState>
  private let tell: @Sendable (Event) -> Void

  init(_ made: DeskMaterial<Pump>) {
    let store = PumpStore(made.storeFile)
    let limit = PumpLimitKeeper(store, logger: made.logger)
    self.limit = limit
    history = PumpHistory(
      store, keepsDays: made.wiring.logDays, lastEnd: { () throws(StoreError) in try limit.lastEnd },
      zone: made.zone, clock: made.clock, logger: made.logger)
    readings = PumpReadings(store, clock: made.clock, logger: made.logger)
    (newest, tell) = (made.newest, made.tell)
  }

  public func told(_ told: Told<PumpNotice>) {
    // The loop publishes the snapshot before it sends the notice.
    let newest = newest()
    keep(newest)
    let sample = PumpSeen(newest.state).sample
    let event =
      switch told.notice {
      case .state(let state, let source): history.record(state, by: source, at: told.at, sample)
      case .own(let state, let source): history.record(state, by: source, at: told.at, sample)
      case .contact, .failed, .outputFails: nil as Event?
      }
    if let event { tell(event) }
  }

  public func beat(_ newest: Published<PumpState>) {
    let (seen, now) = (PumpSeen(newest.state), MonotonicClock.now)
    history.tick(seen.sample, at: now)
    readings.tick(seen.known, isOn: seen.isOn, published: newest.at, at: now)
    keep(newest)
  }

  /// Stores the final state. If the used part of the limit cannot be stored, the time since the last stored state counts as running time at the next
  /// start.
  public func finish(_ last: Published<PumpState>) {
    history.finish()
    readings.finish()
    keep(last)
  }

  /// Stores the used part of the limit, unless the loop has not had its first tick yet.
  private func keep(_ published: Published<PumpState>) {
    if published.at > .zero { limit.keep(published.state.governor) }
  }
}
