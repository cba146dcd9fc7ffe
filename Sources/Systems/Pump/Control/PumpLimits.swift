/// What a sensor can read when it is whole. An open one reads −77 °C, a shorted one 352 °C.
public struct PumpPlausibility: Sendable, Hashable, BitwiseCopyable {
  public let lowest: PumpTemperature
  public let highest: PumpTemperature

  /// `lowest` below `highest`; anything else is our bug.
  public init(lowest: PumpTemperature, highest: PumpTemperature) {
    precondition(lowest < highest, "a range has a lower and an upper end")
    self.lowest = lowest
    self.highest = highest
  }

  /// −20…80 °C.
  public static var standard: PumpPlausibility {
    PumpPlausibility(lowest: PumpTemperature(tenths: -200), highest: PumpTemperature(tenths: 800))
  }

  @_noLocks @_noAllocation
  func allows(_ temperature: PumpTemperature) -> Bool {
    !(temperature < lowest) && !(highest < temperature)
  }
}

extension PumpPlausibility {
  /// Of a sensor of our own: one that is there and cannot be read is not plausible either.
  @_noLocks @_noAllocation
  func allows(_ reading: PumpReading) -> Bool {
    switch reading {
    case .absent: true
    case .unknown: false
    case .value(let temperature): allows(temperature)
    }
  }
}

/// What too warm a skin does to the pump.
public enum PumpOverheatAction: UInt8, Sendable, Hashable, BitwiseCopyable {
  /// Stops it, as the original does, although it is what cools.
  case stop
  /// Lets it cool on; only told.
  case keepCooling
}

/// One of the pump's sensors.
public enum PumpSensor: UInt8, Sendable, Hashable, BitwiseCopyable {
  case water
  case skin
  /// The legacy dialect's nameless one, taken for the skin's.
  case single
}
