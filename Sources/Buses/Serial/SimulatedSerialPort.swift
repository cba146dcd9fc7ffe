import Synchronization
import Tactus

/// A serial line with a simulated device, or a test, at the other end.
///
/// There are two queues of fixed size, one in each direction; a byte arrives as soon as it is written. The host side belongs to one
/// loop, and `device` to the simulation of the device, which runs on one thread, not necessarily the loop's. Faults and the log may
/// be used from any thread. The object must outlive its ports. Nothing is allocated after creation.
public final class SimulatedSerialPort: @unchecked Sendable {  // safe: the queues' indices and the fault are atomics
  /// A fault of the line.
  public enum Fault: UInt8, Sendable {
    /// The line accepts no bytes (`SerialError.full`).
    case full = 1
    /// The device is unplugged (`SerialError.gone`).
    case gone = 2
  }

  private let state: UnsafeMutablePointer<SimulatedSerialState>
  private let log: TransactionLog
  private var owner: AnyObject?

  /// Creates a line with no bytes in flight.
  ///
  /// - Parameters:
  ///   - capacity: the number of bytes that may be in flight in each direction, 1 or more.
  ///   - logCapacity: the number of transfers that are kept in the log, 1 or more.
  ///   - clock: the clock that stamps the transfers.
  ///   - isRead: whether the device's end is read. If it is not, bytes that are sent are discarded at once, as on an open wire,
  ///     unless a device is attached.
  public init(capacity: Int = 4096, logCapacity: Int = 1024, clock: RecordClock = .tick, isRead: Bool = true) {
    log = TransactionLog(of: ByteTransaction.self, capacity: logCapacity, clock: clock)
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedSerialState(
        toDevice: ByteQueue(capacity: capacity), toHost: ByteQueue(capacity: capacity), log: log, isRead: isRead))
  }

  deinit {
    state.pointee.toDevice.deallocate()
    state.pointee.toHost.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
    log.deallocate()
  }

  /// Returns the loop's writes, and its reads that returned bytes, from number `sequence` on, as far as they are still in the log.
  public func transactions(since sequence: Int64 = 0) -> [ByteTransaction] { log.transactions(since: sequence) }

  /// The number of entries since the start, which is the number that the next entry gets.
  public var transactionCount: Int64 { log.count }

  /// Returns the port for the one loop that owns it.
  public func port() -> SerialPort {
    SerialPort(context: state, write: writeToSimulatedDevice, read: readFromSimulatedDevice)
  }

  /// The device's end of the line.
  public var device: SimulatedSerialDevice.Line {
    SimulatedSerialDevice.Line(received: state.pointee.toDevice, sent: state.pointee.toHost)
  }

  /// Attaches a device that is served after every write and before every read of the loop. The function must be called before the loop starts.
  public func attach(_ device: SimulatedSerialDevice) {
    precondition(owner == nil, "two devices on one line")
    owner = device.owner
    state.pointee.isRead = true
    state.pointee.served = SimulatedSerialState.Served(context: device.context, serve: device.serve)
  }

  /// Sets the fault of the line in place of the previous one.
  public func inject(_ fault: Fault) { state.pointee.fault.store(fault.rawValue, ordering: .relaxed) }
  /// The present fault of the line, or `nil` if it works.
  public var fault: Fault? { Fault(rawValue: state.pointee.fault.load(ordering: .relaxed)) }
  /// Removes the fault, if there is one.
  public func clearFaults() { state.pointee.fault.store(0, ordering: .relaxed) }
}

/// A device on a simulated line: a context, the C function that serves it, and the object that owns the context.
public struct SimulatedSerialDevice {
  /// The device's end of a line.
  public struct Line: @unchecked Sendable, BitwiseCopyable {  // safe: single producer and single consumer each way
    let received: ByteQueue
    let sent: ByteQueue

    /// Takes at most `bytes.count` bytes that the host has written. Returns their number.
    @_noLocks @_noAllocation
    public func read(into bytes: UnsafeMutableRawBufferPointer) -> Int { received.read(into: bytes) }

    /// Sends as many bytes to the host as there is room for. Returns their number.
    @_noLocks @_noAllocation @discardableResult
    public func write(_ bytes: UnsafeRawBufferPointer) -> Int { sent.put(bytes) }

