/// The range of temperatures that an intact sensor can read. An open sensor reads −77 °C, a shorted one 352 °C.
public struct PumpPlausibility: Sendable, Hashable, BitwiseCopyable {
  public let lowest: PumpTemperature
  public let highest: PumpTemperature

  /// Creates a range. `lowest` must be below `highest`; anything else is a programming error.
  public init(lowest: PumpTemperature, highest: PumpTemperature) {
    precondition(lowest < highest, "a range has a lower and an upper end")
    self.lowest = lowest
    self.highest = highest
  }

  /// The standard range, −20…80 °C.
  public static var standard: PumpPlausibility {
    PumpPlausibility(lowest: PumpTemperature(tenths: -200), highest: PumpTemperature(tenths: 800))
  }

  @_noLocks @_noAllocation
  func allows(_ temperature: PumpTemperature) -> Bool {
    !(temperature < lowest) && !(highest < temperature)
  }
}

extension PumpPlausibility {
  /// Returns whether a reading of a sensor connected to the device side is plausible; a sensor that exists but cannot be read is not.
  @_noLocks @_noAllocation
  func allows(_ reading: PumpReading) -> Bool {
    switch reading {
    case .absent: true
    case .unknown: false
    case .value(let temperature): allows(temperature)
    }
  }
}

/// The reaction of the pump to a skin that is too warm.
public enum PumpOverheatAction: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// The pump stops, as in the original, although this ends the cooling.
  case stop
  /// The pump goes on cooling; the overheat is only reported.
  case keepCooling
}

/// One of the pump's sensors.
public enum PumpSensor: UInt8, Sendable, Hashable, BitwiseCopyable {
  case water
  case skin
  /// The unnamed sensor of the legacy dialect, which is taken for the skin's.
  case single
}
