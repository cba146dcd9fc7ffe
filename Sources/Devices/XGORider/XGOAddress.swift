/// A register of an XGO board. Source: facts/robot.md, "The REAL Rider-Pi CM4".
public struct XGOAddress: Sendable, Hashable, BitwiseCopyable {
  /// The register, 0…255.
  public var value: UInt8

  /// Any register; those that are known are static members.
  @_noLocks @_noAllocation @inline(__always)
  public init(_ value: UInt8) { self.value = value }

  @_noLocks @_noAllocation
  public static func == (left: Self, right: Self) -> Bool { left.value == right.value }
}

extension XGOAddress {
  /// One byte, percent.
  public static var battery: Self {
    @_noLocks @_noAllocation get { Self(0x01) }
  }
  /// Ten ASCII characters; the first tells the board: R rider, M mini, L lite.
  public static var firmware: Self {
    @_noLocks @_noAllocation get { Self(0x07) }
  }
  /// Forward speed; `RiderScale.forwardSpeed`.
  public static var forwardSpeed: Self {
    @_noLocks @_noAllocation get { Self(0x30) }
  }
  /// Turn rate, positive to the left; `RiderScale.yawRate`.
  public static var yawRate: Self {
    @_noLocks @_noAllocation get { Self(0x32) }
  }
  /// Body height; `RiderScale.height`.
  public static var height: Self {
    @_noLocks @_noAllocation get { Self(0x35) }
  }
  /// Body roll; `RiderScale.roll`.
  public static var bodyRoll: Self {
    @_noLocks @_noAllocation get { Self(0x36) }
  }
  /// A canned action; 255 resets.
  public static var action: Self {
    @_noLocks @_noAllocation get { Self(0x3E) }
  }
  /// Balancing by the IMU: 1 on, 0 off.
  public static var balance: Self {
    @_noLocks @_noAllocation get { Self(0x61) }
  }
  /// Measured roll, a little-endian float in degrees.
  public static var measuredRoll: Self {
    @_noLocks @_noAllocation get { Self(0x62) }
  }
  /// Measured pitch, a little-endian float in degrees.
  public static var measuredPitch: Self {
    @_noLocks @_noAllocation get { Self(0x63) }
  }
  /// Measured yaw, a little-endian float in degrees.
  public static var measuredYaw: Self {
    @_noLocks @_noAllocation get { Self(0x64) }
  }
}
