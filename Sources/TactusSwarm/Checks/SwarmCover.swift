import Tactus

/// The safeguards behind a daemon's loops under the swarm, as far as the faults of the history have left them: the guard and the stop hook.
///
/// The engine keeps this object and passes it to each part at a start; a part's `SwarmReach` asks it which outputs may still be on, and why.
public final class SwarmCover {
  /// The time from a kill to the guard's write, with a margin.
  public static let deathTime = Nanoseconds.milliseconds(20)
  /// The time from the end of both processes to the stop hook's write, with a margin.
  public static let hookTime = Nanoseconds.milliseconds(220)

  /// The guard's writes, for `Runtime(externalStops:)` of one daemon, or `nil` if a test does not report them to the loops.
  public internal(set) var stops: ExternalStops?
  /// The time at which the guard closed the outputs after the previous daemon had died, as its note says, or `nil` if there is no note.
  public internal(set) var madeSafe: TickInstant?
  /// The time at which the guard last closed the outputs, as the same note says, or `nil` if there is no note.
  public internal(set) var madeSafeLast: TickInstant?
  /// Whether the stop hook could not write every safe state after the previous daemon had died; it leaves no note then.
  public internal(set) var hookFailed = false
  /// Whether the previous daemon died without stopping its outputs.
  public internal(set) var endedWithoutStop = false
  /// Whether the service refuses resets because no guard can be started.
  var refusesResets = false
  /// The time since which no guard has been at work, or `nil` if one is.
  public internal(set) var missingSince: TickInstant?
  /// The time since which a guard has been at work without a break, from which it gives every loop the whole timeout.
  public internal(set) var freshSince = TickInstant.zero
  /// The time until which a guard may be missing: detection, replacement, and starts that the history makes fail.
  private var mayBeMissingUntil = TickInstant.zero
  /// The time until which starts of a guard fail, and the time until which the guard may be missing because of a start attempted before.
  private var failing = (until: TickInstant.zero, missingUntil: TickInstant.zero)
  /// The time from which every output must be off because there is no guard and none could be started, or `nil` if there is a guard.
  public internal(set) var offFrom: TickInstant?

  init() {}

  /// Notes that the guard has ended or hangs. A daemon that is suspended until `frozenUntil` does not notice it earlier.
  func lose(at now: TickInstant, frozenUntil: TickInstant, isCrowd: Bool) {
    missingSince = missingSince ?? now
    let seen = max(now, frozenUntil)
    mayBeMissingUntil = max(mayBeMissingUntil, seen + Self.replacementTime + (isCrowd ? .seconds(1) : .zero))
    if now < failing.until { mayBeMissingUntil = max(mayBeMissingUntil, failing.missingUntil) }
    offFrom = max(offFrom ?? .zero, seen + Self.despairTime)
  }

  /// Notes that no guard can be started until `end`, and that an attempt made before is given up after `patience`.
  func failStarts(until end: TickInstant, patience: Nanoseconds) {
    failing = (end, end + Self.replacementTime + patience)
    mayBeMissingUntil = max(mayBeMissingUntil, failing.missingUntil)
  }

  /// Notes that a new guard is at work, or that the same one works again.
  func regain(at now: TickInstant) { (missingSince, offFrom, freshSince, mayBeMissingUntil) = (nil, nil, now, now) }

  /// Notes that the daemon is suspended until `end`, and with it the replacement of a guard.
  func freeze(until end: TickInstant) {
    guard missingSince != nil else { return }
    mayBeMissingUntil = max(mayBeMissingUntil, end + Self.replacementTime)
    offFrom = offFrom.map { max($0, end + Self.despairTime) }
  }

  /// Returns the time by which the outputs of a daemon that dies now must be safe: through the guard if there is one or
  /// could be, otherwise through the stop hook.
  func safeBy(at now: TickInstant) -> TickInstant {
    let isUncovered = missingSince != nil && now <= mayBeMissingUntil
    return now + (isUncovered ? Self.hookTime : Self.deathTime)
  }

  /// The longest time without a guard: a hang is noticed within 0.9 s, and a successor is ready some milliseconds later.
  static let replacementTime = Nanoseconds.milliseconds(1_200)
  /// The time after which all outputs must be off without a guard: a hang is noticed, a successor has had its 2 s, and every loop has been asked.
  private static let despairTime = Nanoseconds.milliseconds(3_300)
}
