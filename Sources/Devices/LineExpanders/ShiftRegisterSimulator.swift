/// A simulated chain of 74HC595 with pull resistors that keep its outputs inactive while they are disabled.
///
/// It is given the levels of the four lines, one change after the other, for example those that the log of a `SimulatedGPIOBank` has.
public struct ShiftRegisterSimulator: Sendable {
  /// The levels of the lines of a chain.
  public struct Levels: Sendable, Hashable {
    /// The level of each line; `isEnabled` is the low level of the output-enable line.
    public var data, clock, latch, isEnabled: Bool

    /// Creates levels, by default those of a chain that is not driven.
    public init(data: Bool = false, clock: Bool = false, latch: Bool = false, isEnabled: Bool = false) {
      (self.data, self.clock, self.latch, self.isEnabled) = (data, clock, latch, isEnabled)
    }
  }

  private let length: Int
  private var levels = Levels()
  private var register: UInt64
  private var shown: UInt64

  /// Creates a chain with `length` outputs, 8…64, that has just got its power and holds `noise`.
  public init(length: Int, noise: UInt64 = 0) {
    precondition((8...64).contains(length), "a chain has 8…64 outputs")
    self.length = length
    (register, shown) = (noise, noise)
  }

  /// Sets the lines to their next levels. A rising clock shifts the register, and a rising latch shows the shifted bits on the outputs.
  public mutating func set(_ next: Levels) {
    if next.clock, !levels.clock { register = register << 1 | (next.data ? 1 : 0) }
    if next.latch, !levels.latch { shown = register }
    levels = next
  }

  /// The outputs that are high, or `nil` while they are disabled. Bit k is line k.
  public var outputs: UInt64? { levels.isEnabled ? shown & UInt64.max >> UInt64(truncatingIfNeeded: 64 - length) : nil }
}
