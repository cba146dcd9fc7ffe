@_spi(FromOutside) import Conversions
import TactusControl

/// A thermistor and a resistor in series between supply and ground, with the input at their junction.
public struct ThermistorDivider: Sendable, Hashable, BitwiseCopyable {
  /// The side of the divider on which the thermistor is.
  public enum Side: UInt8, Sendable, Hashable, BitwiseCopyable, CaseIterable {
    /// The thermistor is between the input and ground, so the voltage falls with temperature.
    case ground
    /// The thermistor is between the supply and the input, so the voltage rises with temperature.
    case supply
  }

  /// The curve of the thermistor, which its constants determine.
  public let curve: ThermistorCurve
  /// The resistance of the resistor in Ω, more than 0.
  public let ohms: Double
  /// The supply voltage of the divider, more than 0 V.
  public let supply: Microvolts
  /// The side of the thermistor.
  public let side: Side

  /// Creates a divider, by default of 10 kΩ with the thermistor to ground at 3.3 V. Traps unless resistance and supply are more than 0.
  @_noLocks @_noAllocation
  public init(
    _ curve: ThermistorCurve = ThermistorCurve(), ohms: Double = 10_000, supply: Microvolts = Microvolts(3_300_000),
    side: Side = .ground
  ) {
    precondition(ohms > 0 && ohms < .infinity, "a resistance is more than 0")
    precondition(supply.count > 0, "a supply has a voltage")
    self.curve = curve
    self.ohms = ohms
    self.supply = supply
    self.side = side
  }

  /// Returns the voltage at a temperature, more than −273.15 °C, to the nearest microvolt. NaN traps.
  @_noLocks @_noAllocation
  public func voltage(celsius: Double) -> Microvolts {
    precondition(celsius > -273.15, "a temperature is above absolute zero")
    let toResistor = curve.ohms(celsius: celsius) / ohms
    let part =
      switch side {
      case .ground: 1 / (1 + 1 / toResistor)
      case .supply: 1 / (1 + toResistor)
      }
    return Microvolts(Int64(Math.integer(part * Double(supply.count)) ?? 0))
  }

  /// Returns the temperature in °C at a voltage, or `nil` unless the voltage is between ground and supply.
  @_noLocks @_noAllocation
  public func celsius(_ voltage: Microvolts) -> Double? {
    guard voltage.count > 0, voltage.count < supply.count else { return nil }
    let below = Double(voltage.count)
    let above = Double(supply.count - voltage.count)
    switch side {
    case .ground: return curve.celsius(ohms: ohms * below / above)
    case .supply: return curve.celsius(ohms: ohms * above / below)
    }
  }
}
