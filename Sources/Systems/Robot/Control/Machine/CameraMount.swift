import Tactus

/// The limits of a camera mount's two servos, in whole degrees as the board counts them, checked when created.
///
/// Pan 90 is the middle of the board's scale. Which way greater angles turn depends on how a servo is mounted: an inverted servo is told the
/// angle mirrored within its limits, so that the limits stay the same.
public struct CameraMountSettings: Sendable, Hashable, BitwiseCopyable {
  /// The range of every angle.
  public static let angles = 0...180
  /// The range of `degreesPerSecond`.
  public static let rates = 5...720

  /// The limits of one servo.
  public struct Limits: Sendable, Hashable, BitwiseCopyable {
    /// The smallest angle in degrees.
    public let lowest: Int
    /// The greatest angle in degrees, above `lowest`.
    public let highest: Int
    /// Whether the angle that is written to the board is mirrored within the limits.
    public let isInverted: Bool

    /// Creates limits within 0…180 degrees. Traps for others.
    @_noLocks @_noAllocation
    public init(lowest: Int = 0, highest: Int, isInverted: Bool = false) {
      precondition(lowest >= 0 && lowest < highest && highest <= 180, "a servo's limits are within 0…180 degrees")
      self.lowest = lowest
      self.highest = highest
      self.isInverted = isInverted
    }

    @_noLocks @_noAllocation
    func allows(_ degrees: Int) -> Bool { degrees >= lowest && degrees <= highest }

    /// Returns the angle to write to the board.
    @_noLocks @_noAllocation
    func wired(_ degrees: Int) -> Int { isInverted ? lowest + highest - degrees : degrees }
  }

  /// The limits of the servo that turns the camera left and right.
  public let pan: Limits
  /// The limits of the servo that turns the camera up and down.
  public let tilt: Limits
  /// The rate at which a servo's angle changes after its first one, in degrees per second, 5…720.
  public let degreesPerSecond: Int

  /// Creates settings. Traps for a rate out of range.
  @_noLocks @_noAllocation
  public init(pan: Limits, tilt: Limits, degreesPerSecond: Int) {
    precondition(degreesPerSecond >= 5 && degreesPerSecond <= 720, "a servo turns at 5…720 degrees per second")
    self.pan = pan
    self.tilt = tilt
    self.degreesPerSecond = degreesPerSecond
  }

  /// Returns the settings of a board's mount that the file does not configure: 0…180 degrees. The Raspbot V2's tilt is 0…100 degrees, the lower of
  /// the two limits in copies of the maker's library.
  @_noLocks @_noAllocation
  public static func standard(_ board: RobotBoard) -> CameraMountSettings {
    var highestTilt = 180
    if case .raspbotV2 = board { highestTilt = 100 }
    return CameraMountSettings(
      pan: Limits(highest: 180), tilt: Limits(highest: highestTilt), degreesPerSecond: 180)
  }
}

/// One servo of a camera mount: its target and the last angle that the board has taken.
///
/// A servo's position cannot be read, so the first angle is written at once, and the servo turns there as fast as it
/// can. From then on the written angle approaches the target at the rate of the settings.
public struct MountServo: Sendable, Hashable, BitwiseCopyable {
  /// The angle in degrees that the board has taken last, or `nil` if it has taken none.
  public private(set) var told: Int?
  /// The requested angle in degrees, or `nil` if none was requested. After a halt it is the last angle that the board
  /// has taken.
  public private(set) var target: Int?
  /// The instant from which the next step is counted, while the servo has not reached its target.
  private var since = TickInstant(nanoseconds: 0)

  @_noLocks @_noAllocation
  init() {}

  /// Whether an angle has still to be written to the board.
  var isUnderWay: Bool {
    @_noLocks @_noAllocation get {
      guard let target else { return false }
      guard let told else { return true }
      return told != target
    }
  }

  /// Makes an angle the target. A servo under way goes on from where it is.
  @_noLocks @_noAllocation
  mutating func aim(at degrees: Int, at now: TickInstant) {
    if !isUnderWay { since = now }
    target = degrees
  }

  /// Ends the motion: the last angle that the board has taken stays, and nothing more is written.
  @_noLocks @_noAllocation
  mutating func halt() { target = told }

  /// Returns the next angle to write to the board, or `nil` if nothing is due.
  ///
  /// - Parameter longest: the time that a step may make up for in addition to that of one degree. After a longer silence, as while the bus is
  ///   stuck, the servo goes on from where it is and does not jump.
  @_noLocks @_noAllocation
  mutating func next(_ degreesPerSecond: Int, longest: Nanoseconds, at now: TickInstant) -> Int? {
    guard let target else { return nil }
    guard let told else { return target }
    guard told != target else { return nil }
    let most = longest + Nanoseconds(1_000_000_000 / Int64(clamping: degreesPerSecond))
    if (now - since).count > most.count { since = now - most }
    let step = Int(saturating: (now - since).inSeconds * Double(degreesPerSecond) + 1e-6)
    guard step >= 1 else { return nil }
    let way = target - told
    if way.magnitude <= step.magnitude { return target }
    return way > 0 ? told + step : told - step
  }

  /// Records that the board has taken an angle.
  @_noLocks @_noAllocation
  mutating func record(_ degrees: Int, _ degreesPerSecond: Int, at now: TickInstant) {
    // The time of an incomplete degree counts for the next step.
    if let told, degrees != target {
      let step = Int64(clamping: degrees < told ? told - degrees : degrees - told)
      since = since + Nanoseconds(step * 1_000_000_000 / Int64(clamping: degreesPerSecond))
    } else {
      since = now
    }
    told = degrees
  }
}
