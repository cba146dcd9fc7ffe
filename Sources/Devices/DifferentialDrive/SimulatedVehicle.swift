import Buses
import Tactus

/// The state of a simulated robot as seen from outside.
public struct SimulatedVehicleSnapshot: Sendable, BitwiseCopyable {
  /// The instant of all other values: the last access to the board, or the last `advance`.
  public var at = TickInstant(nanoseconds: 0)
  /// The position and direction of the robot.
  public var pose = DifferentialDrive.Pose()
  /// The speeds of the robot's wheels.
  public var speeds = DifferentialDrive.Speeds()
  /// The speeds that the board has commanded, in m/s.
  public var target = DifferentialDrive.Speeds()
  /// The angle of the pan servo in degrees, or `nil` until it is set.
  public var pan: UInt8?
  /// The angle of the tilt servo in degrees, or `nil` until it is set.
  public var tilt: UInt8?
  /// Whether the board's buzzer sounds.
  public var isBuzzing = false
  /// The colours of the board's lights, which are off at first. A board without lights leaves them off.
  public var lights = [14 of LightColour](repeating: LightColour())
  /// The height of the body in millimetres, or `nil` until it is set.
  public var heightMillimetres: Double?
  /// Whether the board levels the body's roll, or `nil` until that has been commanded.
  public var isBalancing: Bool?
  /// The number of motor commands that the board accepted.
  public var commands: Int64 = 0
  /// The number of writes that the board acknowledged and ignored because of an unknown register, a wrong length or a value out of range.
  public var ignored: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}

/// The robot that a simulated motor board drives.
///
/// The value is a handle, which its simulator must outlive. `snapshot` may be read from any thread; `advance` and `place` are for
/// the loop that owns the board's bus (or for use before it starts), since they change the state that transfers change.
public struct SimulatedVehicle: @unchecked Sendable, BitwiseCopyable {  // safe under the rule above
  let body: UnsafeMutablePointer<VehicleBody>
  /// The published snapshot. It is not reached through `body`, which a transfer may be changing.
  private let published: SharedWords

  init(_ parameters: DifferentialDrive.Parameters) {
    body = .allocate(capacity: 1)
    published = .allocate(byteCount: MemoryLayout<SimulatedVehicleSnapshot>.size)
    body.initialize(to: VehicleBody(parameters, published: published))
  }

  func deallocate() {
    body.deallocate()
    published.deallocate()
  }

  /// The robot at the board's last access or `advance`. Reading never waits longer than for a few stores of the writer.
  public var snapshot: SimulatedVehicleSnapshot {
    var snapshot = SimulatedVehicleSnapshot()
    while published.load(into: &snapshot) == nil {}
    return snapshot
  }

  /// Advances the world to `instant`, without a command.
  @_noLocks @_noAllocation
  public func advance(to instant: TickInstant) {
    body.pointee.world.advance(to: instant)
    body.pointee.publish()
  }

  /// Puts a wall across the world's x axis at `x` in m, or takes it away if `x` is `nil`. Distance sensors see it; wheels do not.
  public func setWall(_ x: Double?) {
    precondition(x?.isFinite ?? true)
    body.pointee.wall = x
  }

  /// Makes the distance sensor stop working, or work again.
  public func setDistanceSensor(isDead: Bool) { body.pointee.isDistanceDead = isDead }

  /// Sets the value of the line sensor's register. It is 15 at first, which means that nothing dark is below any of the four probes.
  public func setLine(_ byte: UInt8) { body.pointee.line = byte }

  /// Places the robot at a pose with given speeds. The commanded speeds stay unchanged.
  public func place(_ pose: DifferentialDrive.Pose, speeds: DifferentialDrive.Speeds = .init()) {
    body.pointee.world.place(pose, speeds: speeds)
    body.pointee.publish()
  }
}

/// The part that the simulators of all boards have in common: the world and its published snapshot.
struct VehicleBody {
  var world: DifferentialDrive
  var pan: UInt8?
  var tilt: UInt8?
  var isBuzzing = false
  var lights = [14 of LightColour](repeating: LightColour())
  var heightMillimetres: Double?
  var isBalancing: Bool?
  /// The byte of the line sensor.
  var line: UInt8 = 0x0F
  /// The place where a wall crosses the x axis in m, or `nil` for an empty world.
  var wall: Double?
  var isDistanceDead = false
  var commands: Int64 = 0
  var ignored: Int64 = 0
  let published: SharedWords
  private var number: UInt64 = 0

  init(_ parameters: DifferentialDrive.Parameters, published: SharedWords) {
    world = DifferentialDrive(parameters)
    self.published = published
    publish()
  }

  /// The distance that an ultrasonic sensor at the robot's pose measures, 20…4000 mm, or 0 if the sensor is dead.
  var distanceMillimetres: Int {
    @_noLocks @_noAllocation get {
      if isDistanceDead { return 0 }
      guard let wall, world.cosine > 0.001 else { return 4000 }
      let millimetres = 1000 * (wall - world.pose.x) / world.cosine
      return Int(saturating: millimetres < 20 ? 20 : millimetres > 4000 ? 4000 : millimetres)
    }
  }

  @_noLocks @_noAllocation
  mutating func run(_ target: DifferentialDrive.Speeds, at instant: TickInstant) {
    world.command(target, at: instant)
    commands &+= 1
  }

  @_noLocks @_noAllocation
  mutating func publish() {
    var snapshot = SimulatedVehicleSnapshot()
    snapshot.at = world.at
    snapshot.pose = world.pose
    snapshot.speeds = world.speeds
    snapshot.target = world.target
    snapshot.pan = pan
    snapshot.tilt = tilt
    snapshot.isBuzzing = isBuzzing
    snapshot.lights = lights
    snapshot.heightMillimetres = heightMillimetres
    snapshot.isBalancing = isBalancing
    snapshot.commands = commands
    snapshot.ignored = ignored
    number &+= 1
    published.store(number: number, from: &snapshot)
  }
}
