/// Whether the device has confirmed the last state that was written to an output.
///
/// A machine that has returned a safe state keeps `pending` beside it, and returns it again, until the device has taken it.
public enum Confirmation: UInt8, Sendable, BitwiseCopyable {
  /// The device has not taken it yet; it is written again.
  case pending
  /// The device has taken it.
  case confirmed

  /// Whether the device has taken it.
  public var isConfirmed: Bool {
    @_noLocks @_noAllocation get { if case .confirmed = self { true } else { false } }
  }
}
