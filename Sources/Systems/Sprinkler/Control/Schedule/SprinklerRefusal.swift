import WallTime

/// Why a command was not carried out.
public enum SprinklerRefusal: Error, Sendable, Hashable {
  /// A value that does not fit: where, what was expected, what came. `steps[2].seconds`.
  case invalid(field: String, expected: String, got: String)
  case unknownZone(Int)
  case unknownProgram(Int)
  case unknownRun(UInt64)
  case zoneDisabled(ZoneID)
  /// Runs by hand are denied during a rain delay.
  case rainDelay(until: WallInstant)
  /// The zone has run all it may today.
  case dayLimit(ZoneID, seconds: Int)
  case queueFull(capacity: Int)
}
