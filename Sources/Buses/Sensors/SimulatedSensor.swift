import Synchronization
import Tactus

/// A sensor whose values a twin sets. Faults may be used from any thread. The object must outlive its ports and its driver.
public final class SimulatedSensor: Sendable {
  /// The fault of the sensor.
  public enum Fault: Int, Sendable {
    /// The sensor has no fault.
    case none
    /// The device is unplugged: every reading fails.
    case gone
    /// Readings do not end, so the last value grows old.
    case silence
  }

  private let latest = Latest(SensorReading(0, at: .zero, error: .notYet))
  private let fault: UnsafeFault

  /// Creates a sensor without a value.
  public init() { fault = UnsafeFault() }

  deinit { fault.deallocate() }

  /// Returns the input for the one loop that reads it.
  public func port(staleAfter limit: Nanoseconds) -> SensorInput { SensorInput(latest.reader(), staleAfter: limit) }

  /// Returns the end by which the twin sets values. There is one at a time.
  public func driver() -> SimulatedSensorDriver { SimulatedSensorDriver(latest.writer(), fault.pointer) }

  /// Activates or ends a fault, which takes effect at the next value that the twin sets.
  public func inject(_ new: Fault) { fault.pointer.pointee.store(new.rawValue, ordering: .relaxed) }

  /// The fault that the sensor has at present.
  public var activeFault: Fault { Fault(rawValue: fault.pointer.pointee.load(ordering: .relaxed)) ?? .none }

  private struct UnsafeFault: @unchecked Sendable {  // safe: an atomic at a fixed place
    let pointer: UnsafeMutablePointer<Atomic<Int>>

    init() {
      pointer = .allocate(capacity: 1)
      pointer.initialize(to: Atomic(0))
    }

    func deallocate() {
      pointer.deinitialize(count: 1)
      pointer.deallocate()
    }
  }
}

/// The twin's end of a simulated sensor, valid as long as the sensor.
public struct SimulatedSensorDriver: ~Copyable, @unchecked Sendable {  // safe: what the pointer leads to is atomic
  private var writer: LatestWriter<SensorReading>
  private let fault: UnsafeMutablePointer<Atomic<Int>>

  fileprivate init(_ writer: consuming LatestWriter<SensorReading>, _ fault: UnsafeMutablePointer<Atomic<Int>>) {
    self.writer = writer
    self.fault = fault
  }

  /// Sets the value that the sensor measures, in the unit of its quantity.
  @_noLocks @_noAllocation
  public mutating func set(_ value: Double, at now: TickInstant) {
    switch fault.pointee.load(ordering: .relaxed) {
    case 1: writer.write(SensorReading(0, at: now, error: .unreadable(errno: 6)))  // ENXIO
    case 2: break
    default: writer.write(SensorReading(value, at: now))
    }
  }
}
