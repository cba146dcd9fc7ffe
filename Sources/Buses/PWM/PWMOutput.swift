import Tactus

/// The reason why a PWM output did not accept its duty.
public enum PWMError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The chip is gone because its driver was unbound.
  case gone
  /// The kernel reported another error.
  case system(errno: Int32)
}

/// One output of a PWM unit as a loop uses it. It never blocks and allocates nothing. The type is not copyable: one loop owns the output.
///
/// Its creator has set the period, and the duty is zero at first.
public struct PWMOutput: ~Copyable {
  /// Sets the active time of every period in nanoseconds; the last argument is `now` in nanoseconds. Returns 0 or −errno.
  public typealias Write = @convention(c) (UnsafeMutableRawPointer, Int64, Int64) -> Int32

  let context: UnsafeMutableRawPointer
  let write: Write
  /// The length of a period, more than 0.
  public let period: Nanoseconds
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero

  /// Creates an output. `context` must stay valid as long as the output; its creator owns it. `write` carries `@_noLocks @_noAllocation`.
  public init(context: UnsafeMutableRawPointer, period: Nanoseconds, write: @escaping Write) {
    precondition(period > .zero, "a PWM has a period")
    self.context = context
    self.period = period
    self.write = write
    throwOnce()
  }

  /// Makes the output active for `active` of every period: off with zero, always on with the whole period. Traps for other values outside 0…`period`.
  @_noLocks @_noAllocation
  public mutating func set(active: Nanoseconds) throws(PWMError) {
    precondition(active.count >= 0 && active.count <= period.count, "a duty is at most the period")
    let result = carryOut(active.count)
    if result < 0 { throw PWMError(errno: -result) }
  }
}

extension PWMOutput {
  /// Sets the duty and records it, or in a replay compares it with the recorded one.
  @_noLocks @_noAllocation
  private func carryOut(_ active: Int64) -> Int32 {
    guard let tape = TickTape.current else { return callWrite(write, context, active, now.nanoseconds) }
    var (sent, result) = (active, Int64(0))
    tape.sends(.pwmSent, &sent, 8)
    if !tape.isReplaying {
      let paused = TickTape.pause()
      result = Int64(callWrite(write, context, active, now.nanoseconds))
      TickTape.resume(paused)
    }
    tape.gets(.pwmGot, &result, 8)
    return Int32(truncatingIfNeeded: result)
  }
}

@_semantics("no_performance_analysis") @inline(never)
private func callWrite(
  _ write: PWMOutput.Write, _ context: UnsafeMutableRawPointer, _ active: Int64, _ now: Int64
) -> Int32 {
  write(context, active, now)
}

extension PWMError {
  @_noLocks @_noAllocation
  init(errno: Int32) {
    switch errno {
    case 6, 19: self = .gone  // ENXIO, ENODEV
    default: self = .system(errno: errno)
    }
  }
}

extension PWMError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .gone: "PWM output is gone"
    case .system(let errno): "errno \(errno)"
    }
  }
}

/// Throws one error before any tick, because the first throw of an error type allocates; see `SerialPort`.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(PWMError) { throw .gone } catch {}
}
