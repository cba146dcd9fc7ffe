import Synchronization

/// A simulated thermistor in a divider on one input of an `ADS1115Simulator`, set in °C.
///
/// A loop that simulates a temperature sets it in its ticks, and a test sets it directly. The simulator is the exact inverse of
/// `Thermistor`, whose readings differ only by the converter's count. The type is not copyable, because one owner sets the input.
public struct ThermistorSimulator: ~Copyable, @unchecked Sendable {  // safe: what the pointer leads to is atomics
  /// A fault of the wires.
  public enum Fault: UInt8, Sendable, Hashable, BitwiseCopyable {
    /// A wire is disconnected, and the resistor alone pulls the input to its own side.
    case open
    /// Two wires touch, and the input has the potential of the thermistor's other side.
    case shorted
  }

  /// The divider on the input.
  public let divider: ThermistorDivider
  /// The temperature in °C.
  public private(set) var celsius: Double
  /// The present fault, or `nil` if the wires are intact.
  public private(set) var fault: Fault?

  private let converter: ADS1115Simulator
  /// The converter's inputs as a plain value that a tick may use. The value is valid as long as the converter exists.
  private let inputs: UnsafeMutablePointer<ADS1115Inputs>
  private let channel: Int

  /// Creates a thermistor on input `channel`, 0…3, at `celsius`, above −273.15 °C.
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

  /// Sets the temperature, above −273.15 °C; any other traps. A fault stays.
  @_noLocks @_noAllocation
  public mutating func set(celsius: Double) {
    self.celsius = celsius
    apply()
  }

  /// Breaks or shorts the wires. The fault replaces the previous one.
  @_noLocks @_noAllocation
  public mutating func inject(_ fault: Fault) {
    self.fault = fault
    apply()
  }

  /// Restores the wires.
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
