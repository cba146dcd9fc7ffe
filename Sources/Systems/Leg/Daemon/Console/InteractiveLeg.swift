import Leg
import Tactus
import TactusDaemon
import Wire

/// Interactive control of a leg from the terminal's keyboard, until `q`, a signal or the end of the input. The leg is disarmed at the end
/// if it may be armed.
struct InteractiveLeg: ~Copyable, OperatorCommand {
  private let connection: LegConnection
  private var terminal: RawTerminal
  private var slider = LegSlider()
  private var journal = LegJournal()
  private var meter = TelemetryMeter()
  private var scrolled = 0

  init(_ connection: LegConnection, terminal: consuming RawTerminal) {
    self.connection = connection
    self.terminal = terminal
  }

  /// Runs until the end.
  mutating func run(events: borrowing ServiceEvents) throws {
    printAtOnce(TopScreen.enter)
    defer { printAtOnce(TopScreen.leave) }
    note(connection.scheduling)
    try operate(events: events, input: terminal.descriptor)
  }

  mutating func interrupt() -> Int32? {
    connection.mailbox.ask(.quit)
    return nil
  }

  mutating func readInput() -> Bool {
    guard let keys = terminal.keys() else { return false }
    for key in keys.compactMap(LegKey.init) { press(key) }
    draw()
    return true
  }

  mutating func refresh() -> Int32? {
    let snapshot = connection.mailbox.newest
    meter.add(snapshot)
    journal.observe(snapshot, trouble: connection.link.trouble())
    draw()
    guard case .finished = snapshot.state else { return nil }
    return 0
  }

  private mutating func press(_ key: LegKey) {
    switch key {
    case .arm: ask(.arm, "arm")
    case .disarm: ask(.disarm, "disarm")
    case .disarmAtOnce:
      ask(.disarm, "disarm; an arm undoes it, the emergency stop of a daemon latches")
    case .ping: ask(.ping, "ping")
    case .keepalive:
      let isOn = if case .periodic = connection.mailbox.newest.state { true } else { false }
      ask(.periodic(!isOn), nil)
    case .move, .moveTo, .send: move(key)
    case .scroll(let by): scrolled = min(max(0, scrolled + by), max(0, journal.entries.count - 1))
    case .quit: ask(.quit, nil)
    }
  }

  /// Moves the slider. With the keepalive off, each press sends one command even if the slider did not move: after an arm the servo must
  /// be sent somewhere, even if only to the slider's present position.
  private mutating func move(_ key: LegKey) {
    slider.press(key)
    connection.mailbox.set(slider.pulse)
    guard case .connected = connection.mailbox.newest.state else { return }
    ask(.sendOnce(slider.pulse), "pulse \(slider.pulse)")
  }

  private mutating func ask(_ request: LegOperatorRequest, _ text: String?) {
    connection.mailbox.ask(request)
    if let text { note(text) }
  }

  private mutating func note(_ text: String) {
    let snapshot = connection.mailbox.newest
    // Before the first tick no time is known yet.
    journal.note(text, at: snapshot.at == .zero ? MonotonicClock.now : snapshot.at)
    scrolled = 0
  }

  private func draw() {
    let size = TerminalSize.current
    let lines = LegScreen.lines(
      connection.mailbox.newest, name: connection.link.name, slider: slider, meter: meter, journal: journal,
      scrolled: scrolled, size: size)
    printAtOnce(TopScreen.frame(lines, width: size.width, height: size.height))
  }
}
