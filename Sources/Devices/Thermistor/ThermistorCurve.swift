import TactusControl

/// An NTC thermistor's resistance by its temperature, with the beta equation R = R₂₅ · e^(B · (1/T − 1/298.15 K)).
///
/// The equation is exact at 25 °C and at the other temperature at which the manufacturer determined B, mostly 50 °C or 85 °C. A
/// real part deviates by a few tenths of a degree in between and by some degrees far outside. Source: README.md beside this file.
public struct ThermistorCurve: Sendable, Hashable, BitwiseCopyable {
  /// The temperature of 25 °C in K.
  private static var nominalKelvin: Double {
    @_noLocks @_noAllocation get { 298.15 }
  }
  /// The temperature of 0 °C in K.
  private static var zeroCelsius: Double {
    @_noLocks @_noAllocation get { 273.15 }
  }

  /// The resistance at 25 °C in Ω, more than 0.
  public let nominalOhms: Double
  /// The constant B in K, more than 0.
  public let betaKelvin: Double

  /// Creates a thermistor with these constants, by default the common one of 10 kΩ and 3950 K. Traps unless both are finite and more than 0.
  @_noLocks @_noAllocation
  public init(nominalOhms: Double = 10_000, betaKelvin: Double = 3_950) {
    precondition(nominalOhms > 0 && nominalOhms < .infinity, "a resistance is more than 0")
    precondition(betaKelvin > 0 && betaKelvin < .infinity, "the constant B is more than 0")
    self.nominalOhms = nominalOhms
    self.betaKelvin = betaKelvin
  }

  /// Returns the temperature in °C at which the resistance is `ratio` times that at 25 °C, or NaN unless `ratio` is more than 0.
  @_noLocks @_noAllocation
  public func celsius(ratio: Double) -> Double {
    let kelvin = 1 / (1 / Self.nominalKelvin + Math.log(ratio) / betaKelvin)
    return kelvin - Self.zeroCelsius
  }

  /// Returns the resistance at a temperature, more than −273.15 °C, as a multiple of that at 25 °C.
  @_noLocks @_noAllocation
  public func ratio(celsius: Double) -> Double {
    Math.exp(betaKelvin * (1 / (celsius + Self.zeroCelsius) - 1 / Self.nominalKelvin))
  }

  /// Returns the temperature in °C at which the resistance is `ohms`, or NaN unless `ohms` is more than 0.
  @_noLocks @_noAllocation
  public func celsius(ohms: Double) -> Double { celsius(ratio: ohms / nominalOhms) }

  /// Returns the resistance in Ω at a temperature, more than −273.15 °C.
  @_noLocks @_noAllocation
  public func ohms(celsius: Double) -> Double { ratio(celsius: celsius) * nominalOhms }
}
