import Synchronization
import Tactus

/// A serial line with a simulated device, or a test, at the other end.
///
/// Two queues of fixed size, one each way; a byte is there as soon as it is written. The host side belongs to one loop;
/// `device` to whatever plays the device: one thread, which need not be the loop's. Faults and the log are for any thread.
/// Must outlive its ports. Allocates nothing after creation.
public final class SimulatedSerialPort: @unchecked Sendable {  // safe: the queues' indices and the fault are atomics
  /// What can go wrong on the line.
  public enum Fault: UInt8, Sendable {
    /// The line takes nothing (`SerialError.full`).
    case full = 1
    /// The device is unplugged (`SerialError.gone`).
    case gone = 2
  }

  private let state: UnsafeMutablePointer<SimulatedSerialState>
  private let log: TransactionLog
  private var owner: AnyObject?

  /// - Parameters:
  ///   - capacity: bytes in flight each way, 1….
  ///   - logCapacity: transfers kept, 1….
  ///   - clock: stamps them.
  public init(capacity: Int = 4096, logCapacity: Int = 1024, clock: RecordClock = .tick) {
    log = TransactionLog(of: ByteTransaction.self, capacity: logCapacity, clock: clock)
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedSerialState(
        toDevice: ByteQueue(capacity: capacity), toHost: ByteQueue(capacity: capacity), log: log))
  }

  deinit {
    state.pointee.toDevice.deallocate()
    state.pointee.toHost.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
    log.deallocate()
  }

  /// The loop's writes, and its reads that found something, from number `sequence` on, that are still in the log.
  public func transactions(since sequence: Int64 = 0) -> [ByteTransaction] { log.transactions(since: sequence) }

  /// How many there have been since the start: the number that the next one gets.
  public var transactionCount: Int64 { log.count }

  /// The loop's end.
  public func port() -> SerialPort {
    SerialPort(context: state, write: writeToSimulatedDevice, read: readFromSimulatedDevice)
  }

  /// The device's end of the line.
  public var device: SimulatedSerialDevice.Line {
    SimulatedSerialDevice.Line(received: state.pointee.toDevice, sent: state.pointee.toHost)
  }

  /// Attaches a device that is served after every write and before every read of the loop. Before the loop starts.
  public func attach(_ device: SimulatedSerialDevice) {
    precondition(owner == nil, "two devices on one line")
    owner = device.owner
    state.pointee.served = SimulatedSerialState.Served(context: device.context, serve: device.serve)
  }

  /// From now on the line has this fault instead of the one before.
  public func inject(_ fault: Fault) { state.pointee.fault.store(fault.rawValue, ordering: .relaxed) }
  /// The fault that the line has, or `nil` if it works.
  public var fault: Fault? { Fault(rawValue: state.pointee.fault.load(ordering: .relaxed)) }
  /// Takes the fault back, if there is one.
  public func clearFaults() { state.pointee.fault.store(0, ordering: .relaxed) }
}

/// A device on a simulated line: a context, the C function that serves it, and the object that owns the context.
public struct SimulatedSerialDevice {
  /// The device's end of a line.
  public struct Line: @unchecked Sendable, BitwiseCopyable {  // safe: single producer and single consumer each way
    let received: ByteQueue
    let sent: ByteQueue

    /// Takes what the host has written, at most `bytes.count`; returns how much.
    @_noLocks @_noAllocation
    public func read(into bytes: UnsafeMutableRawBufferPointer) -> Int { received.take(bytes) }

    /// Sends to the host what fits; returns how much.
    @_noLocks @_noAllocation @discardableResult
    public func write(_ bytes: UnsafeRawBufferPointer) -> Int { sent.put(bytes) }

    /// Takes the oldest byte that the host has written, or returns `nil` when no byte is waiting.
    @_noLocks @_noAllocation
    public func read() -> UInt8? {
      var byte: UInt8 = 0
      return read(into: &byte) == 1 ? byte : nil
    }

    /// Sends one byte to the host. Returns whether there was room for it.
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

  /// Reads and answers what has arrived. Its second argument points to the `Line`, the last is now in nanoseconds.
  public typealias Serve = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer, Int64) -> Void

  let context: UnsafeMutableRawPointer
  let serve: Serve
  let owner: AnyObject

  /// `serve` must carry `@_noLocks @_noAllocation`: the compiler cannot follow the call. `owner` keeps `context` valid;
  /// the line keeps `owner`.
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
  var served: Served?

  init(toDevice: ByteQueue, toHost: ByteQueue, log: TransactionLog) {
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
    result = state.pointee.toDevice.put(UnsafeRawBufferPointer(start: bytes, count: count))
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
  let result = state.pointee.toHost.take(UnsafeMutableRawBufferPointer(start: bytes, count: count))
  if result > 0 { state.pointee.log.append(.received, bytes, result, result: result, at: now) }
  return result
}

/// The one call the compiler cannot follow.
@_semantics("no_performance_analysis") @inline(never)
private func callServe(
  _ serve: SimulatedSerialDevice.Serve, _ context: UnsafeMutableRawPointer, _ line: UnsafeMutableRawPointer,
  _ now: Int64
) {
  serve(context, line, now)
}
