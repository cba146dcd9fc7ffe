/// Whether the device has confirmed the last state that was written to an output.
///
/// A machine that has returned a safe state keeps `pending` with it, and returns the state again until the device has confirmed it.
public enum Confirmation: UInt8, Sendable, BitwiseCopyable {
  /// The device has not confirmed the state yet, so the state is written again.
  case pending
  /// The device has confirmed the state.
  case confirmed

  /// Whether the device has confirmed the state.
  public var isConfirmed: Bool {
    @_noLocks @_noAllocation get { if case .confirmed = self { true } else { false } }
  }
}
