@_spi(FromOutside) import Conversions
import Tactus
import Wire

/// A pulse on its way to its target. Its position depends on elapsed time only, not on the number of calls.
public struct LegMotion: Sendable, Hashable, BitwiseCopyable {
  /// The commanded pulse, clamped to the soft limits.
  public private(set) var target: PulseWidth
  /// The pulse that the servo gets now.
  public private(set) var output: PulseWidth
  /// The pulse at which the servo's present motion began, in nanoseconds.
  private var from: Int64
  /// The instant at which the servo's present motion began.
  private var fromAt: TickInstant

  /// Creates a motion that is at its target at once, because the position of a servo before its first pulse is not known.
  @_noLocks @_noAllocation
  init(at target: PulseWidth, now: TickInstant) {
    self.target = target
    output = target
    from = target.nanoseconds
    fromAt = now
  }

  @_noLocks @_noAllocation
  mutating func aim(at next: PulseWidth, slew: Int64?, now: TickInstant) {
    guard !next.isSame(as: target) else { return advance(to: now, slew: slew) }
    from = position(at: now, slew: slew)
    fromAt = now
    target = next
    advance(to: now, slew: slew)
  }

  /// Continues from the present position, so that another slew can apply from now on.
  ///
  /// - Parameter slew: the slew that has applied so far.
  @_noLocks @_noAllocation
  mutating func rebase(at now: TickInstant, slew: Int64?) {
    let reached = position(at: now, slew: slew)
    // A motion that has arrived keeps the instant of its arrival, from which the release is counted.
    guard reached != target.nanoseconds else { return }
    (from, fromAt) = (reached, now)
  }

  @_noLocks @_noAllocation
  mutating func advance(to now: TickInstant, slew: Int64?) {
    output = PulseWidth(microseconds: UInt16(truncatingIfNeeded: (position(at: now, slew: slew) + 500) / 1_000))
  }

  /// Returns the instant at which the target is reached.
  @_noLocks @_noAllocation
  func arrival(slew: Int64?) -> TickInstant {
    guard let slew, Mechanism.slewLimit.acts else { return fromAt }
    let way = Int64(clamping: (target.nanoseconds - from).magnitude)
    return fromAt + Nanoseconds((way * 1_000_000 + slew - 1) / slew)
  }

  /// Returns the pulse at `now`, in nanoseconds.
  @_noLocks @_noAllocation
  private func position(at now: TickInstant, slew: Int64?) -> Int64 {
    let goal = target.nanoseconds
    guard let slew, now < arrival(slew: slew) else { return goal }
    // At most 2 ms of pulse are left, so this is far from overflowing.
    let done = (now - fromAt).count * slew / 1_000_000
    return goal < from ? from - done : from + done
  }
}

extension PulseWidth {
  var nanoseconds: Int64 {
    @_noLocks @_noAllocation get { Int64(microseconds) * 1_000 }
  }
}
