/// Adopted by a system whose loop ticks less often than people look. Its documents show the present instant in place of
/// that of the last tick, so that countdowns and ages go on between ticks. Telemetry is sent when the state has changed
/// instead of ten times a second.
public protocol ShowsPresent: Sees {}
