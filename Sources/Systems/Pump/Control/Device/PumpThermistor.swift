import Devices

/// A 10 kΩ NTC thermistor with B = 3950 between the supply and a 10 kΩ resistor to ground, read by a 10-bit ADC.
public enum PumpThermistor {
  private static var curve: ThermistorCurve {
    @_noLocks @_noAllocation get { ThermistorCurve(nominalOhms: 10_000, betaKelvin: 3_950) }
  }

  /// Returns the temperature for an ADC count of 0…1023. An open sensor reads −77.4 °C and a shorted one 352.0 °C, as in the firmware: every count
  /// has a temperature, and neither of these two is plausible.
  @_noLocks @_noAllocation
  public static func temperature(counts: Int) -> PumpTemperature {
    let counts = Double(counts < 1 ? 1 : counts > 1_022 ? 1_022 : counts)
    // Both resistors are of 10 kΩ, so the ratio is R / R₂₅.
    return PumpTemperature(celsius: curve.celsius(ratio: 1_023 / counts - 1))
  }

  /// Returns the nearest count for a temperature, 1…1022, for a simulated ADC.
  @_noLocks @_noAllocation
  public static func counts(of celsius: Double) -> Int {
    let counts = 1_023 / (curve.ratio(celsius: celsius) + 1) + 0.5
    return counts < 1 ? 1 : counts > 1_022 ? 1_022 : Int(saturating: counts)
  }
}
