import Buses

/// What an output of one level must be when nobody drives it. An output cannot be opened without saying so.
public enum SafeOutput: Sendable {
  /// No active time, or the inactive level.
  case inactive
  /// Nothing has to be written, and this is why.
  case none(because: String)
}

/// What must be written to a line when nobody drives what hangs on it.
public enum SafeBytes: Sendable {
  /// These, in one piece.
  case bytes([UInt8])
  /// Nothing, and this is why.
  case none(because: String)
}

/// What must be written to a chip when nobody drives it.
public enum SafeTransfers {
  /// What the driver's own stop writes: its transfers are noted for the guard, so that the two cannot disagree.
  case writes((inout I2CBus) throws(I2CError) -> Void)
  /// Nothing, and this is why: `it is only read`.
  case none(because: String)
}

/// What must be sent to a chip on SPI when nobody drives it. The guard speaks no SPI: what heats or moves hangs on an output that it knows.
public enum SafeExchange: Sendable {
  /// Nothing, and this is why: `it is only read`.
  case none(because: String)
}
