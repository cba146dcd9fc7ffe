import Tactus

/// A temperature in tenths of a degree Celsius, as a pump's line carries it: −999.9…999.9 °C.
public struct PumpTemperature: Sendable, Hashable, Comparable, BitwiseCopyable {
  public var tenths: Int32

  @_noLocks @_noAllocation
  public init(tenths: Int32) { self.tenths = tenths }

  /// To the nearest tenth; beyond the range, or not a number, is our bug.
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

/// What a line says about one sensor.
public enum PumpReading: Sendable, Hashable, BitwiseCopyable {
  /// Nothing: there is no such key.
  case absent
  /// The key without a number: `?`, which AVR's printf writes for every `%f`, or `nan`.
  case unknown
  case value(PumpTemperature)

  /// It is `nil` if that is not known, for either reason.
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

/// The sensors of a pump, of either dialect: two of their own name, or the legacy dialect's nameless one.
public struct PumpTemperatures: Sendable, Hashable, BitwiseCopyable {
  public var water: PumpReading
  public var skin: PumpReading
  /// The legacy dialect's `Temp`.
  public var single: PumpReading

  @_noLocks @_noAllocation
  public init(water: PumpReading = .absent, skin: PumpReading = .absent, single: PumpReading = .absent) {
    self.water = water
    self.skin = skin
    self.single = single
  }
}
