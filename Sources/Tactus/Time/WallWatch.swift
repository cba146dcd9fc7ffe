/// Detects that a wall clock was set, by comparing it with the boot's clock. The watch itself reads no clock.
public struct WallWatch: Sendable {
  /// A sample of both clocks at one instant.
  public struct Sample: Sendable {
    var microseconds: Int64
    var bootTime: TickInstant
    var isSynchronised: Bool

    /// Creates a sample from the values of both clocks.
    ///
    /// - Parameters:
    ///   - microseconds: the wall clock in microseconds since 1970.
    ///   - bootTime: the boot's clock, which never goes back.
    ///   - isSynchronised: whether the kernel reports that a service synchronises the wall clock.
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

  /// The smallest difference that counts as a jump. A smaller one is drift, or a correction as NTP makes all the time.
  private static let tolerance = Nanoseconds.seconds(2)

  /// Creates a watch that has seen no sample.
  ///
  /// - Parameter boot: the identifier of the machine's boot, or `nil` if it is unknown.
  public init(boot: BootID? = nil) { self.boot = boot }

  /// Returns the reading of the wall clock for a sample. Samples must come in the order of the boot's clock.
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
