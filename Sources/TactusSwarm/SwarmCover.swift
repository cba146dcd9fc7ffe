import Tactus

/// Who stands behind a daemon's loops under the swarm, as far as the faults of the history have left them: the guard, and the stop hook.
///
/// The engine keeps it and hands it to each part at a start; a part's `SwarmReach` asks it what may still be on, and why.
public final class SwarmCover {
  /// From a kill to the guard's write, and some more.
  public static let deathTime = Nanoseconds.milliseconds(20)
  /// From the end of both processes to the stop hook's write, and some more.
  public static let hookTime = Nanoseconds.milliseconds(220)

  /// The guard's writes, for `Runtime(externalStops:)`: one daemon's. `nil` if its loops are not told of them, for tests.
  public internal(set) var stops: ExternalStops?
  /// When the guard closed the outputs after the daemon before this one had died, as its note says, or `nil` if nobody noted it.
  public internal(set) var madeSafe: TickInstant?
  /// When the guard closed the outputs for the last time, by the same note.
  public internal(set) var madeSafeLast: TickInstant?
  /// Whether the stop hook could not write everything when the daemon before this one had died: then it notes nothing.
  public internal(set) var hookFailed = false
  /// Whether the daemon before this one died, and left its outputs to others.
  public internal(set) var endedWithoutStop = false
  /// Whether the door refuses resets, since no guard can be had.
  var refusesResets = false
  /// Since when no guard is at work, or `nil` if one is.
  public internal(set) var missingSince: TickInstant?
  /// Since when a guard has been at work without a break: it gives every loop its whole time-out from here on.
  public internal(set) var freshSince = TickInstant.zero
  /// Until when a guard may be missing: detection, replacement, and starts that the history lets fail.
  private var mayBeMissingUntil = TickInstant.zero
  /// Until when starts of a guard fail, and until when it may be missing because of one that was tried before.
  private var failing = (until: TickInstant.zero, missingUntil: TickInstant.zero)
  /// From when on every output must be off, since there is no guard and none could be had, or `nil` if there is one.
  public internal(set) var offFrom: TickInstant?

  init() {}

  /// The guard is gone, or does nothing. A daemon that stands still until `frozenUntil` does not see it before.
  func lose(at now: TickInstant, frozenUntil: TickInstant, isCrowd: Bool) {
    missingSince = missingSince ?? now
    let seen = max(now, frozenUntil)
    mayBeMissingUntil = max(mayBeMissingUntil, seen + Self.replacementTime + (isCrowd ? .seconds(1) : .zero))
    if now < failing.until { mayBeMissingUntil = max(mayBeMissingUntil, failing.missingUntil) }
    offFrom = max(offFrom ?? .zero, seen + Self.despairTime)
  }

  /// No guard can be started until then, and one that is tried before is given up so much later.
  func failStarts(until end: TickInstant, patience: Nanoseconds) {
    failing = (end, end + Self.replacementTime + patience)
    mayBeMissingUntil = max(mayBeMissingUntil, failing.missingUntil)
  }

  /// Another is at work, or it is again.
  func regain(at now: TickInstant) { (missingSince, offFrom, freshSince, mayBeMissingUntil) = (nil, nil, now, now) }

  /// The daemon stands still, and with it whoever would replace the guard.
  func freeze(until end: TickInstant) {
    guard missingSince != nil else { return }
    mayBeMissingUntil = max(mayBeMissingUntil, end + Self.replacementTime)
    offFrom = offFrom.map { max($0, end + Self.despairTime) }
  }

  /// When a daemon that dies now must be safe: by the guard if there is one, or could be.
  func safeBy(at now: TickInstant) -> TickInstant {
    let isUncovered = missingSince != nil && now <= mayBeMissingUntil
    return now + (isUncovered ? Self.hookTime : Self.deathTime)
  }

  /// A hang is noticed within 0.9 s, and a successor is ready some milliseconds later.
  static let replacementTime = Nanoseconds.milliseconds(1_200)
  /// A hang is noticed, a successor has had its 2 s, and every loop has been asked.
  private static let despairTime = Nanoseconds.milliseconds(3_300)
}
