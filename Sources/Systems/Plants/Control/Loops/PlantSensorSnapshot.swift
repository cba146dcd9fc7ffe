import Tactus

/// A probe as other threads see it.
public struct PlantProbeStatus: Sendable, BitwiseCopyable {
  /// The last reading's median, in the chip's own unit: counts, or microvolts of an ADS1115, or `nil` before the first.
  public internal(set) var sample: Int64?
  public internal(set) var celsius: Double?
  /// When it was read.
  public internal(set) var readAt: TickInstant?
  public internal(set) var readings: Int64 = 0
  /// Readings that failed, altogether and since the last one that did not.
  public internal(set) var failures: Int64 = 0
  public internal(set) var failuresInARow: Int64 = 0
  public internal(set) var lastFailure: PlantProbeFailure?
  /// Attempts after a first one.
  public internal(set) var retries: Int64 = 0

  @_noLocks @_noAllocation
  init() {}
}

/// What the sensor loop publishes at the end of every tick.
public struct PlantSensorSnapshot: Sendable, BitwiseCopyable {
  /// The tick that published.
  public internal(set) var at = TickInstant.zero
  /// 0…16.
  public let count: Int
  /// Readings lost to a full ring.
  public internal(set) var readingsDropped: Int64 = 0
  /// Transfers on I2C that succeeded only after a retry of the bus's own.
  public internal(set) var busRetries: Int64 = 0
  private var probes: [16 of PlantProbeStatus]

  @_noLocks @_noAllocation
  public init(probes count: Int) {
    self.count = count
    probes = .init(repeating: PlantProbeStatus())
  }

  /// Probe 0 ..< count, in the order of the configuration.
  @_noLocks @_noAllocation
  public internal(set) subscript(index: Int) -> PlantProbeStatus {
    get { probes[index] }
    set { probes[index] = newValue }
  }
}

/// A probe's reading, or that there was none, as it leaves the loop.
public struct PlantProbeReading: Sendable, BitwiseCopyable {
  public enum Result: Sendable, BitwiseCopyable {
    /// Median, in the chip's own unit.
    case sample(Int64, celsius: Double?)
    case failed(PlantProbeFailure)
  }
  /// In the order of the configuration.
  public var probe: Int
  public var at: TickInstant
  public var result: Result

  @_noLocks @_noAllocation
  public init(probe: Int, at: TickInstant, _ result: Result) {
    self.probe = probe
    self.at = at
    self.result = result
  }
}
