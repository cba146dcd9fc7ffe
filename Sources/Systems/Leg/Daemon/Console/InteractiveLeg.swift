import Glibc
import Leg
import Tactus
import TactusDaemon
import Wire

/// Interactive control of a leg from the terminal's keyboard, until `q`, a signal or the end of the input. The leg is disarmed at the end
/// if it may be armed.
struct InteractiveLeg {
  private let connection: LegConnection
  private var decoder = LegKeyDecoder()
  private var slider = LegSlider()
  private var journal = LegJournal()
  private var meter = TelemetryMeter()
  private var scrolled = 0

  init(_ connection: LegConnection) {
    self.connection = connection
  }

  /// Runs until the end and restores the terminal.
  mutating func run(events: borrowing ServiceEvents, terminal: consuming RawTerminal) {
    show(TopScreen.enter)
    defer { show(TopScreen.leave) }
    note(connection.scheduling)
    var reads: Int32? = 0
    while true {
      for event in events.wait(input: reads) {
        switch event {
        case .stop, .reopenLog: connection.ask(.quit)
        case .childEnded: break
        case .input:
          if !readKeys() {
            // The terminal is gone.
            reads = nil
            connection.ask(.quit)
          }
          draw()
        case .doorbell:
          let snapshot = connection.newest()
          meter.take(snapshot)
          journal.observe(snapshot, trouble: connection.link.trouble())
          draw()
          if case .finished = snapshot.state { return }
        }
      }
    }
  }

  /// Reads and applies the keys that are waiting. Returns whether the input goes on; false at its end.
  private mutating func readKeys() -> Bool {
    var bytes = [UInt8](repeating: 0, count: 64)
    let count = read(0, &bytes, bytes.count)
    guard count > 0 else { return false }
    for byte in bytes[..<count] {
      if let key = decoder.key(byte) { press(key) }
    }
    return true
  }

  private mutating func press(_ key: LegKey) {
    switch key {
    case .arm: ask(.arm, "arm")
    case .disarm: ask(.disarm, "disarm")
    case .disarmAtOnce:
      ask(.disarm, "disarm; an arm undoes it, the emergency stop of a daemon latches")
    case .ping: ask(.ping, "ping")
    case .keepalive:
      if case .periodic = connection.newest().state { ask(.periodic(false), nil) } else { ask(.periodic(true), nil) }
    case .move, .moveTo, .send: move(key)
    case .scroll(let by): scrolled = min(max(0, scrolled + by), max(0, journal.entries.count - 1))
    case .quit: ask(.quit, nil)
    }
  }

  /// Moves the slider. With the keepalive off, each press sends one command even if the slider did not move: after an arm the servo must
  /// be sent somewhere, even if only to the slider's present position.
  private mutating func move(_ key: LegKey) {
    slider.press(key)
    connection.aim(at: slider.pulse)
    guard case .connected = connection.newest().state else { return }
    ask(.sendOnce(slider.pulse), "pulse \(slider.pulse)")
  }

  private mutating func ask(_ request: LegOperatorRequest, _ text: String?) {
    connection.ask(request)
    if let text { note(text) }
  }

  private mutating func note(_ text: String) {
    let snapshot = connection.newest()
    // Before the first tick no time is known yet.
    journal.note(text, at: snapshot.at == .zero ? MonotonicClock.now : snapshot.at)
    scrolled = 0
  }

  private func draw() {
    let size = TerminalSize.current
    let lines = LegScreen.lines(
      connection.newest(), name: connection.link.name, slider: slider, meter: meter, journal: journal,
      scrolled: scrolled, size: size)
    show(TopScreen.frame(lines, width: size.width, height: size.height))
  }

  private func show(_ text: String) {
    var bytes = Array(text.utf8)[...]
    while !bytes.isEmpty {
      let count = bytes.withUnsafeBytes { Glibc.write(1, $0.baseAddress, $0.count) }
      guard count > 0 else { return }
      bytes = bytes.dropFirst(count)
    }
  }
}
