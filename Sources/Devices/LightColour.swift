/// The colour of a light with three channels, 0…255 each; all zero is off.
public struct LightColour: Sendable, Hashable, BitwiseCopyable {
  /// The red channel, 0…255.
  public let red: UInt8
  /// The green channel, 0…255.
  public let green: UInt8
  /// The blue channel, 0…255.
  public let blue: UInt8

  /// Creates a colour, by default that of a light that is off.
  @_noLocks @_noAllocation
  public init(red: UInt8 = 0, green: UInt8 = 0, blue: UInt8 = 0) {
    self.red = red
    self.green = green
    self.blue = blue
  }

  /// Returns whether both colours are equal. Ticks use this because the compiler cannot prove that the derived `==` takes no lock and
  /// allocates nothing.
  @_noLocks @_noAllocation
  public func isSame(as other: LightColour) -> Bool { red == other.red && green == other.green && blue == other.blue }
}
