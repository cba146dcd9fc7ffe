import Tactus

/// An access to the lines of a recorded or simulated bank.
public struct GPIOTransaction: LoggedTransaction, Sendable, BitwiseCopyable {
  /// The kind of access to the lines.
  public enum Operation: UInt8, Sendable, BitwiseCopyable {
    /// The lines became outputs, and inactive.
    case request
    /// The lines were driven to `levels`.
    case set
    /// The levels of the lines were read.
    case read
    /// The lines were released.
    case release
  }
  /// The number of the entry, counted from 0. A gap in the numbers means that entries were overwritten before they were read.
  public var sequence: Int64
  /// The instant of the access, by the clock of the log. Requests and releases happen outside ticks and have the instant of the last access.
  public var at: TickInstant
  /// The mask of the lines: bit k stands for line k of the bank or, on a recorded port, for line k of the request.
  public var lines: UInt64
  /// The electrical levels of the lines, as driven or as read. On a recorded port a 1 stands for active.
  public var levels: UInt64
  /// The result of the transfer: 0, or −errno if it failed.
  public var result: Int32
  /// The kind of access.
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
  /// Appends an entry. The function must be called by one thread only.
  @_noLocks @_noAllocation
  func append(
    _ operation: GPIOTransaction.Operation, lines: UInt64, levels: UInt64, result: Int32, at: TickInstant
  ) {
    var transaction = GPIOTransaction(operation, lines: lines, levels: levels, result: result, at: stamp(inTickAt: at))
    transaction.sequence = next
    append(&transaction)
  }
}
