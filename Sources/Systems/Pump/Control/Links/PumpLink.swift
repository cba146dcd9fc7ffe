import Buses
import Tactus

/// The link that carries a pump's lines: a serial line, or messages of at most 20 bytes (Bluetooth).
///
/// Transports bytes in pieces of any size and reports whether there is a connection. The type is not copyable: exactly one loop uses a link.
/// Allocates nothing after creation.
public struct PumpLink: ~Copyable {
  /// The number of bytes of a notification or a GATT write on a link with the smallest MTU.
  public static var pieceLength: Int {
    @_noLocks @_noAllocation get { 20 }
  }

  private enum SerialPhase: BitwiseCopyable {
    /// The connection exists but has not been reported to the loop yet.
    case new
    case up
    case lost
    case down
  }

  private var serial: SerialPort?
  private var phase = SerialPhase.new
  private var messages: DatagramPort?
  private var control: LinkControl?
  private var batch: DatagramBatch
  private var nextMessage = 0
  private let buffer: UnsafeMutableRawBufferPointer
  private var now = TickInstant.zero

  /// Creates a link over a serial line. It is connected until the device disappears, and again once the device answers
  /// without an error.
  public init(serial: consuming SerialPort) {
    self.serial = .some(serial)
    batch = DatagramBatch(capacity: 1, size: 1)
    buffer = .allocate(byteCount: 256, alignment: 8)
  }

  /// Creates a link over a connection whose messages are pieces of the stream: data of more than 20 bytes is sent in
  /// several messages.
  public init(messages: consuming DatagramPort, control: consuming LinkControl) {
    self.messages = .some(messages)
    self.control = .some(control)
    batch = DatagramBatch(capacity: 16, size: 512)
    buffer = .allocate(byteCount: 256, alignment: 8)
  }

  deinit { buffer.deallocate() }

  /// Sets the tick's instant. Call it before any other method in a tick.
  @_noLocks @_noAllocation
  public mutating func begin(at now: TickInstant) {
    self.now = now
    serial?.now = now
    messages?.now = now
  }

  /// Returns the next change of the connection since the last call, or `nil` if there are no more. Take all events before `receive`.
  @_noLocks @_noAllocation
  public mutating func takeEvent() -> LinkEvent? {
    if control != nil { return control?.takeEvent() }
    switch phase {
    case .new:
      phase = .up
      return .up
    case .lost:
      phase = .down
      return .down
    case .up, .down: return nil
    }
  }

  /// Tries to connect; the event `up` follows if that succeeds.
  @_noLocks @_noAllocation
  public mutating func connect() {
    if control != nil {
      control?.connect()
      return
    }
    guard case .down = phase else { return }
    // Old bytes are discarded. Then an empty line is written, which a pump ignores and which fails if the device is gone.
    do throws(SerialError) {
      _ = try serial?.read(into: buffer)
      buffer[0] = 0x0A
      try serial?.write(UnsafeRawBufferPointer(start: buffer.baseAddress, count: 1))
      phase = .new
    } catch {
      // The next attempt to connect tries again.
    }
  }

  /// Tries to reopen a serial line whose device has disappeared. Links to which the other side connects just wait.
  @_noLocks @_noAllocation
  mutating func recover() {
    if control == nil { connect() }
  }

  /// Returns the next received bytes, valid until the next call, or `nil` if there are no more.
  @_noLocks @_noAllocation
  public mutating func receive() -> UnsafeRawBufferPointer? {
    if messages != nil { return receiveMessage() }
    guard case .up = phase else { return nil }
    do throws(SerialError) {
      let count = try serial?.read(into: buffer) ?? 0
      guard count > 0 else { return nil }
      return UnsafeRawBufferPointer(start: buffer.baseAddress, count: count)
    } catch {
      note(error)
      return nil
    }
  }

  @_noLocks @_noAllocation
  private mutating func receiveMessage() -> UnsafeRawBufferPointer? {
    while true {
      if nextMessage >= batch.count {
        _ = messages?.receive(into: &batch)
        nextMessage = 0
        if batch.count == 0 { return nil }
      }
      let index = nextMessage
      nextMessage &+= 1
      if let bytes = batch.bytes(index) { return bytes }
    }
  }

  /// Sends bytes. Returns whether all of them were sent.
  @_noLocks @_noAllocation
  public mutating func send(_ bytes: UnsafeRawBufferPointer) -> Bool {
    if messages != nil { return sendPieces(bytes) }
    guard case .up = phase else { return false }
    do throws(SerialError) {
      try serial?.write(bytes)
      return true
    } catch {
      note(error)
      return false
    }
  }

  @_noLocks @_noAllocation
  private mutating func sendPieces(_ bytes: UnsafeRawBufferPointer) -> Bool {
    var start = 0
    while start < bytes.count {
      let rest = bytes.count - start
      let count = rest < Self.pieceLength ? rest : Self.pieceLength
      let piece = UnsafeRawBufferPointer(start: bytes.baseAddress.unsafelyUnwrapped + start, count: count)
      guard messages?.send(piece, to: .linkPeer) ?? false else { return false }
      start &+= count
    }
    return true
  }

  @_noLocks @_noAllocation
  private mutating func note(_ error: SerialError) {
    if case .gone = error { phase = .lost }
  }
}

/// Throws and catches one error in advance, because the first throw of an error type allocates (see `SerialPort`).
@inline(never) @_optimize(none)
func preparePumpToThrow() {
  _ = try? PumpCommand.decode(UnsafeRawBufferPointer(start: nil, count: 0))
  _ = try? PumpReply.decode(UnsafeRawBufferPointer(start: nil, count: 0))
}
