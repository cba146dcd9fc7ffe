import Synchronization
import Tactus

/// A serial line with an injected fault: unplugged, or without a device at its other end.
///
/// Wraps a real or simulated port, which its owner must keep alive. The port belongs to one loop; faults and the log may be used
/// from any thread. Nothing is allocated after creation.
public final class ImpairedSerialPort: @unchecked Sendable {  // safe: faults and log are atomics
  /// A fault of the line.
  public enum Fault: UInt8, Sendable, CaseIterable {
    /// The device is unplugged (`SerialError.gone`).
    case gone = 1
    /// Bytes are lost in both directions, without an error.
    case silence = 2
  }

  private let state: UnsafeMutablePointer<ImpairedSerialState>
  private let log: TransactionLog

  /// Takes over a serial line, in which faults can be injected from then on.
  ///
  /// - Parameters:
  ///   - port: the line, which is taken over.
  ///   - logCapacity: the number of transfers that are kept in the log, 1 or more.
  ///   - clock: the clock that stamps the transfers.
  ///   - stall: a stall that is served whenever the loop reads.
  public init(
    _ port: consuming SerialPort, logCapacity: Int = 1024, clock: RecordClock = .tick, stall: LaneStall.Served? = nil
  ) {
    log = TransactionLog(of: ByteTransaction.self, capacity: logCapacity, clock: clock)
    state = .allocate(capacity: 1)
    state.initialize(to: ImpairedSerialState(port: port, log: log, stall: stall))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
    log.deallocate()
  }

  /// Returns the port for the one loop that owns it.
  public func port() -> SerialPort { SerialPort(context: state, write: writeImpaired, read: readImpaired) }

  /// Sets the fault of the line in place of the previous one.
  public func inject(_ fault: Fault) { state.pointee.fault.store(fault.rawValue, ordering: .relaxed) }
  /// The fault that the line has, or `nil` if it works.
  public var fault: Fault? { Fault(rawValue: state.pointee.fault.load(ordering: .relaxed)) }
  /// Removes the fault, if there is one.
  public func clearFaults() { state.pointee.fault.store(0, ordering: .relaxed) }

  /// Returns the loop's writes, and its reads that returned bytes, from number `sequence` on, as far as they are still in the log.
  public func transactions(since sequence: Int64 = 0) -> [ByteTransaction] { log.transactions(since: sequence) }

  /// The number of entries since the start, which is the number that the next entry gets.
  public var transactionCount: Int64 { log.count }
}

/// The state to which a port's context points. Only the loop uses it, except for `fault`.
struct ImpairedSerialState: ~Copyable {
  var port: SerialPort
  let fault = Atomic<UInt8>(0)
  let log: TransactionLog
  let stall: LaneStall.Served?

  init(port: consuming SerialPort, log: TransactionLog, stall: LaneStall.Served?) {
    self.port = port
    self.log = log
    self.stall = stall
  }

  @_noLocks @_noAllocation
  mutating func write(_ bytes: UnsafeMutableRawPointer, _ count: Int, at now: Int64) -> Int {
    let result: Int
    switch fault.load(ordering: .relaxed) {
    case ImpairedSerialPort.Fault.gone.rawValue: result = -5  // EIO
    case ImpairedSerialPort.Fault.silence.rawValue: result = count
    default: result = callSerial(port.writeFunction, port.context, bytes, count, now)
    }
    log.append(.sent, bytes, count, result: result, at: now)
    return result
  }

  /// Reads bytes. Waiting bytes are taken even during a fault, since a line that stays readable would release its loop without end.
  @_noLocks @_noAllocation
  mutating func read(_ bytes: UnsafeMutableRawPointer, _ count: Int, at now: Int64) -> Int {
    if let stall { stall.serve(at: TickInstant(nanoseconds: now)) }
    let result = callSerial(port.readFunction, port.context, bytes, count, now)
    switch fault.load(ordering: .relaxed) {
    case ImpairedSerialPort.Fault.gone.rawValue: return -5  // EIO
    case ImpairedSerialPort.Fault.silence.rawValue: return result < 0 ? result : 0
    default:
      if result > 0 { log.append(.received, bytes, result, result: result, at: now) }
      return result
    }
  }
}

@_noLocks @_noAllocation
private func writeImpaired(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ now: Int64
) -> Int {
  context.assumingMemoryBound(to: ImpairedSerialState.self).pointee.write(bytes, count, at: now)
}

@_noLocks @_noAllocation
private func readImpaired(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ now: Int64
) -> Int {
  context.assumingMemoryBound(to: ImpairedSerialState.self).pointee.read(bytes, count, at: now)
}
