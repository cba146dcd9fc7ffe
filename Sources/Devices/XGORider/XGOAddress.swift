/// A register of an XGO board. Source: facts/robot.md, "The REAL Rider-Pi CM4".
public struct XGOAddress: Sendable, Hashable, BitwiseCopyable {
  /// The number of the register, 0…255.
  public var value: UInt8

  /// Creates the address of any register. Known registers are static members.
  @_noLocks @_noAllocation @inline(__always)
  public init(_ value: UInt8) { self.value = value }

  @_noLocks @_noAllocation
  public static func == (left: Self, right: Self) -> Bool { left.value == right.value }
}

extension XGOAddress {
  /// The battery's charge: one byte, in percent.
  public static var battery: Self {
    @_noLocks @_noAllocation get { Self(0x01) }
  }
  /// The firmware: ten ASCII characters, of which the first identifies the board: R for rider, M for mini, L for lite.
  public static var firmware: Self {
    @_noLocks @_noAllocation get { Self(0x07) }
  }
  /// The forward speed, with `RiderScale.forwardSpeed`.
  public static var forwardSpeed: Self {
    @_noLocks @_noAllocation get { Self(0x30) }
  }
  /// The turn rate, positive to the left, with `RiderScale.yawRate`.
  public static var yawRate: Self {
    @_noLocks @_noAllocation get { Self(0x32) }
  }
  /// The body height, with `RiderScale.height`.
  public static var height: Self {
    @_noLocks @_noAllocation get { Self(0x35) }
  }
  /// The body roll, with `RiderScale.roll`.
  public static var bodyRoll: Self {
    @_noLocks @_noAllocation get { Self(0x36) }
  }
  /// A predefined action; 255 resets the robot.
  public static var action: Self {
    @_noLocks @_noAllocation get { Self(0x3E) }
  }
  /// The levelling of the body's roll by the IMU: 1 for on, 0 for off.
  public static var balance: Self {
    @_noLocks @_noAllocation get { Self(0x61) }
  }
  /// The measured roll, a little-endian float in degrees.
  public static var measuredRoll: Self {
    @_noLocks @_noAllocation get { Self(0x62) }
  }
  /// The measured pitch, a little-endian float in degrees.
  public static var measuredPitch: Self {
    @_noLocks @_noAllocation get { Self(0x63) }
  }
  /// The measured yaw, a little-endian float in degrees.
  public static var measuredYaw: Self {
    @_noLocks @_noAllocation get { Self(0x64) }
  }
}
