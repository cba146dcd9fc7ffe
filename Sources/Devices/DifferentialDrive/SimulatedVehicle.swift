import Buses
import Tactus

/// What can be seen of a simulated robot from outside.
public struct SimulatedVehicleSnapshot: Sendable, BitwiseCopyable {
  /// The instant of everything else: the last access to the board, or the last `advance`.
  public var at = TickInstant(nanoseconds: 0)
  /// Where the robot is.
  public var pose = DifferentialDrive.Pose()
  /// How fast its wheels turn.
  public var speeds = DifferentialDrive.Speeds()
  /// What the board has told the motors, in m/s.
  public var target = DifferentialDrive.Speeds()
  /// Angle of the pan servo in degrees; `nil` until it is set.
  public var pan: UInt8?
  /// Angle of the tilt servo in degrees; `nil` until it is set.
  public var tilt: UInt8?
  /// Motor commands that the board took.
  public var commands: Int64 = 0
  /// Writes that the board acknowledged and ignored: unknown register, wrong length, value out of range.
  public var ignored: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}

/// The robot that a simulated motor board drives.
///
/// A handle: its simulator must outlive it. `snapshot` is for any thread; `advance` and `place` for the loop that owns
/// the board's bus (or before it starts), as they touch what its transfers touch.
public struct SimulatedVehicle: @unchecked Sendable, BitwiseCopyable {  // safe under the rule above
  let body: UnsafeMutablePointer<VehicleBody>
  /// Not reached through `body`, which a transfer may be changing.
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

  /// The robot at the board's last access or `advance`. Never waits for more than the writer's few stores.
  public var snapshot: SimulatedVehicleSnapshot {
    var snapshot = SimulatedVehicleSnapshot()
    while published.load(into: &snapshot) == nil {}
    return snapshot
  }

  /// Moves the world on to `instant`, without a command.
  @_noLocks @_noAllocation
  public func advance(to instant: TickInstant) {
    body.pointee.world.advance(to: instant)
    body.pointee.publish()
  }

  /// Puts the robot somewhere, moving as told; the commanded speeds stay.
  public func place(_ pose: DifferentialDrive.Pose, speeds: DifferentialDrive.Speeds = .init()) {
    body.pointee.world.place(pose, speeds: speeds)
    body.pointee.publish()
  }
}

/// What the simulators of all boards have in common: the world and what is published of it.
struct VehicleBody {
  var world: DifferentialDrive
  var pan: UInt8?
  var tilt: UInt8?
  var commands: Int64 = 0
  var ignored: Int64 = 0
  let published: SharedWords
  private var number: UInt64 = 0

  init(_ parameters: DifferentialDrive.Parameters, published: SharedWords) {
    world = DifferentialDrive(parameters)
    self.published = published
    publish()
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
    snapshot.commands = commands
    snapshot.ignored = ignored
    number &+= 1
    published.store(number: number, from: &snapshot)
  }
}
