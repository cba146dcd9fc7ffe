import Buses
import Wire

extension I2CError {
  /// Whether the error is a timeout. After a timeout no second transfer is tried, since on a stuck bus it would cost the tick the same time again.
  var isTimeOut: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .timedOut: true
      case .noAcknowledge, .arbitrationLost, .system: false
      }
    }
  }
}

/// Returns the byte of a servo angle in degrees, rounded and clamped to 0…`limit`, or the middle for NaN.
@_noLocks @_noAllocation
func servoAngle(_ degrees: Double, limit: UInt8) -> UInt8 {
  if degrees <= 0 { return 0 }
  if degrees >= Double(limit) { return limit }
  return degrees > 0 ? UInt8(saturating: degrees + 0.5) : limit / 2
}

/// Throws one error before any tick, because the first error of a type that a module throws makes the type's witness table, which
/// allocates. This was found by RealtimeSanitizer; the compiler's proof does not detect it. The function must be called before the
/// loop that owns a driver runs.
@inline(never) @_optimize(none)
public func prepareDriversToThrow() {
  do throws(I2CError) { throw .system(errno: 0, address: YBPcbCar.standardAddress, register: 0) } catch {}
  do throws(SerialError) { throw .gone } catch {}
}

/// The conversion of a wheel speed to a motor board's duty, 0…255.
///
/// Source: properties of the boards: 255 is full duty; below about 30 the gear motors stall.
public struct DutyScale: Sendable, Hashable, BitwiseCopyable {
  /// The duty of 100 %.
  public let maxDuty: UInt8
  /// The least duty for a non-zero speed, so that a slow wheel turns at all; 0 for no minimum.
  public let minDuty: UInt8

  /// Creates a scale. Traps if `minDuty` is above `maxDuty`.
  @_noLocks @_noAllocation
  public init(maxDuty: UInt8 = 255, minDuty: UInt8 = 0) {
    precondition(minDuty <= maxDuty)
    self.maxDuty = maxDuty
    self.minDuty = minDuty
  }

  /// Returns round(|percent| · maxDuty / 100), and at least `minDuty` unless the speed is zero. Speeds beyond ±100 % count as 100
  /// %, and NaN counts as zero.
  @_noLocks @_noAllocation
  public func duty(_ speed: Percent) -> UInt8 {
    let magnitude = speed.value.magnitude
    guard magnitude > 0 else { return 0 }
    let duty = UInt8(saturating: (magnitude < 100 ? magnitude : 100) * Double(maxDuty) / 100 + 0.5)
    return duty < minDuty ? minDuty : duty
  }
}

/// The colour of a light with three channels, 0…255 each; all zero is off.
public struct LightColour: Sendable, Hashable, BitwiseCopyable {
  /// The red channel, 0…255.
  public let red: UInt8
  /// The green channel, 0…255.
  public let green: UInt8
  /// The blue channel, 0…255.
  public let blue: UInt8

  /// Creates a colour, by default that of a light that is off.
  @_noLocks @_noAllocation
  public init(red: UInt8 = 0, green: UInt8 = 0, blue: UInt8 = 0) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Returns whether both colours are equal. Ticks use this because the compiler cannot prove that the derived `==` takes no lock and
  /// allocates nothing.
  @_noLocks @_noAllocation
  public func isSame(as other: LightColour) -> Bool { red == other.red && green == other.green && blue == other.blue }
}

/// A write as a board with registers receives it, where an SMBus write and a plain one look the same: the register, then the data.
struct BoardWrite: BitwiseCopyable {
  let register: UInt8
  private let bytes: I2CBytes
  private let start: Int

  /// Creates the write of a transfer. The result is `nil` for a read, and for a write without bytes.
  @_noLocks @_noAllocation
  init?(_ transfer: borrowing I2CTransfer) {
    bytes = transfer.bytes
    switch transfer.operation {
    case .writeByte, .writeBlock:
      register = transfer.register
      start = 0
    case .plainWrite:
      guard bytes.count > 0 else { return nil }
      register = bytes[0]
      start = 1
    case .readBlock, .plainRead: return nil
    }
  }

  /// The number of data bytes.
  var count: Int {
    @_noLocks @_noAllocation get { bytes.count - start }
  }

  @_noLocks @_noAllocation
  subscript(index: Int) -> UInt8 { bytes[start + index] }
}

/// Fills a read with the answer of a board without readable registers: ones, since the bus idles high.
@_noLocks @_noAllocation
func fillWithIdleBus(_ bytes: inout I2CBytes) {
  for index in 0..<bytes.count { bytes[index] = 0xFF }
}
