import Sprinkler
import Tactus

extension SprinklerSnapshot {
  /// Returns the progress of the runs that have begun, open or paused, as of this snapshot, to be saved in case the daemon crashes.
  ///
  /// - Parameters:
  ///   - pending: the runs that the scheduler knows.
  ///   - now: an instant that is not before this snapshot.
  public func progress(of pending: [PendingRun], at now: TickInstant) -> [RunProgress] {
    let waiting = (0..<min(queueCount, Self.shownQueue)).map { queued($0) }
    return pending.compactMap { run in
      let zone = self[run.zone]
      if case .open(let open, _, _) = zone.valve, open.id == run.run {
        var progress = RunProgress(
          run: run.run, ranSeconds: zone.ran.inSeconds, ageSeconds: max(.zero, now - at).inSeconds)
        progress.pulses = zone.pulses
        return progress
      }
      guard run.opened != nil, let paused = waiting.first(where: { $0.run.id == run.run }) else { return nil }
      return RunProgress(run: run.run, ranSeconds: paused.ran.inSeconds, isOpen: false)
    }
  }
}
