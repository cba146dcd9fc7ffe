/// Whether what an output was told last is known to be so: told, and not yet confirmed; or confirmed.
///
/// A machine that has told a safe state keeps `pending` beside it until the device has taken it, and tells it again until then.
public enum Confirmation: UInt8, Sendable, BitwiseCopyable {
  /// Not yet; it is told again.
  case pending
  /// The device has taken it.
  case confirmed

  /// Whether it is `confirmed`.
  public var isConfirmed: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .pending: false
      case .confirmed: true
      }
    }
  }
}
