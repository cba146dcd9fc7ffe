import Tactus

/// A sensor of three axes as a loop reads it, such as an accelerometer or a gyroscope: three sensors of the kernel, turned into the axes
/// of the body in which the chip is mounted. It never blocks and allocates nothing. The type is not copyable: one loop owns the input.
public struct AxesInput: ~Copyable {
  private var x, y, z: SensorInput
  private let mounting: Mounting
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero

  /// Creates the input from those of the chip's axes.
  public init(
    x: consuming SensorInput, y: consuming SensorInput, z: consuming SensorInput, mounted mounting: Mounting = .upright
  ) {
    self.x = x
    self.y = y
    self.z = z
    self.mounting = mounting
  }

  /// Returns the newest values in the body's axes, x forward, y to the left and z up. The three axes are read one after the other, so
  /// their values may lie some milliseconds apart. One axis without a value is an error of all.
  @_noLocks @_noAllocation
  public mutating func read() throws(SensorError) -> SIMD3<Double> {
    x.now = now
    y.now = now
    z.now = now
    return mounting.body(SIMD3(try x.read(), try y.read(), try z.read()))
  }
}

/// The end of three simulated sensors by which a twin sets the values that a chip of three axes measures.
public struct SimulatedAxesDriver: ~Copyable {
  private var x, y, z: SimulatedSensorDriver
  private let mounting: Mounting

  /// Creates the input from the inputs of the chip's three axes.
  public init(
    x: consuming SimulatedSensorDriver, y: consuming SimulatedSensorDriver, z: consuming SimulatedSensorDriver,
    mounted mounting: Mounting = .upright
  ) {
    self.x = x
    self.y = y
    self.z = z
    self.mounting = mounting
  }

  /// Sets the values that the chip measures, given in the body's axes, in the unit of the sensor's quantity.
  @_noLocks @_noAllocation
  public mutating func set(_ body: SIMD3<Double>, at now: TickInstant) {
    let chip = mounting.chip(body)
    x.set(chip.x, at: now)
    y.set(chip.y, at: now)
    z.set(chip.z, at: now)
  }
}
