import Buses
@_spi(FromOutside) import Conversions
import Synchronization
import Tactus

/// A datagram port over a serial line, for either side of a leg: sends and receives frames of `LegSerialFrame`. Every message comes from
/// `Endpoint.linkPeer`, and the destination of a sent message is ignored.
///
/// The link owns the serial port and its buffers; both the link and the line must outlive the datagram port. A frame that the line does
/// not accept whole is lost, as a datagram may be; the next one begins with a delimiter. The work of a receive is bounded by the batch's
/// capacity and by 512 bytes. Nothing is allocated after creation.
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

  /// Returns the link for the one loop that owns it. `descriptor` polls readable when bytes have arrived; it is `nil` if the line is
  /// simulated.
  public func port(descriptor: Int32?) -> DatagramPort {
    DatagramPort(context: state, descriptor: descriptor, receive: receive, send: send)
  }

  /// Clears the record that the device is gone, after it has been plugged in again. Any thread may call this.
  public func isBack() { counts.pointee.isGone.store(false, ordering: .relaxed) }

  /// The counters so far. Any thread may read them.
  public var counters: LegSerialCounters { counts.pointee.values }
}

/// Counts of a serial link since its creation.
public struct LegSerialCounters: Sendable, Hashable {
  /// The number of messages received.
  public var received: Int64
  /// The number of frames that the line accepted whole.
  public var sent: Int64
  /// The number of frames refused, because of noise, changed bits or a lost beginning.
  public var refused: Int64
  /// The number of bytes in the refused frames.
  public var discardedBytes: Int64
  /// The number of frames that the line did not accept, because the other end does not read or the device is gone.
  public var notSent: Int64
  /// Whether the last attempt to read or write found the device unplugged.
  public var isGone: Bool
}

/// The live counters behind `LegSerialCounters`, written by the port's loop and read by any thread.
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
        // The bytes that are left keep the descriptor readable, so the loop is released again.
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
      switch decoder.receive(byte, into: message) {
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

  /// Sends a message. Returns 0 on success, −EMSGSIZE or −EIO.
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
