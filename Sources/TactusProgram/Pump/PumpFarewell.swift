import Buses
import BusesLinux
import Pump
import Tactus
import Wire

/// The last words to a pump, when its loop has ended: OFF, until it says that it is off, or for 2 s.
///
/// For the main thread, which may wait.
struct PumpFarewell {
  private static let patience = Nanoseconds.seconds(2)
  private static let repeatsAfter = Nanoseconds.milliseconds(500)

  let line: LinuxSerialPort

  /// Whether the pump has confirmed it.
  func say() throws -> Bool {
    var port = line.port()
    var assembler = PumpLineAssembler()
    let buffer = UnsafeMutableRawBufferPointer.allocate(
      byteCount: PumpLineAssembler.standardCapacity, alignment: 8)
    let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 8)
    let off = UnsafeMutableRawBufferPointer.allocate(byteCount: 5, alignment: 1)
    off.copyBytes(from: "\nOFF\n".utf8)
    defer {
      off.deallocate()
      buffer.deallocate()
      bytes.deallocate()
    }
    // Nobody rings it: it is the clock that is waited for.
    let bell = try Doorbell()
    let end = MonotonicClock.now + Self.patience
    var next = MonotonicClock.now
    while MonotonicClock.now < end {
      if next <= MonotonicClock.now {
        // Its first line end closes what the loop may have left open.
        try port.write(UnsafeRawBufferPointer(off))
        next = MonotonicClock.now + Self.repeatsAfter
      }
      let count = try port.read(into: bytes)
      for index in 0..<count {
        guard case .line(let length) = assembler.take(bytes[index], into: buffer) else { continue }
        if Self.confirms(UnsafeRawBufferPointer(rebasing: buffer[..<length])) { return true }
      }
      if count == 0 { bell.wait(limit: .milliseconds(10)) }
    }
    return false
  }

  private static func confirms(_ line: UnsafeRawBufferPointer) -> Bool {
    switch try? PumpReply.decode(line) {
    case .pump(isOn: false): true
    case .status(let status): status.state == .off || status.state == .error
    default: false
    }
  }
}
