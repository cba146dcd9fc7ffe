/// A reading of the wall clock at one instant, with the data that shows how far the clock can be trusted.
///
/// A machine whose clock has no battery boots with a time in the past, which jumps by hours or years when the network is up. For
/// this reason nothing is started, missed or deleted by an unconfirmed clock, and a length of time is never stored as the instant
/// of its end (`KeptAge`).
public struct WallReading: Sendable, Hashable {
  /// The wall clock in microseconds since 1970, UTC.
  public var microseconds: Int64
  /// The boot's clock at the same instant.
  public var bootTime: TickInstant
  /// The identifier of the machine's present boot, or `nil` if the kernel does not report one.
  public var boot: BootID?
  /// Whether the kernel reports (`adjtimex`) that a service such as NTP synchronises the wall clock.
  public var isSynchronised: Bool
  /// The time since the last jump, or since the clock has been watched if it has not jumped.
  public var steady: Nanoseconds
  /// The sum of all jumps since the watch began; forward jumps are positive.
  public var jumped: Nanoseconds
  /// The last jump, or `nil` if the clock has not jumped since the watch began.
  public var lastJump: WallJump?

  /// Creates a reading from all its parts.
  public init(
    microseconds: Int64, bootTime: TickInstant, boot: BootID? = nil, isSynchronised: Bool, steady: Nanoseconds,
    jumped: Nanoseconds = .zero, lastJump: WallJump? = nil
  ) {
    self.microseconds = microseconds
    self.bootTime = bootTime
    self.boot = boot
    self.isSynchronised = isSynchronised
    self.steady = steady
    self.jumped = jumped
    self.lastJump = lastJump
  }

  /// The wall clock in whole seconds since 1970, rounded down.
  public var secondsSince1970: Int64 {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// The time without a jump after which a synchronised clock is confirmed.
  public static var settleTime: Nanoseconds { .seconds(30) }
  /// The time without a jump after which a clock that is not synchronised is confirmed.
  public static var steadyTime: Nanoseconds { .seconds(60) }
  /// The time since the machine's start before which a clock that is not synchronised is not confirmed, since the network and with
  /// it the right time may still come.
  public static var bootTimeEnough: Nanoseconds { .seconds(300) }

  /// The time until the clock is confirmed if it neither jumps nor changes its state, or `nil` if it is confirmed already.
  public var confirmedIn: Nanoseconds? {
    let wait =
      isSynchronised
      ? Self.settleTime - steady
      : max(Self.steadyTime - steady, Self.bootTimeEnough - (bootTime - .zero))
    return wait > .zero ? wait : nil
  }

  /// Whether the clock is confirmed, so that schedules may use it.
  public var isConfirmed: Bool { confirmedIn == nil }

  /// Whether data may be deleted because it is old by this clock: the clock is synchronised and has not jumped for ten minutes, or
  /// it has not jumped for a day.
  public var mayDelete: Bool { steady >= (isSynchronised ? .seconds(600) : .seconds(86_400)) }

  /// The state of the clock as the API names it: `synchronised`, `steady` or `unconfirmed`.
  public var word: String { !isConfirmed ? "unconfirmed" : isSynchronised ? "synchronised" : "steady" }
}

/// A jump of the wall clock, which happens when the clock is set.
public struct WallJump: Sendable, Hashable {
  /// The length of the jump; forward is positive.
  public var by: Nanoseconds
  /// The instant at which the jump was noticed, on the boot's clock.
  public var at: TickInstant

  /// Creates a jump that was noticed at an instant of the boot's clock.
  public init(by: Nanoseconds, at: TickInstant) {
    self.by = by
    self.at = at
  }
}
