import Synchronization

/// A thermistor in a divider on one input of an `ADS1115Simulator`, set in °C.
///
/// For simulations of what is warm: a loop, in its ticks, or a test. The exact inverse of `Thermistor`: what that
/// one reads differs by the converter's count only. Not copyable: one input, one owner.
public struct ThermistorSimulator: ~Copyable, @unchecked Sendable {  // safe: what the pointer leads to is atomics
  /// What can go wrong with the wires.
  public enum Fault: UInt8, Sendable, Hashable, BitwiseCopyable {
    /// A wire is off: the resistor alone pulls the input to its own side.
    case open
    /// Two wires touch: the input is where the thermistor leads to.
    case shorted
  }

  /// What hangs on the input.
  public let divider: ThermistorDivider
  /// The temperature in °C.
  public private(set) var celsius: Double
  /// What is wrong now, or `nil` if nothing is.
  public private(set) var fault: Fault?

  private let converter: ADS1115Simulator
  /// The converter's inputs as a plain value that a tick may reach: valid as long as the converter.
  private let inputs: UnsafeMutablePointer<ADS1115Inputs>
  private let channel: Int

  /// A thermistor on input `channel`, 0…3, at `celsius`, above −273.15 °C.
  public init(
    _ converter: ADS1115Simulator, channel: Int, divider: ThermistorDivider = ThermistorDivider(), celsius: Double = 25
  ) {
    precondition((0..<ADS1115.channelCount).contains(channel), "inputs are 0…3")
    self.converter = converter
    inputs = converter.inputs
    self.channel = channel
    self.divider = divider
    self.celsius = celsius
    apply()
  }

  /// Brings it to a temperature, above −273.15 °C; another one traps. A fault stays.
  @_noLocks @_noAllocation
  public mutating func set(celsius: Double) {
    self.celsius = celsius
    apply()
  }

  /// Breaks or shorts the wires; a fault replaces the one before it.
  @_noLocks @_noAllocation
  public mutating func inject(_ fault: Fault) {
    self.fault = fault
    apply()
  }

  /// Mends the wires.
  @_noLocks @_noAllocation
  public mutating func clearFaults() {
    fault = nil
    apply()
  }

  @_noLocks @_noAllocation
  private func apply() {
    let voltage: Microvolts
    switch (fault, divider.side) {
    case (nil, _): voltage = divider.voltage(celsius: celsius)
    case (.open, .ground), (.shorted, .supply): voltage = divider.supply
    case (.open, .supply), (.shorted, .ground): voltage = Microvolts(0)
    }
    inputs.pointee[channel].store(voltage.count, ordering: .relaxed)
  }
}
