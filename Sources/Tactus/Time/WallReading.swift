/// The wall clock at one instant, and how far it can be believed.
///
/// A machine without a battery boots in the past and jumps by hours or years when the network comes. So nothing is started, missed or
/// deleted by a clock that is not confirmed, and a length of time is never kept as the instant of its end (`KeptAge`).
public struct WallReading: Sendable, Hashable {
  /// Microseconds since 1970, UTC, as the wall clock says.
  public var microseconds: Int64
  /// The boot's clock at that instant.
  public var bootTime: TickInstant
  /// Which start of the machine it is, or `nil` if the kernel does not say.
  public var boot: BootID?
  /// Whether the kernel says that something such as NTP keeps the wall clock right (`adjtimex`).
  public var isSynchronised: Bool
  /// For how long the clock has gone without a jump, as far as it has been watched.
  public var steady: Nanoseconds
  /// All jumps since the watch began, added up; forward is positive.
  public var jumped: Nanoseconds
  /// The last jump, or `nil` if there was none since the watch began.
  public var lastJump: WallJump?

  /// A reading with all that is known of it.
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

  /// Whole seconds since 1970, rounded down.
  public var secondsSince1970: Int64 {
    let (quotient, remainder) = microseconds.quotientAndRemainder(dividingBy: 1_000_000)
    return remainder < 0 ? quotient - 1 : quotient
  }

  /// A synchronised clock is believed once it has not jumped for this time.
  public static var settleTime: Nanoseconds { .seconds(30) }
  /// A clock that is not synchronised is believed once it has not jumped for this time.
  public static var steadyTime: Nanoseconds { .seconds(60) }
  /// Nor is it believed sooner after the machine's start: the network comes, and with it the right time.
  public static var bootTimeEnough: Nanoseconds { .seconds(300) }

  /// How long until the clock is confirmed if nothing happens meanwhile, or `nil` if it is.
  public var confirmedIn: Nanoseconds? {
    let wait =
      isSynchronised
      ? Self.settleTime - steady
      : max(Self.steadyTime - steady, Self.bootTimeEnough - (bootTime - .zero))
    return wait > .zero ? wait : nil
  }

  /// Whether schedules may go by this clock.
  public var isConfirmed: Bool { confirmedIn == nil }

  /// Whether something may be deleted because it is old by this clock: one that is synchronised and has not jumped for ten minutes, or one that
  /// has not jumped for a day.
  public var mayDelete: Bool { steady >= (isSynchronised ? .seconds(600) : .seconds(86_400)) }

  /// What the API calls it: `synchronised`, `steady`, or `unconfirmed`.
  public var word: String { !isConfirmed ? "unconfirmed" : isSynchronised ? "synchronised" : "steady" }
}

/// The wall clock was set.
public struct WallJump: Sendable, Hashable {
  /// By how much; forward is positive.
  public var by: Nanoseconds
  /// When that was noticed, by the boot's clock.
  public var at: TickInstant

  /// A jump that was noticed at that instant of the boot's clock.
  public init(by: Nanoseconds, at: TickInstant) {
    self.by = by
    self.at = at
  }
}
