import Buses
@_spi(FromOutside) import Conversions
import Wire

/// The Yahboom Raspbot V2 motor board: four motors, each with its own write, two servos, lights, a buzzer, an ultrasonic distance sensor
/// and a line sensor on I2C.
///
/// The board is driven like a tank: motors 0 and 1 are the left side, 2 and 3 the right. Its direction byte is the reverse of the
/// V1 board's. The driver is a small value that takes the bus per call and keeps no state; the board keeps the last command for
/// ever. Errors are those of the bus, after its retries. Timing: four transfers per call, three for a distance. Source: README.md beside this file.
public struct RaspbotV2: Sendable, Hashable, BitwiseCopyable {
  /// The address 0x2B, which cannot be changed.
  public static var standardAddress: I2CAddress {
    @_noLocks @_noAllocation get { I2CAddress(0x2B)! }
  }

  /// The servos of the camera mount.
  public enum Servo: UInt8, Sendable {
    /// The servo that turns the camera left and right.
    case pan = 1
    /// The servo that turns the camera up and down, by at most 110 degrees.
    case tilt = 2
  }

  enum Register {
    static var motor: UInt8 {
      @_noLocks @_noAllocation get { 0x01 }
    }
    static var servo: UInt8 {
      @_noLocks @_noAllocation get { 0x02 }
    }
    static var buzzer: UInt8 {
      @_noLocks @_noAllocation get { 0x06 }
    }
    static var distanceSwitch: UInt8 {
      @_noLocks @_noAllocation get { 0x07 }
    }
    static var allLights: UInt8 {
      @_noLocks @_noAllocation get { 0x08 }
    }
    static var oneLight: UInt8 {
      @_noLocks @_noAllocation get { 0x09 }
    }
    static var line: UInt8 {
      @_noLocks @_noAllocation get { 0x0A }
    }
    static var distanceLow: UInt8 {
      @_noLocks @_noAllocation get { 0x1A }
    }
    static var distanceHigh: UInt8 {
      @_noLocks @_noAllocation get { 0x1B }
    }
  }

  /// The address of the board on its bus.
  public let address: I2CAddress
  /// The conversion of a speed in percent to a duty.
  public let dutyScale: DutyScale

  /// Creates a driver for a board at an address. Does not use the bus.
  public init(address: I2CAddress = standardAddress, dutyScale: DutyScale = DutyScale()) {
    self.address = address
    self.dutyScale = dutyScale
  }

  /// Runs the motors one after the other. Throws at the first that fails, so that the caller can stop.
  @_noLocks @_noAllocation
  public func drive(_ speeds: WheelSpeeds, on bus: inout I2CBus) throws(I2CError) {
    for motor in UInt8(0)..<4 {
      try bus.writeBlock(command(motor, motor < 2 ? speeds.left : speeds.right), to: address, register: Register.motor)
    }
  }

  /// Sets all four motors to zero. All are tried even if one fails, except after a timeout.
  ///
  /// Throws the first error; the caller repeats the call until it does not throw.
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

  /// Turns a servo to 0…180 degrees, the tilt servo to 0…110. Angles beyond are clamped, and NaN counts as the middle.
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

  /// The number of lights, which are numbered from 0.
  public static var lightCount: Int {
    @_noLocks @_noAllocation get { 14 }
  }

  /// Sets all lights to one colour.
  @_noLocks @_noAllocation
  public func light(_ colour: LightColour, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    append(colour, to: &bytes)
    try bus.writeBlock(bytes, to: address, register: Register.allLights)
  }

  /// Gives one light a colour. The number of the light is 0…13; another traps.
  @_noLocks @_noAllocation
  public func light(_ number: Int, _ colour: LightColour, on bus: inout I2CBus) throws(I2CError) {
    precondition(number >= 0 && number < Self.lightCount, "the board has lights 0…13")
    var bytes = I2CBytes()
    bytes.append(UInt8(clamping: number))
    append(colour, to: &bytes)
    try bus.writeBlock(bytes, to: address, register: Register.oneLight)
  }

