import Tactus

/// The reason why a sensor has no value.
public enum SensorError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The sensor has not been read yet.
  case notYet
  /// There is no such device or channel now.
  case missing
  /// The kernel could not read the sensor.
  case unreadable(errno: Int32)
  /// The kernel's file has no number.
  case unintelligible
  /// A 1-Wire chip's checksum is wrong, or its value is 85 °C or −127 °C, as without power or without a conversion.
  case implausible
  /// The newest value is older than the limit, by its age.
  case stale(age: Nanoseconds)
}

/// A reading of a sensor with the instant at which it began, or the reason why there is no value.
public struct SensorReading: BitwiseCopyable, Sendable {
  /// The value in the unit of the sensor's quantity; meaningless if there is an error.
  public var value: Double
  /// The instant at which the reading began.
  public var at: TickInstant
  /// The reason why there is no value, or `nil` if there is one.
  public var error: SensorError?

  /// Creates a reading from a value or, if there is none, from the reason.
  @_noLocks @_noAllocation
  public init(_ value: Double, at: TickInstant, error: SensorError? = nil) {
    (self.value, self.at, self.error) = (value, at, error)
  }
}

/// A sensor as a loop reads it: the value that another thread has read last, since reading a sensor of the kernel may
/// take most of a second. It never blocks and allocates nothing. The type is not copyable: one loop owns the input.
public struct SensorInput: ~Copyable {
  private var latest: LatestReader<SensorReading>
  private let limit: Nanoseconds
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero

  /// Creates an input of the readings that another thread publishes. `limit` is the age beyond which a value counts no more, above 0.
  public init(_ latest: consuming LatestReader<SensorReading>, staleAfter limit: Nanoseconds) {
    precondition(limit > .zero, "a value counts for some time")
    self.latest = latest
    self.limit = limit
    throwOnce()
  }

  /// Returns the newest value.
  @_noLocks @_noAllocation
  public mutating func read() throws(SensorError) -> Double { try readWithAge().value }

  /// Returns the newest value and its age at `now`.
  @_noLocks @_noAllocation
  public mutating func readWithAge() throws(SensorError) -> (value: Double, age: Nanoseconds) {
    let reading = latest.read()
    if let error = reading.error { throw error }
    // A value may be newer than the tick that reads it.
    let age = reading.at < now ? now - reading.at : .zero
    if age > limit { throw .stale(age: age) }
    return (reading.value, age)
  }
}

extension SensorError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notYet: "not read yet"
    case .missing: "no such sensor"
    case .unreadable(let errno): "errno \(errno)"
    case .unintelligible: "its file has no number"
    case .implausible: "wrong checksum, or a value that a chip without power has"
    case .stale(let age): "last read \(age.count / 1_000_000) ms ago"
    }
  }
}

/// Throws one error before any tick, because the first throw of an error type allocates; see `SerialPort`.
@inline(never) @_optimize(none)
private func throwOnce() {
  do throws(SensorError) { throw .notYet } catch {}
}
