import Buses
import Wire

/// The Yahboom YB_Pcb_Car motor board of the Raspbot V1: two motors and servos on I2C.
///
/// The driver is a small value that takes the bus per call and keeps no state. The board keeps the last command for ever, so the
/// command must be repeated, and the board stopped before the program ends. Errors are those of the bus, after its retries. Timing:
/// one transfer per call, two for a stop. Source: README.md beside this file.
public struct YBPcbCar: Sendable, Hashable, BitwiseCopyable {
  /// The address 0x16, which cannot be changed.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x16)! }
  }

  /// The servos of the camera mount.
  public enum Servo: UInt8, Sendable {
    /// The servo that turns the camera left and right.
    case pan = 1
    /// The servo that turns the camera up and down.
    case tilt = 2
  }

  enum Register {
    static var legacyRun: UInt8 {
      @_noLocks @_noAllocation get { 0x00 }
    }
    static var run: UInt8 {
      @_noLocks @_noAllocation get { 0x01 }
    }
    static var stop: UInt8 {
      @_noLocks @_noAllocation get { 0x02 }
    }
    static var servo: UInt8 {
      @_noLocks @_noAllocation get { 0x03 }
    }
  }

  /// The address of the board on its bus.
  public let address: I2CAddress
  /// The conversion of a speed in percent to a duty.
  public let dutyScale: DutyScale
  /// Whether register 0x00 is written with magnitudes 0…100, fractions cut off, as the original script did, instead of register 0x01 with duties.
  ///
  /// The setting serves byte compatibility only: no library of the board's maker knows that register.
  public let legacyRegister: Bool

  /// Creates a driver for a board at an address. Does not use the bus.
  public init(
    address: I2CAddress = standardAddress, dutyScale: DutyScale = DutyScale(), legacyRegister: Bool = false
  ) {
    self.address = address
    self.dutyScale = dutyScale
    self.legacyRegister = legacyRegister
  }

  /// Runs both motors: sends `[direction, magnitude]` for the left and then the right motor. Direction is 1 for forward, 0 for
  /// backward and 1 at rest.
  @_noLocks @_noAllocation
  public func drive(_ speeds: WheelSpeeds, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(speeds.left.value < 0 ? 0 : 1)
    bytes.append(magnitude(speeds.left))
    bytes.append(speeds.right.value < 0 ? 0 : 1)
    bytes.append(magnitude(speeds.right))
    try bus.writeBlock(bytes, to: address, register: legacyRegister ? Register.legacyRun : Register.run)
  }

  /// Returns the magnitude for the legacy register in whole percent, cut off as the original script does, or else the duty.
  @_noLocks @_noAllocation
  private func magnitude(_ speed: Percent) -> UInt8 {
    guard legacyRegister else { return dutyScale.duty(speed) }
    let magnitude = speed.value.magnitude
    guard magnitude > 0 else { return 0 }
    return UInt8(saturating: magnitude < 100 ? magnitude : 100)
  }

  /// Stops both motors, by the stop register and by running at zero, since a board that misses one write may take the other.
  ///
  /// All writes are made even if one fails, except after a timeout, since a stuck bus would only cost the same time again. With
  /// `legacyRegister` a zero is written to that register as well. Throws the first error; the caller repeats the call until it does
  /// not throw.
  @_noLocks @_noAllocation
  public func stop(on bus: inout I2CBus) throws(I2CError) {
    var failure: I2CError?
    do {
      try bus.writeByte(0, to: address, register: Register.stop)
    } catch {
      if error.isTimeOut { throw error }
      failure = error
    }
    let rest = restBytes
    do {
      try bus.writeBlock(rest, to: address, register: Register.run)
    } catch {
      if error.isTimeOut { throw error }
      if case .none = failure { failure = error }
    }
    if legacyRegister {
      do {
        try bus.writeBlock(rest, to: address, register: Register.legacyRun)
      } catch {
        if case .none = failure { failure = error }
      }
    }
    if let failure { throw failure }
  }

  /// Turns a servo to 0…180 degrees. Angles beyond are clamped before they are sent, and NaN counts as 90.
  @_noLocks @_noAllocation
  public func turn(_ servo: Servo, degrees: Double, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(servo.number)
    bytes.append(servoAngle(degrees, limit: 180))
    try bus.writeBlock(bytes, to: address, register: Register.servo)
  }

  /// The bytes for forward at zero: `[1, 0, 1, 0]`.
  private var restBytes: I2CBytes {
    @_noLocks @_noAllocation get {
      var bytes = I2CBytes()
      for byte in 0..<4 { bytes.append(byte & 1 == 0 ? 1 : 0) }
      return bytes
    }
  }
}

extension YBPcbCar.Servo {
  var number: UInt8 {
    @_noLocks @_noAllocation get {
      switch self {
      case .pan: 1
      case .tilt: 2
      }
    }
  }
}
