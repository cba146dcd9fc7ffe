/// The four probes of the Raspbot V2's line sensor, as bits that the board gives.
///
/// By the maker's programs a bit is 0 above something dark and 1 above something bright, and the probes stand in the order X2, X1, X3, X4
/// from left to right. Source: README.md beside this file.
public struct LineProbes: Sendable, Hashable, BitwiseCopyable {
  /// Bit 3, the inner left probe.
  public let x1: Bool
  /// Bit 2, the outer left probe.
  public let x2: Bool
  /// Bit 1, the inner right probe.
  public let x3: Bool
  /// Bit 0, the outer right probe.
  public let x4: Bool

  /// Creates the probes from the register's byte. The result is `nil` if one of the upper four bits is set.
  @_noLocks @_noAllocation
  public init?(byte: UInt8) {
    guard byte < 16 else { return nil }
    x1 = byte & 8 != 0
    x2 = byte & 4 != 0
    x3 = byte & 2 != 0
    x4 = byte & 1 != 0
  }
}
