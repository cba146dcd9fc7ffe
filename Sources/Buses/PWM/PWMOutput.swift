import Tactus

/// Why a PWM output did not take its duty.
public enum PWMError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The chip is gone: its driver unbound.
  case gone
  /// Anything else the kernel says.
  case system(errno: Int32)
}

/// One output of a PWM unit as a loop sees it: never blocks, allocates nothing. Not copyable: one output, one owning loop.
///
/// Its maker has set the period and begins with a duty of zero.
public struct PWMOutput: ~Copyable {
  /// Sets the active time of every period in nanoseconds; the last argument is `now` in nanoseconds. Returns 0 or −errno.
  public typealias Write = @convention(c) (UnsafeMutableRawPointer, Int64, Int64) -> Int32

  let context: UnsafeMutableRawPointer
  let write: Write
  /// More than 0.
  public let period: Nanoseconds
  /// Set by the owning loop at the start of its tick.
  public var now = TickInstant.zero

  /// `context` must stay valid as long as the output; its maker owns it. `write` carries `@_noLocks @_noAllocation`.
  public init(context: UnsafeMutableRawPointer, period: Nanoseconds, write: @escaping Write) {
    precondition(period > .zero, "a PWM has a period")
    self.context = context
    self.period = period
    self.write = write
    throwOnce()
  }

  /// Active for `active` of every period: nothing is off, the whole period always on. Anything else is our bug.
  @_noLocks @_noAllocation
  public mutating func set(active: Nanoseconds) throws(PWMError) {
    precondition(active.count >= 0 && active.count <= period.count, "a duty is at most the period")
    let result = callWrite(write, context, active.count, now.nanoseconds)
    if result < 0 { throw PWMError(errno: -result) }
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

/// See `SerialPort`: the first throw of an error type allocates.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(PWMError) { throw .gone } catch {}
}
