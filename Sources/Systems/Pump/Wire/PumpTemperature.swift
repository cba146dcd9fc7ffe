import Tactus

/// A temperature in tenths of a degree Celsius, as a pump's line contains it: −999.9…999.9 °C.
public struct PumpTemperature: Sendable, Hashable, Comparable, BitwiseCopyable {
  public var tenths: Int32

  @_noLocks @_noAllocation
  public init(tenths: Int32) { self.tenths = tenths }

  /// Creates a temperature, rounded to the nearest tenth of a degree. A value out of range or not a number is a
  /// programming error.
  @_noLocks @_noAllocation
  public init(celsius: Double) {
    precondition(celsius.magnitude < 999.95, "a pump's temperature is within ±999.9 °C")
    tenths = Int32(saturating: celsius < 0 ? celsius * 10 - 0.5 : celsius * 10 + 0.5)
  }

  public var celsius: Double {
    @_noLocks @_noAllocation get { Double(tenths) / 10 }
  }

  @_noLocks @_noAllocation
  public static func < (left: Self, right: Self) -> Bool { left.tenths < right.tenths }
}

/// The information of a line about one sensor.
public enum PumpReading: Sendable, Hashable, BitwiseCopyable {
  /// The line has no key for the sensor.
  case absent
  /// The line has the key without a number: `?`, which the `printf` of AVR writes for every `%f`, or `nan`.
  case unknown
  case value(PumpTemperature)

  /// The temperature, or `nil` if the reading is absent or unknown.
  public var temperature: PumpTemperature? {
    @_noLocks @_noAllocation get {
      if case .value(let temperature) = self { return temperature }
      return nil
    }
  }

  public var isAbsent: Bool {
    @_noLocks @_noAllocation get {
      if case .absent = self { return true }
      return false
    }
  }

  public var isUnknown: Bool {
    @_noLocks @_noAllocation get {
      if case .unknown = self { return true }
      return false
    }
  }
}

/// The readings of a pump's sensors in either dialect: two named ones, or the single unnamed one of the legacy dialect.
public struct PumpTemperatures: Sendable, Hashable, BitwiseCopyable {
  public var water: PumpReading
  public var skin: PumpReading
  /// The reading of the legacy dialect's key `Temp`.
  public var single: PumpReading

  @_noLocks @_noAllocation
  public init(water: PumpReading = .absent, skin: PumpReading = .absent, single: PumpReading = .absent) {
    self.water = water
    self.skin = skin
    self.single = single
  }
}
