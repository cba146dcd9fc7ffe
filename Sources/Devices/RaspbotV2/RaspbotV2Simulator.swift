import Buses
import Tactus

/// The Raspbot V2 board with a robot under it; a side moves at the mean of its two motors.
///
/// Attach `chip` to a `SimulatedI2CBus`, which keeps the simulator. The board acknowledges whatever is written to it and
/// ignores what it does not know; it keeps the last command for ever. Reads give 0xFF: its sensors are not simulated.
public final class RaspbotV2Simulator: @unchecked Sendable {  // safe: the rule of `SimulatedVehicle`
  /// The robot that the board drives: its snapshot, and where it is put.
  public let vehicle: SimulatedVehicle
  private let state: UnsafeMutablePointer<State>

  fileprivate struct State {
    let body: UnsafeMutablePointer<VehicleBody>
    /// Speeds that the four motors were told, in m/s; forward is positive.
    var motors = [4 of Double](repeating: 0)
  }

  /// A board that has had no command, and a robot at rest at the origin.
  public init(parameters: DifferentialDrive.Parameters = DifferentialDrive.Parameters()) {
    vehicle = SimulatedVehicle(parameters)
    state = .allocate(capacity: 1)
    state.initialize(to: State(body: vehicle.body))
  }

  deinit {
    state.deallocate()
    vehicle.deallocate()
  }

  /// The end for a `SimulatedI2CBus`: attach it at the address of the chip.
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
    fillWithIdleBus(&transfer.pointee.bytes)
  }
  body.pointee.publish()
  return 0
}

/// False when the board ignores the write.
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
  default: return false
  }
  return true
}
