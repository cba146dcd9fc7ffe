import Tactus

/// Whether anybody could have reached an output: what excuses one that is not yet safe, from the faults alone.
///
/// A daemon's loop reaches it once a tick. While the loop stands still or the daemon is dead the guard does, after its time-out; without a
/// guard the stop hook does. Nobody does while the output's bus does not work.
public struct SwarmReach {
  /// From the last good heartbeat to the guard's write: its time-out, a heartbeat's period, and some more.
  private static let guardTime = Nanoseconds.milliseconds(1_150)
  /// The longest time between two attempts of a guard.
  private static let guardPause = Nanoseconds.milliseconds(550)

  /// The loop's period.
  public let tick: Nanoseconds
  /// How much longer the guard waits for a loop of this period.
  private let slack: Nanoseconds
  /// When the daemon died; `nil` while it lives.
  public private(set) var killedAt: TickInstant?
  private var safeBy = TickInstant.zero
  /// One after the other; between two of them the loop ticks, and the guard's time-out begins anew.
  private var stalls: [(from: TickInstant, until: TickInstant, seenFrom: TickInstant)] = []
  private var stalledUntil: TickInstant { stalls.last?.until ?? .zero }
  /// Until when the loop stands still, or has stood last.
  public var standsUntil: TickInstant { stalledUntil }
  private var isBusFaulty = false
  private var busWorksSince = TickInstant.zero
  private var cover: SwarmCover?
  /// The stop hook, which tries only once, was not confirmed: nobody comes before the next start's first tick.
  private var isAbandoned = false
  private var abandonedUntil = TickInstant.zero

  /// - Parameters:
  ///   - tick: the loop's period.
  ///   - heartbeat: the period that the supervisor knows of it (`SwarmPart.heartbeats`).
  public init(tick: Nanoseconds, heartbeat: Nanoseconds = .zero) {
    self.tick = tick
    slack = Nanoseconds(heartbeat.count * 3 / 2)
  }

  /// A daemon starts.
  public mutating func started(at now: TickInstant, _ cover: SwarmCover) {
    // A guard that was alone may have had its next attempt still before it.
    if isAbandoned || killedAt != nil && isBusDown(at: now) { abandonedUntil = now + tick }
    (killedAt, stalls, isAbandoned, self.cover) = (nil, [], false, cover)
  }

  /// The daemon dies, and its outputs must be safe at `safeBy`.
  public mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    (killedAt, self.safeBy) = (now, safeBy)
    if now < abandonedUntil { isAbandoned = true }
  }

  /// The loop stands still for so long, from `now` on, or from the end of another stall.
  public mutating func stalled(at now: TickInstant, for span: Nanoseconds) {
    let from = max(stalledUntil, now)
    // The supervisor, which tells the guard which loops advance, may stand still until then.
    for index in stalls.indices where now <= stalls[index].until {
      stalls[index].seenFrom = max(stalls[index].seenFrom, now + span)
    }
    stalls.append((from, from + span, from > now ? max(from, now + span) : from))
  }

  /// Whether the loop stands still.
  public func isStalled(at now: TickInstant) -> Bool { now <= stalledUntil }

  /// The output's bus begins or ceases to fail.
  public mutating func bus(isFaulty: Bool, at now: TickInstant) {
    if isBusFaulty, !isFaulty { busWorksSince = now }
    isBusFaulty = isFaulty
  }

  /// The guard, or the stop hook, has tried to turn the output off.
  public mutating func wrote(isConfirmed: Bool) {
    guard let killedAt else { return }
    isAbandoned = !isConfirmed && safeBy - killedAt > SwarmCover.deathTime
  }

  /// Since when an unguarded daemon's outputs must be off, or `nil` if there is a guard, or may be soon.
  public var offFrom: TickInstant? { cover?.offFrom }

  /// Whether nobody could have told the output.
  public func isExcused(at now: TickInstant) -> Bool {
    if isBusDown(at: now) || isAbandoned || now <= abandonedUntil { return true }
    if killedAt != nil { return now <= safeBy }
    return stalls.contains { stall in
      stall.from <= now && now <= min(stall.until, guardActs(since: stall.seenFrom)) + tick
    } || isReordered(at: now)
  }

  /// When the guard has written, of a loop that has stood still since then.
  private func guardActs(since start: TickInstant) -> TickInstant {
    cover?.missingSince == nil ? max(start, cover?.freshSince ?? .zero) + Self.guardTime + slack : .distantFuture
  }

  /// Stalls that wait for one another may come in another order than they were asked for: a thread that is stopped while its loop hangs
  /// sleeps late only when the loop has ceased to, and has perhaps been made to hang once more. Whether one of them may have begun so
  /// shortly before `now` that nobody has noticed.
  private func isReordered(at now: TickInstant) -> Bool {
    guard now <= stalledUntil + tick, let last = stalls.lastIndex(where: { $0.from <= now }) else { return false }
    var (first, end) = (last, last)
    while first > 0, stalls[first - 1].until == stalls[first].from { first -= 1 }
    while end + 1 < stalls.count, stalls[end].until == stalls[end + 1].from { end += 1 }
    // More than a history has.
    let chain = stalls[first...end].suffix(8).map { $0.until - $0.from }
    guard chain.count > 1 else { return false }
    let begin = stalls[first...end].suffix(8).first!.from
    return chain.indices.contains { index in
      (0..<1 << chain.count).contains { before in
        guard before >> index & 1 == 0 else { return false }
        var start = begin
        for other in chain.indices where before >> other & 1 != 0 { start = start + chain[other] }
        // Each is told as longer by a tick than it may be.
        let early = Nanoseconds(tick.count * Int64(before.nonzeroBitCount + 1))
        return start <= now + early && now <= min(start + chain[index], guardActs(since: start)) + tick
      }
    }
  }

  /// Whether its bus fails, or has worked for less than a tick, or less than the pause between two attempts of a guard that is alone.
  public func isBusDown(at now: TickInstant) -> Bool {
    let isAlone = killedAt != nil || now <= stalledUntil + tick
    let own = tick + .milliseconds(1)
    // A stall may be over before it is known to be: then the guard leaves it to the loop.
    return isBusFaulty || now < busWorksSince + (isAlone ? max(Self.guardPause, own) : own)
  }
}
