/// Tells a wall clock that goes from one that was set, by comparing it with the boot's clock. Reads no clock.
public struct WallWatch: Sendable {
  /// Both clocks at one instant.
  public struct Sample: Sendable {
    var microseconds: Int64
    var bootTime: TickInstant
    var isSynchronised: Bool

    /// - Parameters:
    ///   - microseconds: since 1970, as the wall clock says.
    ///   - bootTime: the boot's clock, which never goes back.
    ///   - isSynchronised: whether the kernel says that something keeps the wall clock right.
    public init(microseconds: Int64, bootTime: TickInstant, isSynchronised: Bool) {
      self.microseconds = microseconds
      self.bootTime = bootTime
      self.isSynchronised = isSynchronised
    }
  }

  private let boot: BootID?
  private var last: Sample?
  private var steadySince = TickInstant.zero
  private var jumped = Nanoseconds.zero
  private var lastJump: WallJump?

  /// A smaller difference is drift, or a correction such as NTP makes all the time.
  private static let tolerance = Nanoseconds.seconds(2)

  /// - Parameter boot: of the machine, or `nil` if it is not known.
  public init(boot: BootID? = nil) { self.boot = boot }

  /// The wall clock at the instant of a sample. Samples come in the order of the boot's clock.
  public mutating func read(_ sample: Sample) -> WallReading {
    if let last {
      let went = sample.bootTime - last.bootTime
      // Microseconds since 1970 of any clock fit in nanoseconds up to the year 2262; a clock beyond that is one more wrong clock.
      let jump = Nanoseconds((sample.microseconds &- last.microseconds) &* 1_000) - went
      // A cheap clock loses or gains a thousandth at most.
      if Nanoseconds(jump.count < 0 ? 0 &- jump.count : jump.count) >= max(Self.tolerance, went / 1_000) {
        steadySince = sample.bootTime
        jumped = jumped + jump
        lastJump = WallJump(by: jump, at: sample.bootTime)
      }
    } else {
      steadySince = sample.bootTime
    }
    last = sample
    return WallReading(
      microseconds: sample.microseconds, bootTime: sample.bootTime, boot: boot, isSynchronised: sample.isSynchronised,
      steady: sample.bootTime - steadySince, jumped: jumped, lastJump: lastJump)
  }
}
