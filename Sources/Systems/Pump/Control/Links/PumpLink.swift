import Buses
import Tactus

/// What carries a pump's lines: a serial line, or messages of at most 20 bytes (Bluetooth).
///
/// Bytes in and out, in whatever pieces, and whether there is a connection. Not copyable: one link, one owning loop. Allocates
/// nothing after creation.
public struct PumpLink: ~Copyable {
  /// Bytes of a notification or a GATT write on a link of the smallest MTU.
  public static var pieceLength: Int {
    @_noLocks @_noAllocation get { 20 }
  }

  private enum SerialPhase: BitwiseCopyable {
    /// Its loop has not been told yet.
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

  /// A serial line. It has a connection until the device is gone, and again when it answers without an error.
  public init(serial: consuming SerialPort) {
    self.serial = .some(serial)
    batch = DatagramBatch(capacity: 1, size: 1)
    buffer = .allocate(byteCount: 256, alignment: 8)
  }

  /// A connection whose messages are pieces of the stream: what is longer than 20 bytes is sent in several.
  public init(messages: consuming DatagramPort, control: consuming LinkControl) {
    self.messages = .some(messages)
    self.control = .some(control)
    batch = DatagramBatch(capacity: 16, size: 512)
    buffer = .allocate(byteCount: 256, alignment: 8)
  }

  deinit { buffer.deallocate() }

  /// Tells it the tick's instant, before anything else is asked of it in that tick.
  @_noLocks @_noAllocation
  public mutating func begin(at now: TickInstant) {
    self.now = now
    serial?.now = now
    messages?.now = now
  }

  /// What has happened to the connection since the last call, or `nil` if there is nothing more. All of them before `receive`.
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

  /// Tries to have a connection: `up` follows if it succeeds.
  @_noLocks @_noAllocation
  public mutating func connect() {
    if control != nil {
      control?.connect()
      return
    }
    guard case .down = phase else { return }
    // What is read is of a line that was not read; an empty line is nothing to a pump, and only a device takes it.
    do throws(SerialError) {
      _ = try serial?.read(into: buffer)
      buffer[0] = 0x0A
      try serial?.write(UnsafeRawBufferPointer(start: buffer.baseAddress, count: 1))
      phase = .new
    } catch {
      // Later.
    }
  }

  /// Tries to have a serial line again whose device was gone; a link that others connect to waits for them.
  @_noLocks @_noAllocation
  mutating func recover() {
    if control == nil { connect() }
  }

  /// The next bytes that have come, valid until the next call, or `nil` if there are no more.
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

  /// False: it did not go out whole.
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

/// See `SerialPort`: the first throw of an error type allocates.
@inline(never) @_optimize(none)
func preparePumpToThrow() {
  _ = try? PumpCommand.decode(UnsafeRawBufferPointer(start: nil, count: 0))
  _ = try? PumpReply.decode(UnsafeRawBufferPointer(start: nil, count: 0))
}
