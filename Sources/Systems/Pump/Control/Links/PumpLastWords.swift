import Tactus

/// Sends OFF to a pump every half second until the pump confirms that it is off.
///
/// The type is for a process without the pump's loop: the daemon while it shuts down, or its guard after the
/// daemon has died. It never waits, expects several calls of `step` per second, and allocates memory.
public struct PumpLastWords: ~Copyable {
  private static let repeatsAfter = Nanoseconds.milliseconds(500)

  private var link: PumpLink
  private var assembler = PumpLineAssembler()
  private var isUp: Bool
  private var next = TickInstant.zero
  private let line = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PumpLineAssembler.standardCapacity, alignment: 8)
  /// The OFF line. Its leading line end terminates a line that a loop may have left unfinished.
  private let off = UnsafeMutableRawBufferPointer.allocate(byteCount: 5, alignment: 1)
  /// Whether an OFF has been sent on this connection. Replies that arrive before that do not answer the OFF.
  private var hasSaid = false
  private var isConfirmed = false

  /// Takes over the link of a loop that has ended.
  ///
  /// - Parameter isUp: whether `link` had a connection when its loop ended.
  public init(_ link: consuming PumpLink, isUp: Bool = false) {
    self.link = link
    self.isUp = isUp
    off.copyBytes(from: "\nOFF\n".utf8)
  }

  deinit {
    line.deallocate()
    off.deallocate()
  }

  /// Returns whether the pump has confirmed since the last `true` that it is off. Requests a connection while there is none.
  public mutating func step(at now: TickInstant) -> Bool {
    link.begin(at: now)
    while let event = link.takeEvent() {
      assembler.reset()
      isUp = event == .up
      hasSaid = false
      next = now
    }
    hear()
    if isConfirmed {
      isConfirmed = false
      return true
    }
    if now < next { return false }
    next = now + Self.repeatsAfter
    if !isUp {
      link.connect()
    } else if link.send(UnsafeRawBufferPointer(off)) {
      hasSaid = true
    } else {
      // OFF is sent at once on a new connection.
      next = now
    }
    return false
  }

  private mutating func hear() {
    while !isConfirmed, let bytes = link.receive() {
      for byte in bytes {
        guard case .line(let length) = assembler.receive(byte, into: line) else { continue }
        if hasSaid, Self.confirms(UnsafeRawBufferPointer(rebasing: line[..<length])) { isConfirmed = true }
      }
    }
  }

  /// Returns whether the line confirms the OFF. A STATUS does not: the loop may have requested it before the OFF arrived.
  private static func confirms(_ line: UnsafeRawBufferPointer) -> Bool {
    if case .pump(isOn: false) = try? PumpReply.decode(line) { true } else { false }
  }
}
