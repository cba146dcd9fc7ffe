import Buses
import Wire

/// The Yahboom Raspbot V2 motor board: four motors, each with its own write, and servos on I2C.
///
/// Driven like a tank: motors 0 and 1 are the left side, 2 and 3 the right. Mind that its direction byte is the V1
/// board's upside down. A small value that takes the bus per call and remembers nothing; the board keeps the last
/// command for ever. Errors: whatever the bus says, after its own retries. Timing: four transfers a call.
/// Source: README.md beside this file.
public struct RaspbotV2: Sendable, Hashable, BitwiseCopyable {
  /// 0x2B, which cannot be changed.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x2B)! }
  }

  /// The servos of the camera mount.
  public enum Servo: UInt8, Sendable {
    /// Turns the camera left and right.
    case pan = 1
    /// Turns the camera up and down, no further than 110 degrees.
    case tilt = 2
  }

  enum Register {
    static var motor: UInt8 {
      @_noLocks @_noAllocation get { 0x01 }
    }
    static var servo: UInt8 {
      @_noLocks @_noAllocation get { 0x02 }
    }
  }

  /// The address of the board on its bus.
  public let address: I2CAddress
  /// How a speed in percent becomes a duty.
  public let dutyScale: DutyScale

  /// A board at an address. Touches no bus.
  public init(address: I2CAddress = standardAddress, dutyScale: DutyScale = DutyScale()) {
    self.address = address
    self.dutyScale = dutyScale
  }

  /// Runs the motors one after the other; gives up at the first that fails, so that the caller can stop.
  @_noLocks @_noAllocation
  public func drive(_ speeds: WheelSpeeds, on bus: inout I2CBus) throws(I2CError) {
    for motor in UInt8(0)..<4 {
      try bus.writeBlock(command(motor, motor < 2 ? speeds.left : speeds.right), to: address, register: Register.motor)
    }
  }

  /// Sets all four motors to zero; all are tried even when one fails, except after a time-out.
  ///
  /// Throws the first error; the caller stops again until it does not.
  @_noLocks @_noAllocation
  public func stop(on bus: inout I2CBus) throws(I2CError) {
    var failure: I2CError?
    for motor in UInt8(0)..<4 {
      do {
        try bus.writeBlock(command(motor, Percent(0)), to: address, register: Register.motor)
      } catch {
        if error.isTimeOut { throw error }
        if case .none = failure { failure = error }
      }
    }
    if let failure { throw failure }
  }

  /// Turns a servo to 0…180 degrees, the tilt to 0…110; angles beyond are clamped, not a number counts as the middle.
  @_noLocks @_noAllocation
  public func turn(_ servo: Servo, degrees: Double, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    switch servo {
    case .pan:
      bytes.append(1)
      bytes.append(servoAngle(degrees, limit: 180))
    case .tilt:
      bytes.append(2)
      bytes.append(servoAngle(degrees, limit: 110))
    }
    try bus.writeBlock(bytes, to: address, register: Register.servo)
  }

  /// `[motor, direction, duty]`; direction 0 is forward, 1 back.
  @_noLocks @_noAllocation
  private func command(_ motor: UInt8, _ speed: Percent) -> I2CBytes {
    var bytes = I2CBytes()
    bytes.append(motor)
    bytes.append(speed.value < 0 ? 1 : 0)
    bytes.append(dutyScale.duty(speed))
    return bytes
  }
}
