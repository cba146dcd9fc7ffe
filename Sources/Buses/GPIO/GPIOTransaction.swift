import Tactus

/// One access to the lines of a recorded or simulated bank.
public struct GPIOTransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// What was done to the lines.
  public enum Operation: UInt8, Sendable, BitwiseCopyable {
    /// The lines became outputs, inactive.
    case request
    /// The lines were driven to `levels`.
    case set
    /// The levels of the lines were read.
    case read
    /// The lines were released.
    case release
  }
  /// Counts from 0 without a gap; a gap in what was read means that entries were overwritten before they were read.
  public var sequence: Int64
  /// When, by the clock of the log. A request and a release happen outside ticks: by their clock at the last access.
  public var at: TickInstant
  /// Bit k: line k of the bank. On a recorded port: the k-th of the request.
  public var lines: UInt64
  /// The electrical levels of those lines: what was driven, or what was read. On a recorded port: 1 is active.
  public var levels: UInt64
  /// 0, or −errno.
  public var result: Int32
  /// What was done to the lines.
  public var operation: Operation

  init() { self.init(.read, lines: 0, levels: 0, result: 0, at: .zero) }

  @_noLocks @_noAllocation
  init(_ operation: Operation, lines: UInt64, levels: UInt64, result: Int32, at: TickInstant) {
    sequence = 0
    self.at = at
    self.lines = lines
    self.levels = levels & lines
    self.result = result
    self.operation = operation
  }
}

extension TransactionLog {
  /// One thread only.
  @_noLocks @_noAllocation
  func append(
    _ operation: GPIOTransaction.Operation, lines: UInt64, levels: UInt64, result: Int32, at: TickInstant
  ) {
    var transaction = GPIOTransaction(operation, lines: lines, levels: levels, result: result, at: stamp(inTickAt: at))
    transaction.sequence = next
    append(&transaction)
  }
}
