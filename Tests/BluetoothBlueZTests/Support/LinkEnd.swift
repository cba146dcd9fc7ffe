import Buses
import Glibc
import Tactus
import TestSupport
import Testing

/// A loop's end of a link, in a test's hands.
final class LinkEnd {
  var port: DatagramPort
  var control: LinkControl
  private var batch = DatagramBatch(capacity: 8, size: 64)
  private var waiting: [[UInt8]] = []

  init(_ link: MessageLink) {
    port = link.port()
    control = link.control()
  }

  /// The next event, within a minute, or so many milliseconds.
  func event(within limit: Int32 = patience) -> LinkEvent? {
    let step = min(limit, 100)
    for _ in 0..<limit / step {
      if let event = control.takeEvent() { return event }
      drain()
      if let event = control.takeEvent() { return event }
      wait(step)
    }
    return control.takeEvent()
  }

  /// The next message, within a minute.
  func message() -> [UInt8]? {
    for _ in 0..<patience / 100 {
      drain()
      if !waiting.isEmpty { return waiting.removeFirst() }
      wait()
    }
    return nil
  }

  func send(_ bytes: [UInt8]) -> Bool { bytes.withUnsafeBytes { port.send($0, to: MessageLink.peer) } }

  private func drain() {
    _ = port.receive(into: &batch)
    for index in 0..<batch.count { waiting.append(Array(batch.bytes(index)!)) }
  }

  /// Whether a descriptor polls readable now.
  static func isReadable(_ descriptor: Int32) -> Bool {
    var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    return poll(&entry, 1, 0) > 0
  }

  private func wait(_ milliseconds: Int32 = 100) {
    var entry = pollfd(fd: port.descriptor!, events: Int16(POLLIN), revents: 0)
    poll(&entry, 1, milliseconds)
  }
}
