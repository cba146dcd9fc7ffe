/// The reason why a write to the motors failed.
public struct MotorFailure: Error, Sendable, Hashable, BitwiseCopyable {
  public enum Kind: UInt8, Sendable, BitwiseCopyable, CaseIterable {
    /// The board did not answer on the bus.
    case noAcknowledge
    /// Another controller won the bus.
    case arbitrationLost
    /// The bus did not finish in time because something holds a line. This kind is a fault at once, because every further attempt costs
    /// the loop the same time again.
    case timedOut
    /// The serial line accepted none or only part of the frame.
    case serialFull
    /// The serial device is gone.
    case serialGone
    /// Any other error reported by the kernel.
    case system
  }
  public var kind: Kind
  /// The kernel's errno if the driver kept it, or 0.
  public var code: Int32

  @_noLocks @_noAllocation
  public init(_ kind: Kind, code: Int32 = 0) {
    self.kind = kind
    self.code = code
  }
}

extension MotorFailure: CustomStringConvertible {
  public var description: String {
    let words =
      switch kind {
      case .noAcknowledge: "the motor board does not answer"
      case .arbitrationLost: "another controller holds the bus"
      case .timedOut: "the bus is stuck"
      case .serialFull: "the serial line takes no more bytes"
      case .serialGone: "the serial device is gone"
      case .system: "the system refused the write"
      }
    return code == 0 ? words : "\(words) (errno \(code))"
  }
}
