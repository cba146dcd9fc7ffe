import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// A simulated Raspbot V2 board with a robot. Each side moves at the mean speed of its two motors.
///
/// Attach `chip` to a `SimulatedI2CBus`, which retains the simulator. The board acknowledges every write, ignores writes that it
/// does not know, and keeps the last command for ever, that of the buzzer, too. The ultrasonic sensor sees the vehicle's wall, at 20…4000 mm, once it is
/// switched on, and gives 0 before; the line sensor gives what `SimulatedVehicle.setLine` has set; other reads give 0xFF.
public final class RaspbotV2Simulator: @unchecked Sendable {  // safe: the rule of `SimulatedVehicle`
  /// The robot that the board drives, with its snapshot and its placement.
  public let vehicle: SimulatedVehicle
  private let state: UnsafeMutablePointer<State>

  fileprivate struct State {
    let body: UnsafeMutablePointer<VehicleBody>
    /// The commanded speeds of the four motors in m/s; positive drives forward.
    var motors = [4 of Double](repeating: 0)
    var isDistanceOn = false
  }

  /// Creates a board that has had no command, with a robot at rest at the origin.
  public init(parameters: DifferentialDrive.Parameters = DifferentialDrive.Parameters()) {
    vehicle = SimulatedVehicle(parameters)
    state = .allocate(capacity: 1)
    state.initialize(to: State(body: vehicle.body))
  }

  deinit {
    state.deallocate()
    vehicle.deallocate()
  }

  /// The chip to be attached to a `SimulatedI2CBus`, at the board's address.
  public var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToRaspbotV2)
  }
}

@_noLocks @_noAllocation
private func transferToRaspbotV2(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let state = context.assumingMemoryBound(to: RaspbotV2Simulator.State.self)
  let transfer = request.assumingMemoryBound(to: I2CTransfer.self)
  let body = state.pointee.body
  body.pointee.world.advance(to: transfer.pointee.at)
  if let write = BoardWrite(transfer.pointee) {
    if !apply(write, to: state, at: transfer.pointee.at) { body.pointee.ignored &+= 1 }
  } else {
    answer(&transfer.pointee, state)
  }
  body.pointee.publish()
  return 0
}

@_noLocks @_noAllocation
private func answer(_ transfer: inout I2CTransfer, _ state: UnsafeMutablePointer<RaspbotV2Simulator.State>) {
  let distance = state.pointee.isDistanceOn ? state.pointee.body.pointee.distanceMillimetres : 0
  switch (transfer.register, transfer.bytes.count) {
  case (0x1A, 1): transfer.bytes[0] = UInt8(truncatingIfNeeded: distance)
  case (0x0A, 1): transfer.bytes[0] = state.pointee.body.pointee.line
  case (0x1B, 1): transfer.bytes[0] = UInt8(truncatingIfNeeded: distance >> 8)
  default: fillWithIdleBus(&transfer.bytes)
  }
}

/// Applies a write. Returns `false` if the board ignores it.
@_noLocks @_noAllocation
private func apply(
  _ write: BoardWrite, to state: UnsafeMutablePointer<RaspbotV2Simulator.State>, at instant: TickInstant
) -> Bool {
  let body = state.pointee.body
  switch write.register {
  case 0x01 where write.count == 3 && write[0] < 4 && write[1] <= 1:
    let duty = Int(write[2])
    state.pointee.motors[Int(write[0])] = body.pointee.world.parameters.speed(duty: write[1] == 0 ? duty : -duty)
    let motors = state.pointee.motors
    let target = DifferentialDrive.Speeds(left: 0.5 * (motors[0] + motors[1]), right: 0.5 * (motors[2] + motors[3]))
    body.pointee.run(target, at: instant)
  case 0x02 where write.count == 2 && write[0] == 1 && write[1] <= 180: body.pointee.pan = write[1]
  case 0x02 where write.count == 2 && write[0] == 2 && write[1] <= 110: body.pointee.tilt = write[1]
  case 0x06 where write.count == 1 && write[0] <= 1: body.pointee.isBuzzing = write[0] == 1
  case 0x08 where write.count == 3:
    body.pointee.lights = .init(repeating: LightColour(red: write[0], green: write[1], blue: write[2]))
  case 0x09 where write.count == 4 && write[0] < 14:
    body.pointee.lights[Int(write[0])] = LightColour(red: write[1], green: write[2], blue: write[3])
  case 0x07 where write.count == 1 && write[0] <= 1: state.pointee.isDistanceOn = write[0] == 1
  default: return false
  }
  return true
}
