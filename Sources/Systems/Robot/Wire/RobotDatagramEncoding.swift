import Wire

extension RobotMessage {
  /// The largest number of bytes that `encode` writes.
  public static var maximumEncodedLength: Int {
    @_noLocks @_noAllocation get { 160 }
  }
}

extension RobotDatagram {
  /// Writes this request as a JSON datagram and returns its length.
  ///
  /// `buffer` holds at least `RobotMessage.maximumEncodedLength` bytes. Wheel speeds are rounded to 0.1 %, a twist to mm/s and mrad/s.
  /// `timestampMicroseconds` is the
  /// sender's clock, microseconds since any epoch, written as seconds with six decimals. `echo`, 0…2⁵³, requests a reply that carries the
  /// same number. Stop, e-stop and reset also carry zero speeds, so that receivers that know only `left` and `right` stop too.
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