    /// Takes the oldest byte that the host has written. Returns `nil` if no byte is waiting.
    @_noLocks @_noAllocation
    public func read() -> UInt8? {
      var byte: UInt8 = 0
      return read(into: &byte) == 1 ? byte : nil
    }

    /// Sends one byte to the host. Returns whether there was room for the byte.
    @_noLocks @_noAllocation @discardableResult
    public func write(_ byte: UInt8) -> Bool {
      var byte = byte
      return write(from: &byte) == 1
    }

    @_noLocks @_noAllocation
    private func read(into byte: UnsafeMutablePointer<UInt8>) -> Int {
      read(into: UnsafeMutableRawBufferPointer(start: byte, count: 1))
    }

    @_noLocks @_noAllocation
    private func write(from byte: UnsafePointer<UInt8>) -> Int {
      write(UnsafeRawBufferPointer(start: byte, count: 1))
    }
  }

  /// Reads and answers the bytes that have arrived. The second argument points to the `Line`, and the last is the present instant in nanoseconds.
  public typealias Serve = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, Int64) -> Void

  let context: UnsafeMutableRawPointer
  let serve: Serve
  let owner: AnyObject

  /// Creates a device. `serve` must carry `@_noLocks @_noAllocation`, since the compiler cannot follow the call. `owner` keeps
  /// `context` valid, and the line retains `owner`.
  public init(context: UnsafeMutableRawPointer, owner: AnyObject, serve: @escaping Serve) {
    self.context = context
    self.owner = owner
    self.serve = serve
  }
}

struct SimulatedSerialState: ~Copyable {
  struct Served {
    let context: UnsafeMutableRawPointer
    let serve: SimulatedSerialDevice.Serve
  }
  let toDevice: ByteQueue
  let toHost: ByteQueue
  let fault = Atomic<UInt8>(0)
  let log: TransactionLog
  var isRead: Bool
  var served: Served?

  init(toDevice: ByteQueue, toHost: ByteQueue, log: TransactionLog, isRead: Bool) {
    self.isRead = isRead
    self.toDevice = toDevice
    self.toHost = toHost
    self.log = log
  }

  @_noLocks @_noAllocation
  func serve(at now: Int64) {
    guard let served else { return }
    var line = SimulatedSerialDevice.Line(received: toDevice, sent: toHost)
    callServe(served.serve, served.context, &line, now)
  }
}

@_noLocks @_noAllocation
private func writeToSimulatedDevice(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ now: Int64
) -> Int {
  let state = context.assumingMemoryBound(to: SimulatedSerialState.self)
  let result: Int
  switch state.pointee.fault.load(ordering: .relaxed) {
  case SimulatedSerialPort.Fault.gone.rawValue: result = -5  // EIO
  case SimulatedSerialPort.Fault.full.rawValue: result = 0
  default:
    let sent = UnsafeRawBufferPointer(start: bytes, count: count)
    result = state.pointee.isRead ? state.pointee.toDevice.put(sent) : count
    state.pointee.serve(at: now)
  }
  state.pointee.log.append(.sent, bytes, count, result: result, at: now)
  return result
}

@_noLocks @_noAllocation
private func readFromSimulatedDevice(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeMutableRawPointer, _ count: Int, _ now: Int64
) -> Int {
  let state = context.assumingMemoryBound(to: SimulatedSerialState.self)
  if state.pointee.fault.load(ordering: .relaxed) == SimulatedSerialPort.Fault.gone.rawValue { return -5 }  // EIO
  state.pointee.serve(at: now)
  let result = state.pointee.toHost.read(into: UnsafeMutableRawBufferPointer(start: bytes, count: count))
  if result > 0 { state.pointee.log.append(.received, bytes, result, result: result, at: now) }
  return result
}

/// Calls the function, which the compiler cannot follow.
@_semantics("no_performance_analysis") @inline(never)
private func callServe(
  _ serve: SimulatedSerialDevice.Serve, _ context: UnsafeMutableRawPointer, _ line: UnsafeMutableRawPointer,
  _ now: Int64
) {
  serve(context, line, now)
}
