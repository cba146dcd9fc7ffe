/// Whether it is known that the off that is in force has been obeyed.
public enum PumpOffConfirmation: UInt8, Sendable, BitwiseCopyable {
  /// Not yet; the off is repeated.
  case pending
  case confirmed

  public var isConfirmed: Bool {
    @_noLocks @_noAllocation get {
      switch self {
      case .pending: false
      case .confirmed: true
      }
    }
  }
}
