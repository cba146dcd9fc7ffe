/// Whether what an output was told last is known to be so: told, and not yet confirmed; or confirmed.
///
/// A machine that has told a safe state keeps `pending` beside it until the device has taken it, and tells it again until then.
public enum Confirmation: UInt8, Sendable, BitwiseCopyable {
  /// Not yet; it is told again.
  case pending
  /// The device has taken it.
  case confirmed

  /// Whether the device has taken it.
  public var isConfirmed: Bool {
    @_noLocks @_noAllocation get { if case .confirmed = self { true } else { false } }
  }
}
