import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// A simulated YB_Pcb_Car board with a robot.
///
/// Attach `chip` to a `SimulatedI2CBus`, which retains the simulator. The board acknowledges every write, ignores writes that it
/// does not know, and keeps the last command for ever. Reads give 0xFF.
public final class YBPcbCarSimulator: @unchecked Sendable {  // safe: the rule of `SimulatedVehicle`
  /// The robot that the board drives, with its snapshot and its placement.
  public let vehicle: SimulatedVehicle
  private let state: UnsafeMutablePointer<State>

  fileprivate struct State {
    let body: UnsafeMutablePointer<VehicleBody>
    let acceptsLegacyRegister: Bool
  }

  /// Creates a board. `acceptsLegacyRegister` simulates a firmware that also runs the motors by register 0x00, with magnitudes 0…100.
  public init(
    parameters: DifferentialDrive.Parameters = DifferentialDrive.Parameters(), acceptsLegacyRegister: Bool = false
  ) {
    vehicle = SimulatedVehicle(parameters)
    state = .allocate(capacity: 1)
    state.initialize(to: State(body: vehicle.body, acceptsLegacyRegister: acceptsLegacyRegister))
  }

  deinit {
    state.deallocate()
    vehicle.deallocate()
  }

  /// The chip to be attached to a `SimulatedI2CBus`, at the board's address.
  public var chip: SimulatedI2CChip {
    SimulatedI2CChip(context: state, owner: self, transfer: transferToYBPcbCar)
  }
}

@_noLocks @_noAllocation
private func transferToYBPcbCar(_ context: UnsafeMutableRawPointer, _ request: UnsafeMutableRawPointer) -> Int32 {
  let state = context.assumingMemoryBound(to: YBPcbCarSimulator.State.self)
  let transfer = request.assumingMemoryBound(to: I2CTransfer.self)
  let body = state.pointee.body
  body.pointee.world.advance(to: transfer.pointee.at)
  if let write = BoardWrite(transfer.pointee) {
    if !apply(write, to: body, legacy: state.pointee.acceptsLegacyRegister, at: transfer.pointee.at) {
      body.pointee.ignored &+= 1
    }
  } else {
    fillWithIdleBus(&transfer.pointee.bytes)
  }
  body.pointee.publish()
  return 0
}

/// Applies a write. Returns `false` if the board ignores it.
@_noLocks @_noAllocation
private func apply(
  _ write: BoardWrite, to body: UnsafeMutablePointer<VehicleBody>, legacy: Bool, at instant: TickInstant
) -> Bool {
  switch write.register {
  case 0x00 where legacy && write.count == 4 && write[0] <= 1 && write[2] <= 1 && write[1] <= 100 && write[3] <= 100:
    // Rounded like the driver's own scale, so that both registers give the same duty at the ends.
    let left = (Int(write[1]) * 255 + 50) / 100
    let right = (Int(write[3]) * 255 + 50) / 100
    run(body, left: write[0] == 1 ? left : -left, right: write[2] == 1 ? right : -right, at: instant)
  case 0x01 where write.count == 4 && write[0] <= 1 && write[2] <= 1:
    let left = Int(write[1])
    let right = Int(write[3])
    run(body, left: write[0] == 1 ? left : -left, right: write[2] == 1 ? right : -right, at: instant)
  case 0x02 where write.count == 1 && write[0] == 0:
    run(body, left: 0, right: 0, at: instant)
  case 0x03 where write.count == 2 && write[1] <= 180:
    switch write[0] {
    case 1: body.pointee.pan = write[1]
    case 2: body.pointee.tilt = write[1]
    default: return false
    }
  default: return false
  }
  return true
}

/// Runs the motors with duties of −255…255.
@_noLocks @_noAllocation
private func run(_ body: UnsafeMutablePointer<VehicleBody>, left: Int, right: Int, at instant: TickInstant) {
  let parameters = body.pointee.world.parameters
  let target = DifferentialDrive.Speeds(left: parameters.speed(duty: left), right: parameters.speed(duty: right))
  body.pointee.run(target, at: instant)
}
