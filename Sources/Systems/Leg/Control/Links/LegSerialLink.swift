import Buses
import Synchronization
import Tactus

/// A serial line as a datagram port, for either side of a leg: frames of `LegSerialFrame` in and out, every one
/// of them from `Endpoint.linkPeer`, wherever it is sent to.
///
/// Owns the serial port and what it needs beside it; must outlive its datagram port, and so must the line below. A frame that
/// the line does not take whole is lost, as a datagram is: the next one begins with a delimiter. Work of a receive is bounded
/// by the batch's capacity and by 512 bytes. Allocates nothing after creation.
public final class LegSerialLink: @unchecked Sendable {  // safe: the port's one loop uses the state, others its atomics
  private let state: UnsafeMutablePointer<LegSerialState>
  private let counts: UnsafeMutablePointer<LegSerialCounts>

  public init(_ serial: consuming SerialPort) {
    counts = .allocate(capacity: 1)
    counts.initialize(to: LegSerialCounts())
    state = .allocate(capacity: 1)
    state.initialize(to: LegSerialState(serial, counts))
  }

  deinit {
    counts.deinitialize(count: 1)
    counts.deallocate()
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// The link for its one owning loop. `descriptor` polls readable when bytes have arrived; nil when simulated.
  public func port(descriptor: Int32?) -> DatagramPort {
    DatagramPort(context: state, descriptor: descriptor, receive: receive, send: send)
  }

  /// The device is there again: what was said of it before is void. Any thread.
  public func isBack() { counts.pointee.isGone.store(false, ordering: .relaxed) }

  /// Any thread.
  public var counters: LegSerialCounters { counts.pointee.values }
}

/// What a serial link has seen since its beginning.
public struct LegSerialCounters: Sendable, Hashable {
  /// Messages received, and frames that the line took whole.
  public var received: Int64
  public var sent: Int64
  /// Frames refused, and the bytes in them: noise, bits changed, a beginning lost.
  public var refused: Int64
  public var discardedBytes: Int64
  /// Frames that the line did not take: its other end does not read, or it is gone.
  public var notSent: Int64
  /// Whether the last attempt found the device unplugged.
  public var isGone: Bool
}

/// `LegSerialCounters` while they count: written by the port's loop, read by any thread.
struct LegSerialCounts: ~Copyable {
  let received = Atomic<Int64>(0)
  let sent = Atomic<Int64>(0)
  let refused = Atomic<Int64>(0)
  let discarded = Atomic<Int64>(0)
  let notSent = Atomic<Int64>(0)
  let isGone = Atomic<Bool>(false)

  var values: LegSerialCounters {
    LegSerialCounters(
      received: received.load(ordering: .relaxed), sent: sent.load(ordering: .relaxed),
      refused: refused.load(ordering: .relaxed), discardedBytes: discarded.load(ordering: .relaxed),
      notSent: notSent.load(ordering: .relaxed), isGone: isGone.load(ordering: .relaxed))
  }
}

struct LegSerialState: ~Copyable {
  private var serial: SerialPort
  private var decoder = LegSerialDecoder()
  private let waiting = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 8)
  private var next = 0
  private var end = 0
  private let message = UnsafeMutableRawBufferPointer.allocate(
    byteCount: LegSerialFrame.maximumMessageLength, alignment: 8)
  private let frame = UnsafeMutableRawBufferPointer.allocate(
    byteCount: LegSerialFrame.maximumEncodedLength, alignment: 8)
  private let counts: UnsafeMutablePointer<LegSerialCounts>

  init(_ serial: consuming SerialPort, _ counts: UnsafeMutablePointer<LegSerialCounts>) {
    self.serial = serial
    self.counts = counts
  }

  deinit {
    waiting.deallocate()
    message.deallocate()
    frame.deallocate()
  }

  @_noLocks @_noAllocation
  mutating func receive(_ buffers: DatagramBuffers) -> Int {
    serial.now = buffers.at
    var found = 0
    var reads = 0
    while found < buffers.capacity {
      if next == end {
        // What is left keeps the descriptor readable: the loop is released again.
        guard reads < 2 else { break }
        reads &+= 1
        do throws(SerialError) {
          end = try serial.read(into: waiting)
        } catch {
          end = 0
          lose(error)
        }
        next = 0
        if end == 0 { break }
      }
      let byte = waiting[next]
      next &+= 1
      switch decoder.take(byte, into: message) {
      case .incomplete: break
      case .refused(_, let count):
        counts.pointee.refused.add(1, ordering: .relaxed)
        counts.pointee.discarded.add(Int64(count), ordering: .relaxed)
      case .message(let count):
        counts.pointee.received.add(1, ordering: .relaxed)
        let kept = count < buffers.size ? count : buffers.size
        let target = buffers.bytes + found * buffers.size
        for place in 0..<kept { target.storeBytes(of: message[place], toByteOffset: place, as: UInt8.self) }
        buffers.headers[found].source = .linkPeer
        buffers.headers[found].length = count
        buffers.headers[found].arrivedAt = nil
        found &+= 1
      }
    }
    return found
  }

  /// 0, or −EMSGSIZE or −EIO.
  @_noLocks @_noAllocation
  mutating func send(_ bytes: UnsafeRawBufferPointer, at now: TickInstant) -> Int {
    guard bytes.count >= 1, bytes.count <= LegSerialFrame.maximumMessageLength else { return -90 }
    let count = LegSerialFrame.encode(bytes, into: frame)
    serial.now = now
    do throws(SerialError) {
      try serial.write(UnsafeRawBufferPointer(start: frame.baseAddress, count: count))
      counts.pointee.sent.add(1, ordering: .relaxed)
      counts.pointee.isGone.store(false, ordering: .relaxed)
      return 0
    } catch {
      counts.pointee.notSent.add(1, ordering: .relaxed)
      lose(error)
      return -5
    }
  }

  @_noLocks @_noAllocation
  private func lose(_ error: SerialError) {
    if case .gone = error { counts.pointee.isGone.store(true, ordering: .relaxed) }
  }
}

@_noLocks @_noAllocation
private func receive(_ context: UnsafeMutableRawPointer, _ buffers: UnsafeMutableRawPointer) -> Int {
  context.assumingMemoryBound(to: LegSerialState.self).pointee.receive(
    buffers.assumingMemoryBound(to: DatagramBuffers.self).pointee)
}

@_noLocks @_noAllocation
private func send(
  _ context: UnsafeMutableRawPointer, _ bytes: UnsafeRawPointer, _ endpoint: UnsafeRawPointer, _ count: Int,
  _ now: Int64
) -> Int {
  context.assumingMemoryBound(to: LegSerialState.self).pointee.send(
    UnsafeRawBufferPointer(start: bytes, count: count), at: TickInstant(nanoseconds: now))
}
