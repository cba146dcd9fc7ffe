import Sprinkler
import Tactus

extension SprinklerSnapshot {
  /// Returns how long runs that have begun had run when the loop last said so, open or paused: what is noted in case the program dies.
  ///
  /// - Parameters:
  ///   - pending: the runs that the schedule knows.
  ///   - now: not before this snapshot.
  public func progress(of pending: [PendingRun], at now: TickInstant) -> [RunProgress] {
    let waiting = (0..<min(queueCount, Self.shownQueue)).map { queued($0) }
    return pending.compactMap { run in
      let zone = self[run.zone]
      if case .open(let open, _, _) = zone.valve, open.id == run.run {
        return RunProgress(run: run.run, ranSeconds: zone.ran.inSeconds, ageSeconds: max(.zero, now - at).inSeconds)
      }
      guard run.opened != nil, let paused = waiting.first(where: { $0.run.id == run.run }) else { return nil }
      return RunProgress(run: run.run, ranSeconds: paused.ran.inSeconds, isOpen: false)
    }
  }
}
