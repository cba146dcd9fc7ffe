import WallTime

/// The reason why a command was not carried out.
public enum SprinklerRefusal: Error, Sendable, Hashable {
  /// A value is invalid. Carries the path of the field, such as `steps[2].seconds`, the expected values and the given one.
  case invalid(field: String, expected: String, got: String)
  case unknownZone(Int)
  case unknownProgram(Int)
  case unknownRun(UInt64)
  case zoneDisabled(ZoneID)
  /// Runs by hand are denied during the current rain delay.
  case rainDelay(until: WallInstant)
  /// The zone has reached its daily limit.
  case dayLimit(ZoneID, seconds: Int)
  case queueFull(capacity: Int)
}
