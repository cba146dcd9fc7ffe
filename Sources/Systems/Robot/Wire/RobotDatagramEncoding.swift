import Tactus
import Wire

extension RobotMessage {
  /// The largest number of bytes that `encode` writes.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 160 }
  }
}

extension RobotCommand {
  /// Writes this request as a JSON datagram and returns its length.
  ///
  /// `buffer` holds at least `RobotMessage.maximumEncodedLength` bytes. Wheel speeds are rounded to 0.1 %, a twist to mm/s and mrad/s.
  /// `timestampMicroseconds` is the sender's clock, microseconds since any epoch, written as seconds with six decimals. `echo`, 0…2⁵³,
  /// requests a reply that carries the same number. Stop, e-stop and reset also carry zero speeds, so that receivers that know only `left`
  /// and `right` stop too.
  /// Timing: no allocation, no lock.
  @_noLocks @_noAllocation
  public func encode(
    timestampMicroseconds: Int64? = nil, echo: UInt64? = nil, into buffer: UnsafeMutableRawBufferPointer
  ) -> Int {
    precondition(buffer.count >= RobotMessage.maximumEncodedLength, "the buffer is too small for a datagram")
    precondition((echo ?? 0) <= 9_007_199_254_740_992, "an echo is at most 2^53")
    var writer = ByteWriter(buffer)
    var speeds: WheelSpeeds? = .zero
    switch self {
    case .drive(let wanted):
      speeds = wanted
      writer.append("{")
    case .twist(let wanted):
      speeds = nil
      writer.append(#"{"linear":"#)
      writer.append(thousandthsOf: wanted.metresPerSecond)
      writer.append(#","angular":"#)
      writer.append(thousandthsOf: wanted.radiansPerSecond)
    case .stop: writer.append(#"{"command":"stop","#)
    case .emergencyStop: writer.append(#"{"command":"estop","#)
    case .reset: writer.append(#"{"command":"reset","#)
    case .query:
      speeds = nil
      writer.append(#"{"command":"query""#)
    }
    if let speeds {
      writer.append(#""left":"#)
      writer.append(tenthsOf: speeds.left)
      writer.append(#","right":"#)
      writer.append(tenthsOf: speeds.right)
    }
    if let timestampMicroseconds {
      writer.append(#","timestamp":"#)
      if timestampMicroseconds < 0 { writer.append(0x2D) }
      writer.append(decimal: timestampMicroseconds.magnitude / 1_000_000)
      writer.append(0x2E)
      writer.append(decimal: timestampMicroseconds.magnitude % 1_000_000, digits: 6)
    }
    if let echo {
      writer.append(#","echo":"#)
      writer.append(decimal: echo)
    }
    writer.append(0x7D)
    return writer.count
  }
}

extension ByteWriter {
  /// Appends a wheel speed with at most one decimal: `12.5`, `-3`, `0`. Speeds beyond ±100 are clamped; the speed must not be NaN.
  @_noLocks @_noAllocation
  mutating func append(tenthsOf percent: Percent) {
    precondition(!percent.value.isNaN, "a wheel speed is a number")
    let value = Swift.max(-100, Swift.min(100, percent.value))
    // The number is rounded half away from zero. `rounded()` is not used because it may be a call into the C library.
    let tenths = UInt64(saturating: value.magnitude * 10 + 0.5)
    if value < 0 && tenths > 0 { append(0x2D) }
    append(decimal: tenths / 10)
    if tenths % 10 > 0 {
      append(0x2E)
      append(0x30 + UInt8(truncatingIfNeeded: tenths % 10))
    }
  }

  /// Appends a number with three decimals: `0.250`, `-1.500`, `0.000`. Numbers beyond ±`Twist.most` are clamped; it must not be NaN.
  @_noLocks @_noAllocation
  mutating func append(thousandthsOf number: Double) {
    precondition(!number.isNaN, "a part of a twist is a number")
    let value = Swift.max(-Twist.most, Swift.min(Twist.most, number))
    let thousandths = UInt64(saturating: value.magnitude * 1_000 + 0.5)
    if value < 0 && thousandths > 0 { append(0x2D) }
    append(decimal: thousandths / 1_000)
    append(0x2E)
    append(decimal: thousandths % 1_000, digits: 3)
  }
}
