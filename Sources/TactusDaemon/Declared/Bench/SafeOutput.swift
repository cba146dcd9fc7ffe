import Buses

/// The safe state of an output with one level, for times when no loop drives it. An output cannot be opened without
/// stating it.
public enum SafeOutput: Sendable {
  /// The output is safe at the inactive level, or with no active time.
  case inactive
  /// No write is needed, for the reason given.
  case none(because: String)
}

/// The bytes that make a device on a serial line safe when no loop drives it.
public enum SafeBytes: Sendable {
  /// The device is made safe by these bytes, which are written in one piece.
  case bytes([UInt8])
  /// No bytes are needed, for the reason given.
  case none(because: String)

  /// Returns the bytes that the driver's stop function writes, so that the guard and the driver cannot disagree. They
  /// are sent twice, because a serial line gives no acknowledgement.
  ///
  /// - Parameter stop: a function that writes at most 256 bytes and does not fail on a line that accepts everything.
  public static func twice(_ stop: (inout SerialPort) throws(SerialError) -> Void) -> SafeBytes {
    let line = SimulatedSerialPort()
    var port = line.port()
    do {
      try stop(&port)
    } catch {
      preconditionFailure("an empty line takes a stop: \(error)")
    }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = bytes.withUnsafeMutableBytes { line.device.read(into: $0) }
    return .bytes(Array(bytes[..<count]) + Array(bytes[..<count]))
  }
}

/// The transfers that make a chip safe when no loop drives it.
public enum SafeTransfers {
  /// The transfers of the driver's stop function. They are recorded for the guard, so that the guard and the driver
  /// cannot disagree.
  case writes((inout I2CBus) throws(I2CError) -> Void)
  /// No transfers are needed, for the reason given, such as `it is only read`.
  case none(because: String)
}

/// The safe state of an SPI chip when no loop drives it. The guard cannot write to SPI, so an actuator needs an output
/// that the guard can write.
public enum SafeExchange: Sendable {
  /// Nothing is sent to the chip, for the reason given, such as `it is only read`.
  case none(because: String)
}
