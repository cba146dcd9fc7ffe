import Tactus
import TactusControl

/// A robot on two driven wheels in an empty, level world, which the simulated motor boards move.
///
/// Each wheel follows its commanded speed with a first-order lag. Between commands wheel speeds and heading follow the closed-form
/// solution. The position is their integral by Boole's rule over steps of at most 50 ms and half a radian, so that it depends on
/// the commands and their instants and (to 1e-6) not on how often it is read. It is a value and allocates nothing. Timing: about 40
/// ns per step; at rest and straight ahead any length of time is one step.
public struct DifferentialDrive: Sendable, BitwiseCopyable {
  /// The properties of the robot.
  public struct Parameters: Sendable, Hashable, BitwiseCopyable {
    /// The wheel speed at full duty, in m/s.
    public var topSpeed = 0.6
    /// The distance between the wheels, in m.
    public var track = 0.12
    /// The time constant of the lag.
    public var timeConstant = Nanoseconds(150_000_000)
    /// The duty, of 255, below which the wheels stand still.
    public var stallDuty = 30

    /// Creates the parameters of a small robot: 0.6 m/s, wheels 0.12 m apart, a lag of 150 ms, standing still below a duty of 30.
    @_noLocks @_noAllocation
    public init() {}

    /// Returns the speed in m/s for a duty of −255…255.
    @_noLocks @_noAllocation
    public func speed(duty: Int) -> Double {
      duty > -stallDuty && duty < stallDuty ? 0 : topSpeed * Double(duty) / 255
    }
  }

  /// The position and direction of the robot: `x` and `y` in m, and `heading` in rad, which is not reduced to one turn. A heading
  /// of 0 points along x; left is positive.
  public struct Pose: Sendable, Hashable, BitwiseCopyable {
    /// The position ahead of the origin, in m.
    public var x: Double
    /// The position to the left of the origin, in m.
    public var y: Double
    /// The direction in rad: 0 points along x, left is positive.
    public var heading: Double

    /// Creates a pose, by default at the origin and pointing along x.
    @_noLocks @_noAllocation
    public init(x: Double = 0, y: Double = 0, heading: Double = 0) {
      self.x = x
      self.y = y
      self.heading = heading
    }
  }

  /// Speeds of the two wheels over the ground, in m/s; positive drives forward.
  public struct Speeds: Sendable, Hashable, BitwiseCopyable {
    /// The speed of the left wheel in m/s; positive drives forward.
    public var left: Double
    /// The speed of the right wheel in m/s; positive drives forward.
    public var right: Double

    /// Creates the speeds of the wheels, by default at rest.
    @_noLocks @_noAllocation
    public init(left: Double = 0, right: Double = 0) {
      self.left = left
      self.right = right
    }
  }

  /// The properties of the robot.
  public let parameters: Parameters
  /// The instant of `pose` and `speeds`.
  public private(set) var at: TickInstant
  /// The position and direction of the robot at `at`.
  public private(set) var pose = Pose()
  /// The speeds of the wheels at `at`.
  public private(set) var speeds = Speeds()
  /// The commanded speeds, which the wheels approach.
  public private(set) var target = Speeds()
  /// Cosine and sine of the heading, updated with it.
  private(set) var cosine = 1.0, sine = 0.0

  /// Creates a robot at rest at the origin. Track, time constant and top speed must be positive.
  public init(_ parameters: Parameters = Parameters(), at: TickInstant = TickInstant(nanoseconds: 0)) {
    precondition(parameters.track > 0 && parameters.timeConstant > .zero && parameters.topSpeed > 0)
    self.parameters = parameters
    self.at = at
  }

  /// Places the robot at a pose with given speeds. The commanded speeds stay unchanged.
  public mutating func place(_ pose: Pose, speeds: Speeds = Speeds()) {
    precondition(pose.x.isFinite && pose.y.isFinite && pose.heading.isFinite)
    precondition(speeds.left.isFinite && speeds.right.isFinite)
    self.pose = pose
    self.speeds = speeds
    cosine = Math.cos(pose.heading)
    sine = Math.sin(pose.heading)
  }

  /// Sets the commanded speeds from `instant` on. An instant before `at` counts as `at`.
  @_noLocks @_noAllocation
  public mutating func command(_ target: Speeds, at instant: TickInstant) {
    advance(to: instant)
    self.target = target
  }

