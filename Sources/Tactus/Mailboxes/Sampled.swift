/// A value with the instant of the measurement that it derives from, for mailboxes whose readers need to know the age of the data that they act on.
///
///     let reading = Latest(Sampled(initially: Reading()))
///
///     reading.write(Sampled(value, at: tick))                       // in the sensor's tick
///     torque.write(Sampled(control(reading.value), from: reading))  // in the controller's: as old as what it derives from
///     age.uses(torque)                                              // in the actuator's: measured, see DataAge
///
/// All operations are plain arithmetic: they take no lock, allocate nothing and read no clock. A sample can be an element of a `Latest` or a `Ring`.
// Frozen: the compiler cannot prove ticks of other modules that make one otherwise.
@frozen
public struct Sampled<Value: BitwiseCopyable>: BitwiseCopyable {
  /// The measured value, or a value derived from measurements.
  public var value: Value
  /// The instant of the oldest measurement that the value derives from, or `nil` if one of the measurements has never been taken.
  public var sampledAt: TickInstant?

  /// Creates a value that was measured in this tick. Its age counts from the start of the tick, so the value never
  /// counts as newer than it is.
  @inlinable @inline(__always)
  public init(_ value: Value, at tick: Tick) {
    self.value = value
    sampledAt = tick.started
  }

  /// Creates a value that was measured at `instant`, by a sensor that stamps its measurements or that was read in an
  /// earlier tick.
  @inlinable @inline(__always)
  public init(_ value: Value, at instant: TickInstant) {
    self.value = value
    sampledAt = instant
  }

  /// Creates a value without a measurement, which a mailbox holds before the first measurement.
  @inlinable @inline(__always)
  public init(initially value: Value) {
    self.value = value
    sampledAt = nil
  }

  /// Creates a value that derives from another sample and is as old as that one.
  @inlinable @inline(__always)
  public init<Source>(_ value: Value, from source: Sampled<Source>) {
    self.value = value
    sampledAt = source.sampledAt
  }

  /// Creates a value that derives from two other samples and is as old as the older one.
  @inlinable @inline(__always)
  public init<One, Other>(_ value: Value, from one: Sampled<One>, _ other: Sampled<Other>) {
    self.value = value
    sampledAt = older(one.sampledAt, other.sampledAt)
  }

  /// Creates a value that derives from three other samples and is as old as the oldest one.
  @inlinable @inline(__always)
  public init<One, Other, Third>(
    _ value: Value, from one: Sampled<One>, _ other: Sampled<Other>, _ third: Sampled<Third>
  ) {
    self.value = value
    sampledAt = older(older(one.sampledAt, other.sampledAt), third.sampledAt)
  }
}

extension Sampled: Sendable where Value: Sendable {}
extension Sampled: Equatable where Value: Equatable {}
extension Sampled: Hashable where Value: Hashable {}

/// Returns the earlier instant. `nil`, which stands for never measured, is earlier than every instant.
@inlinable @inline(__always)
func older(_ one: TickInstant?, _ other: TickInstant?) -> TickInstant? {
  guard let one, let other else { return nil }
  return one < other ? one : other
}
