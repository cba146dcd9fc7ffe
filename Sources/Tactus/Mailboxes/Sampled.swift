/// A value and when the measurement that it derives from was taken: what a mailbox carries whose readers want to know how
/// old the data is that they act on.
///
///     let reading = Latest(Sampled(initially: Reading()))
///
///     reading.write(Sampled(value, at: tick))                       // in the sensor's tick
///     torque.write(Sampled(control(reading.value), from: reading))  // in the controller's: as old as what it derives from
///     age.uses(torque)                                              // in the actuator's: measured, see DataAge
///
/// All of it is plain arithmetic: no lock, no allocation, no clock is read. An element of a `Latest` or of a `Ring` like any
/// other.
// Frozen: the compiler cannot prove ticks of other modules that make one otherwise.
@frozen
public struct Sampled<Value: BitwiseCopyable>: BitwiseCopyable {
  /// What was measured, or derived from what was.
  public var value: Value
  /// Instant of the oldest measurement that the value derives from, or `nil` if one of the measurements has never been taken.
  public var sampledAt: TickInstant?

  /// A value measured in this tick. It counts as old as the tick's start, so never as younger than it is.
  @inlinable @inline(__always)
  public init(_ value: Value, at tick: Tick) {
    self.value = value
    sampledAt = tick.started
  }

  /// A value measured at `instant`: by a sensor that stamps its measurements, or that was asked in an earlier tick.
  @inlinable @inline(__always)
  public init(_ value: Value, at instant: TickInstant) {
    self.value = value
    sampledAt = instant
  }

  /// A value that nothing was measured for: what stands in a mailbox before the first measurement.
  @inlinable @inline(__always)
  public init(initially value: Value) {
    self.value = value
    sampledAt = nil
  }

  /// A value that derives from another.
  @inlinable @inline(__always)
  public init<Source>(_ value: Value, from source: Sampled<Source>) {
    self.value = value
    sampledAt = source.sampledAt
  }

  /// A value that derives from two others: as old as the older one.
  @inlinable @inline(__always)
  public init<One, Other>(_ value: Value, from one: Sampled<One>, _ other: Sampled<Other>) {
    self.value = value
    sampledAt = older(one.sampledAt, other.sampledAt)
  }

  /// A value that derives from three others: as old as the oldest one.
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

/// `nil`, never measured, is older than every instant.
@inlinable @inline(__always)
func older(_ one: TickInstant?, _ other: TickInstant?) -> TickInstant? {
  guard let one, let other else { return nil }
  return one < other ? one : other
}