  @_noLocks @_noAllocation
  private func append(_ colour: LightColour, to bytes: inout I2CBytes) {
    bytes.append(colour.red)
    bytes.append(colour.green)
    bytes.append(colour.blue)
  }

  /// Switches the buzzer on or off. It sounds until it is switched off: the board ends nothing by itself.
  @_noLocks @_noAllocation
  public func switchBuzzer(isOn: Bool, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(isOn ? 1 : 0)
    try bus.writeBlock(bytes, to: address, register: Register.buzzer)
  }

  /// Reads the four probes of the line sensor as the board gives them, or returns `nil` if the byte is not one of the sensor's: a board that
  /// does not have the register gives ones.
  @_noLocks @_noAllocation
  public func line(on bus: inout I2CBus) throws(I2CError) -> LineProbes? {
    LineProbes(byte: try bus.readBlock(1, from: address, register: Register.line)[0])
  }

  /// Switches the ultrasonic sensor on or off. It measures by itself while it is on.
  @_noLocks @_noAllocation
  public func switchDistanceSensor(isOn: Bool, on bus: inout I2CBus) throws(I2CError) {
    var bytes = I2CBytes()
    bytes.append(isOn ? 1 : 0)
    try bus.writeBlock(bytes, to: address, register: Register.distanceSwitch)
  }

  /// Reads the distance to the nearest thing ahead in millimetres, 1…65534, or `nil` if the sensor has none: it gives 0 before its first
  /// echo, and a board that does not have the registers gives ones.
  ///
  /// The two bytes are read one by one, as the maker's library does. The high byte is read again after the low one, because 255 mm that
  /// becomes 256 mm in between would be read as 511 mm or 0 mm; the result is `nil` if it has changed.
  @_noLocks @_noAllocation
  public func distanceAhead(on bus: inout I2CBus) throws(I2CError) -> Int? {
    let high = try bus.readBlock(1, from: address, register: Register.distanceHigh)[0]
    let low = try bus.readBlock(1, from: address, register: Register.distanceLow)[0]
    let again = try bus.readBlock(1, from: address, register: Register.distanceHigh)[0]
    let distance = Int(high) << 8 | Int(low)
    return high == again && distance > 0 && distance < 0xFFFF ? distance : nil
  }

  /// Returns `[motor, direction, duty]`, with direction 0 for forward and 1 for backward.
  @_noLocks @_noAllocation
  private func command(_ motor: UInt8, _ speed: Percent) -> I2CBytes {
    var bytes = I2CBytes()
    bytes.append(motor)
    bytes.append(speed.value < 0 ? 1 : 0)
    bytes.append(dutyScale.duty(speed))
    return bytes
  }
}

/// The four probes of the Raspbot V2's line sensor, as bits that the board gives.
///
/// By the maker's programs a bit is 0 above something dark and 1 above something bright, and the probes stand in the order X2, X1, X3, X4
/// from left to right. Source: README.md beside this file.
public struct LineProbes: Sendable, Hashable, BitwiseCopyable {
  /// Bit 3 of the register, which belongs to the inner left probe: `false` above something dark.
  public let x1: Bool
  /// Bit 2 of the register, which belongs to the outer left probe: `false` above something dark.
  public let x2: Bool
  /// Bit 1 of the register, which belongs to the inner right probe: `false` above something dark.
  public let x3: Bool
  /// Bit 0 of the register, which belongs to the outer right probe: `false` above something dark.
  public let x4: Bool

  /// Creates the probes from the register's byte. The result is `nil` if one of the upper four bits is set.
  @_noLocks @_noAllocation
  public init?(byte: UInt8) {
    guard byte < 16 else { return nil }
    x1 = byte & 8 != 0
    x2 = byte & 4 != 0
    x3 = byte & 2 != 0
    x4 = byte & 1 != 0
  }
}
