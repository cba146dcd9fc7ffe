@_spi(FromOutside) import Conversions
import Tactus

/// Decides, from the faults alone, whether an output could have been switched off by any means; if not, an output that is not yet safe is excused.
///
/// A daemon's loop writes the output once a tick. While the loop is suspended or the daemon is dead the guard does so,
/// after its timeout; without a guard the stop hook does. While the output's bus fails, none of them can.
public struct SwarmReach {
  /// The time from the last good heartbeat to the guard's write: its timeout, the period of a heartbeat, and a margin.
  private static let guardTime = Nanoseconds.milliseconds(1_150)
  /// The longest time between two attempts of a guard.
  private static let guardPause = Nanoseconds.milliseconds(550)

  /// The loop's period.
  public let tick: Nanoseconds
  /// The additional time that the guard waits for a loop with this period.
  private let slack: Nanoseconds
  /// The time at which the daemon died, or `nil` while it lives.
  public private(set) var killedAt: TickInstant?
  private var safeBy = TickInstant.zero
  /// The stalls of the loop, in order. Between two of them the loop ticks, and the guard's timeout starts again.
  private var stalls: [(from: TickInstant, until: TickInstant, seenFrom: TickInstant)] = []
  private var stalledUntil: TickInstant { stalls.last?.until ?? .zero }
  /// The time until which the loop is suspended, or until which it last was.
  public var standsUntil: TickInstant { stalledUntil }
  private var isBusFaulty = false
  private var busWorksSince = TickInstant.zero
  private var cover: SwarmCover?
  /// Whether the write of the stop hook, which tries only once, was not confirmed: no safeguard acts before the first tick of the next start.
  private var isAbandoned = false
  private var abandonedUntil = TickInstant.zero

  /// Makes the value.
  ///
  /// - Parameters:
  ///   - tick: the loop's period.
  ///   - heartbeat: the period of the loop as the supervisor knows it (`SwarmPart.heartbeats`).
  public init(tick: Nanoseconds, heartbeat: Nanoseconds = .zero) {
    self.tick = tick
    slack = Nanoseconds(heartbeat.count * 3 / 2)
  }

  /// Notes that a daemon has started.
  public mutating func started(at now: TickInstant, _ cover: SwarmCover) {
    // A guard without a daemon may still have had its next attempt to make.
    if isAbandoned || killedAt != nil && isBusDown(at: now) { abandonedUntil = now + tick }
    (killedAt, stalls, isAbandoned, self.cover) = (nil, [], false, cover)
  }

  /// Notes that the daemon has died and that its outputs must be safe at `safeBy`.
  public mutating func killed(at now: TickInstant, safeBy: TickInstant) {
    (killedAt, self.safeBy) = (now, safeBy)
    if now < abandonedUntil { isAbandoned = true }
  }

  /// Notes that the loop is suspended for the given time, from `now` on or from the end of another stall.
  public mutating func stalled(at now: TickInstant, for span: Nanoseconds) {
    let from = max(stalledUntil, now)
    // The supervisor, which reports to the guard which loops advance, may stand still until then.
    for index in stalls.indices where now <= stalls[index].until {
      stalls[index].seenFrom = max(stalls[index].seenFrom, now + span)
    }
    stalls.append((from, from + span, from > now ? max(from, now + span) : from))
  }

  /// Returns whether the loop is suspended.
  public func isStalled(at now: TickInstant) -> Bool { now <= stalledUntil }

  /// Notes that the output's bus begins or ceases to fail.
  public mutating func bus(isFaulty: Bool, at now: TickInstant) {
    if isBusFaulty, !isFaulty { busWorksSince = now }
    isBusFaulty = isFaulty
  }

  /// Notes that the guard or the stop hook has tried to switch the output off.
  public mutating func wrote(isConfirmed: Bool) {
    guard let killedAt else { return }
    isAbandoned = !isConfirmed && safeBy - killedAt > SwarmCover.deathTime
  }

  /// The time since which the outputs of a daemon without a guard must be off, or `nil` if there is a guard or may be one soon.
  public var offFrom: TickInstant? { cover?.offFrom }

  /// Returns whether the output could not have been switched off by any means.
  public func isExcused(at now: TickInstant) -> Bool {
    if isBusDown(at: now) || isAbandoned || now <= abandonedUntil { return true }
    if killedAt != nil { return now <= safeBy }
    return stalls.contains { stall in
      stall.from <= now && now <= min(stall.until, guardActs(since: stall.seenFrom)) + tick
    } || isReordered(at: now)
  }

  /// Returns the time by which the guard has written, for a loop that has been suspended since `start`.
  private func guardActs(since start: TickInstant) -> TickInstant {
    cover?.missingSince == nil ? max(start, cover?.freshSince ?? .zero) + Self.guardTime + slack : .distantFuture
  }

  /// Returns whether one of several consecutive stalls may have begun so shortly before `now` that it has not been
  /// noticed. Consecutive stalls may take effect in another order than requested: a thread that is suspended while its
  /// loop hangs sleeps late only after the loop has ceased to hang, and the loop may have been made to hang once more
  /// by then.
  private func isReordered(at now: TickInstant) -> Bool {
    guard now <= stalledUntil + tick, let last = stalls.lastIndex(where: { $0.from <= now }) else { return false }
    var (first, end) = (last, last)
    while first > 0, stalls[first - 1].until == stalls[first].from { first -= 1 }
    while end + 1 < stalls.count, stalls[end].until == stalls[end + 1].from { end += 1 }
    // No history has more than eight adjoining stalls.
    let chain = stalls[first...end].suffix(8).map { $0.until - $0.from }
    guard chain.count > 1 else { return false }
    let begin = stalls[first...end].suffix(8).first!.from
    return chain.indices.contains { index in
      (0..<1 << chain.count).contains { before in
        guard before >> index & 1 == 0 else { return false }
        var start = begin
        for other in chain.indices where before >> other & 1 != 0 { start = start + chain[other] }
        // Each stall is reported as a tick longer than it may be.
        let early = Nanoseconds(tick.count * Int64(before.nonzeroBitCount + 1))
        return start <= now + early && now <= min(start + chain[index], guardActs(since: start)) + tick
      }
    }
  }

  /// Returns whether the output's bus fails or has recovered too recently: less than a tick ago or, if only the guard
  /// acts, less than the pause between two of its attempts.
  public func isBusDown(at now: TickInstant) -> Bool {
    let isAlone = killedAt != nil || now <= stalledUntil + tick
    let own = tick + .milliseconds(1)
    // A stall may end before the guard notices it; the loop then writes its outputs itself.
    return isBusFaulty || now < busWorksSince + (isAlone ? max(Self.guardPause, own) : own)
  }
}
