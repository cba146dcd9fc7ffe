import Devices

/// A 10 kΩ NTC thermistor of B = 3950 to the supply, 10 kΩ to ground, on an ADC of 10 bits.
public enum PumpThermistor {
  private static var curve: ThermistorCurve {
    @_noLocks @_noAllocation get { ThermistorCurve(nominalOhms: 10_000, betaKelvin: 3_950) }
  }

  /// What an ADC count of 0…1023 means. An open sensor reads −77.4 °C and a shorted one 352.0 °C, as in the firmware: no
  /// count is without a temperature, and neither of these is plausible.
  @_noLocks @_noAllocation
  public static func temperature(counts: Int) -> PumpTemperature {
    let counts = Double(counts < 1 ? 1 : counts > 1_022 ? 1_022 : counts)
    // Both resistors are of 10 kΩ, so the ratio is R / R₂₅.
    return PumpTemperature(celsius: curve.celsius(ratio: 1_023 / counts - 1))
  }

  /// The count that a temperature gives, for a simulated ADC: the nearest one, 1…1022.
  @_noLocks @_noAllocation
  public static func counts(of celsius: Double) -> Int {
    let counts = 1_023 / (curve.ratio(celsius: celsius) + 1) + 0.5
    return counts < 1 ? 1 : counts > 1_022 ? 1_022 : Int(saturating: counts)
  }
}
