import Synchronization
import Tactus

/// A serial line with a bad cable in it: unplugged, or without a device at its other end.
///
/// Wraps a real or simulated port, which its owner must keep alive. The port belongs to one loop; faults and the log are for any
/// thread. Allocates nothing after creation.
public final class ImpairedSerialPort: @unchecked Sendable {  // safe: faults and log are atomics
  /// What can go wrong on the line.
  public enum Fault: UInt8, Sendable, CaseIterable {
    /// The device is unplugged (`SerialError.gone`).
    case gone = 1
    /// Bytes are lost both ways, without an error.
    case silence = 2
  }

  private let state: UnsafeMutablePointer<ImpairedSerialState>
  private let log: TransactionLog

  /// - Parameters:
  ///   - port: the line, which is taken over.
  ///   - logCapacity: transfers kept, 1….
  ///   - clock: stamps the transfers.
  ///   - stall: served whenever the loop reads.
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

  /// The loop's end.
  public func port() -> SerialPort { SerialPort(context: state, write: writeImpaired, read: readImpaired) }

  /// From now on the line has this fault instead of the one before.
  public func inject(_ fault: Fault) { state.pointee.fault.store(fault.rawValue, ordering: .relaxed) }
  /// The fault that the line has, or `nil` if it works.
  public var fault: Fault? { Fault(rawValue: state.pointee.fault.load(ordering: .relaxed)) }
  /// Takes the fault back, if there is one.
  public func clearFaults() { state.pointee.fault.store(0, ordering: .relaxed) }

  /// The loop's writes, and its reads that found something, from number `sequence` on, that are still in the log.
  public func transactions(since sequence: Int64 = 0) -> [ByteTransaction] { log.transactions(since: sequence) }

  /// How many there have been since the start: the number that the next one gets.
  public var transactionCount: Int64 { log.count }
}

/// What a port's context points to; only the loop touches it, `fault` excepted.
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

  /// What has come is taken in any case: a line that polls readable for ever would release its loop for ever.
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