  /// Advances the world to `instant`. Does nothing if `instant` is not later than `at`.
  @_noLocks @_noAllocation
  public mutating func advance(to instant: TickInstant) {
    let span = instant.nanoseconds &- at.nanoseconds
    guard span > 0 else { return }
    at = instant
    var left = Double(span) * 1e-9
    let constant = Double(parameters.timeConstant.count) * 1e-9
    if speeds.left == speeds.right, target.left == target.right {
      if speeds.left != 0 || target.left != 0 { goStraight(left, constant) }
      return
    }
    let longest = longestStep
    while left > longest {
      step(longest, constant)
      left -= longest
    }
    step(left, constant)
  }

  /// The longest step in s, so short that the heading turns by at most half a radian, and at most 50 ms.
  private var longestStep: Double {
    @_noLocks @_noAllocation get {
      let now = (speeds.right - speeds.left).magnitude
      let then = (target.right - target.left).magnitude
      let difference = now > then ? now : then
      return difference <= 10 * parameters.track ? 0.05 : 0.5 * parameters.track / difference
    }
  }

  /// Moves straight ahead for any length of time. Distance = u·t + (v − u)·τ·(1 − e^(−t/τ)).
  @_noLocks @_noAllocation
  private mutating func goStraight(_ time: Double, _ constant: Double) {
    let remaining = Math.exp(-time / constant)
    let distance = target.left * time + (speeds.left - target.left) * constant * (1 - remaining)
    pose.x += distance * cosine
    pose.y += distance * sine
    slow(remaining)
  }

  @_noLocks @_noAllocation
  private mutating func step(_ time: Double, _ constant: Double) {
    // Forward speed and turn rate follow their targets like the wheels do.
    let forward = 0.5 * (target.left + target.right)
    let forwardExcess = 0.5 * (speeds.left + speeds.right) - forward
    let turn = (target.right - target.left) / parameters.track
    let turnExcess = (speeds.right - speeds.left) / parameters.track - turn

    // ∫ v·cos and ∫ v·sin against the heading at the start; Boole's weights 7 32 12 32 7, over 90.
    let quarter = 0.25 * time
    let decay = Math.exp(-quarter / constant)
    var along = 7 * (forward + forwardExcess)
    var across = 0.0
    var remaining = 1.0
    var turned = Rotation()
    var angle = 0.0
    for node in 1...4 {
      remaining *= decay
      angle = turn * (quarter * Double(node)) + turnExcess * constant * (1 - remaining)
      turned = Rotation(angle)
      let weighted = (node == 4 ? 7 : node == 2 ? 12 : 32) * (forward + forwardExcess * remaining)
      along += weighted * turned.cosine
      across += weighted * turned.sine
    }
    along *= time / 90
    across *= time / 90

    pose.x += along * cosine - across * sine
    pose.y += along * sine + across * cosine
    pose.heading += angle
    let rotated = cosine * turned.cosine - sine * turned.sine
    sine = sine * turned.cosine + cosine * turned.sine
    cosine = rotated
    let correction = 1.5 - 0.5 * (cosine * cosine + sine * sine)  // keeps the length 1 over 1e9 steps
    cosine *= correction
    sine *= correction
    slow(remaining)
  }

  /// Brings the wheels nearer to their commanded speeds. Within a nanometre per second they count as reached, so that a robot at
  /// rest needs no computation.
  @_noLocks @_noAllocation
  private mutating func slow(_ remaining: Double) {
    let left = (speeds.left - target.left) * remaining
    let right = (speeds.right - target.right) * remaining
    let isThere = left.magnitude < 1e-9 && right.magnitude < 1e-9
    speeds = isThere ? target : Speeds(left: target.left + left, right: target.right + right)
  }
}

/// Cosine and sine of an angle of at most half a radian, to 1e-13.
private struct Rotation: BitwiseCopyable {
  var cosine = 1.0, sine = 0.0

  @_noLocks @_noAllocation
  init() {}

  @_noLocks @_noAllocation
  init(_ a: Double) {
    let b = a * a
    cosine =
      1 - b * (1.0 / 2)
      * (1 - b * (1.0 / 12) * (1 - b * (1.0 / 30) * (1 - b * (1.0 / 56) * (1 - b * (1.0 / 90) * (1 - b * (1.0 / 132))))))
    sine =
      a
      * (1 - b * (1.0 / 6) * (1 - b * (1.0 / 20) * (1 - b * (1.0 / 42) * (1 - b * (1.0 / 72) * (1 - b * (1.0 / 110))))))
  }
}
