import Service
import Tactus
import Testing
import Wire

@testable import Leg
@testable import LegDaemon
@testable import TactusDaemon

@Suite("keys of a leg's operator")
struct LegKeyTests {
  private func keys(_ bytes: String) -> [LegKey] {
    var decoder = TerminalKeyDecoder()
    return decoder.keys(bytes.utf8).compactMap(LegKey.init)
  }

  @Test("letters, space, enter, Ctrl-C, Ctrl-D")
  func letters() {
    #expect(keys("adpk ADPK") == [.arm, .disarm, .ping, .keepalive, .disarmAtOnce, .arm, .disarm, .ping, .keepalive])
    #expect(keys("qQ\u{3}\u{4}") == [.quit, .quit, .quit, .quit])
    #expect(keys("\r\n") == [.send, .send])
    #expect(keys("xé\u{7F}") == [])
  }

  @Test("arrows: 10 µs, with shift or up and down 100; in both modes of a terminal, and as rxvt writes them")
  func arrows() {
    #expect(keys("\u{1B}[C\u{1B}[D\u{1B}OC\u{1B}OD") == [.move(by: 10), .move(by: -10), .move(by: 10), .move(by: -10)])
    #expect(
      keys("\u{1B}[1;2C\u{1B}[1;2D\u{1B}[c\u{1B}[d")
        == Array(repeating: [.move(by: 100), .move(by: -100)], count: 2).flatMap(\.self))
    #expect(keys("\u{1B}[A\u{1B}[B") == [.move(by: 100), .move(by: -100)])
  }

  @Test("digits, c, home, end: places of the travel; page up and down: the log")
  func places() {
    #expect(keys("059c") == [500, 1500, 2300, 1500].map { .moveTo(microseconds: $0) })
    #expect(
      keys("\u{1B}[H\u{1B}[F\u{1B}[1~\u{1B}[4~\u{1B}OH")
        == [500, 2500, 500, 2500, 500].map { .moveTo(microseconds: $0) })
    #expect(keys("\u{1B}[5~\u{1B}[6~\u{1B}[3~a") == [.scroll(by: 10), .scroll(by: -10), .arm])
  }

  @Test("slider: 500…2500, drawn")
  func slider() {
    var slider = LegSlider()
    #expect(slider.drawing == "500 ├────────────────────●────────────────────┤ 2500")
    slider.press(.move(by: 100))
    #expect(slider.pulse == .microseconds(1600))
    slider.press(.moveTo(microseconds: 2500))
    slider.press(.move(by: 10))
    #expect(slider.drawing == "500 ├────────────────────────────────────────●┤ 2500")
    slider.press(.moveTo(microseconds: 500))
    slider.press(.move(by: -100))
    slider.press(.send)
    #expect(slider.drawing.hasPrefix("500 ├●─"))
  }
}

@Suite("where a leg is")
struct LegAddressTests {
  #if Bluetooth
    private static let hasBluetooth = true

    @Test("Bluetooth: a name or an address, with the adapter or without")
    func bluetooth() throws {
      func place(_ text: String) throws -> LegAddress { try LegAddress(text, port: 5010, index: 0) }
      #expect(try place("ble:LegCtrl") == .bluetooth(.init(.name("LegCtrl"), adapter: nil)))
      #expect(try place("ble:my leg@home@hci1") == .bluetooth(.init(.name("my leg@home"), adapter: "hci1")))
      #expect(try place("ble:aa:BB:cc:00:11:22") == .bluetooth(.init(.address("AA:BB:CC:00:11:22"), adapter: nil)))
      #expect(
        try place("ble:aa:BB:cc:00:11:22@hci0") == .bluetooth(.init(.address("AA:BB:CC:00:11:22"), adapter: "hci0")))
      #expect(try place("ble:aa:BB:cc:00:11") == .bluetooth(.init(.name("aa:BB:cc:00:11"), adapter: nil)))
    }
  #else
    private static let hasBluetooth = false
  #endif

  @Test("hosts, ports, indices, serial lines, doors")
  func good() throws {
    #expect(try LegAddress("pi.local", port: 5010, index: 0) == .datagrams(host: "pi.local", port: 5010))
    #expect(try LegAddress("192.168.1.7:6000", port: 5010, index: 3) == .datagrams(host: "192.168.1.7", port: 6003))
    #expect(try LegAddress("[::1]", port: 5010, index: 1) == .datagrams(host: "::1", port: 5011))
    #expect(
      try LegAddress("serial:/dev/ttyACM0", port: 1, index: 0) == .serial(path: "/dev/ttyACM0", baudRate: 115_200))
    #expect(try LegAddress("serial:/dev/x@9600", port: 1, index: 0) == .serial(path: "/dev/x", baudRate: 9600))
    let door = try #require(ServiceAddress("pi.local:8000"))
    #expect(try LegAddress("ws://pi.local:8000/ws", port: 1, index: 2) == .door(door, leg: 2))
    #expect(try LegAddress("ws://pi.local", port: 1, index: 0) == .door(door, leg: 0))
    guard case .door(let secure, 0) = try LegAddress("wss://pi.local", port: 1, index: 0) else {
      return #expect(Bool(false))
    }
    #expect(secure.isSecure)
  }

  @Test(
    "anything else: says what was expected",
    arguments: [
      ("", 0, "expected HOST"), ("a/b", 0, "expected HOST"), ("serial:ttyACM0", 0, "expected HOST"),
      ("serial:/dev/x@fast", 0, "expected HOST"), ("ws://a/b", 0, "expected HOST"), ("http://a", 0, "expected HOST"),
      ("pi:65530", 9, "expected a port"), ("serial:/dev/x", 1, "leave out --index"),
      ("ble:LegCtrl", 1, Self.hasBluetooth ? "leave out --index" : "without Bluetooth"),
      ("ble:", 0, Self.hasBluetooth ? "expected HOST" : "without Bluetooth"),
      ("ble:@hci1", 0, Self.hasBluetooth ? "expected HOST" : "without Bluetooth"),
    ])
  func bad(text: String, index: Int, words: String) {
    let error = #expect(throws: LegAddress.Failure.self) { try LegAddress(text, port: 5010, index: index) }
    #expect(error?.description.contains(words) == true)
  }

  @Test("sweeps: there and back by elapsed time; a bad one is refused")
  func sweeps() throws {
    let motion = try #require(PulseSweep(argument: "1000:2000:1s")).motion
    let widths = [0, 250, 1000, 1250, 2000, 2100].map { motion.pulse(after: .milliseconds($0)).microseconds }
    #expect(widths == [1000, 1250, 2000, 1750, 1000, 1100])
    for text in ["", "1000:2000", "499:2000:1s", "1000:2501:1s", "1000:2000:0", "a:b:1s", "1000:2000:1s:2"] {
      #expect(PulseSweep(argument: text) == nil)
    }
  }
}

@Suite("what a leg's operator is shown")
struct LegScreenTests {
  private func snapshot(
    _ milliseconds: Int64, _ operatorState: LegOperatorState = .connected, _ state: LegTelemetry.State? = nil,
    _ error: LegErrorCode = .none
  ) -> LegOperatorSnapshot {
    var snapshot = LegOperatorSnapshot()
    snapshot.at = .milliseconds(milliseconds)
    snapshot.state = operatorState
    snapshot.heard = state.map { heard($0, error, at: .milliseconds(milliseconds)) }
    return snapshot
  }

  @Test("journal: changes, each once; the last hundred")
  func journal() {
    var journal = LegJournal()
    #expect(journal.observe(snapshot(1_000), trouble: nil) == ["   0.000 s  connected"])
    #expect(journal.observe(snapshot(1_050, .connected, .armed), trouble: nil) == ["   0.050 s  leg armed"])
    #expect(journal.observe(snapshot(1_100, .connected, .armed), trouble: nil) == [])
    #expect(
      journal.observe(snapshot(2_100, .connected, .fault, .deadmanTimeout), trouble: "gone")
        == ["   1.100 s  leg fault, error: deadman time-out", "   1.100 s  link: gone"])
    #expect(journal.observe(snapshot(2_150, .connected, .fault, .deadmanTimeout), trouble: "gone") == [])
    for number in 0..<200 { journal.note("\(number)", at: .milliseconds(3_000)) }
    #expect(journal.entries.count == 100 && journal.entries.last == "   2.000 s  199")
  }

  @Test(
    "fault: an alarm with its cause and the way out; battery; the log scrolls; every line fits the terminal's height")
  func screen() {
    var journal = LegJournal()
    for number in 0..<100 { journal.note("entry \(number)", at: .zero) }
    var shown = snapshot(1_000, .connected, .fault, .deadmanTimeout)
    shown.telemetryAge = .fresh(.milliseconds(40))
    func lines(_ scrolled: Int) -> [TopScreen.Line] {
      LegScreen.lines(
        shown, name: "here", slider: LegSlider(), meter: TelemetryMeter(), journal: journal, scrolled: scrolled,
        size: TerminalSize(width: 80, height: 20))
    }
    #expect(lines(0).count <= 20)
    #expect(
      lines(0).contains {
        $0.style == .alarm && $0.text.contains("FAULT: deadman time-out") && $0.text.contains("disarm first")
      })
    #expect(lines(0).contains { $0.text.contains("battery 7.40 V") })
    #expect(
      lines(0).contains { $0.text.hasSuffix("entry 99") } && !lines(10).contains { $0.text.hasSuffix("entry 99") })
    #expect(
      lines(10).contains { $0.text.contains("10 more below") } && lines(1_000).contains { $0.text.hasSuffix("entry 0") }
    )
  }

  @Test("telemetry has stopped: the state is not known, what it was and how long ago is said, as a warning")
  func silence() {
    var shown = snapshot(4_000, .connected, .armed, .none)
    func state() -> TopScreen.Line? {
      LegScreen.lines(
        shown, name: "here", slider: LegSlider(), meter: TelemetryMeter(), journal: LegJournal(), scrolled: 0,
        size: TerminalSize(width: 80, height: 24)
      ).first { $0.text.hasPrefix("state") }
    }
    shown.telemetryAge = .fresh(.milliseconds(40))
    #expect(state()?.text == "state     ARMED")
    shown.telemetryAge = .stale(.milliseconds(3_250))
    #expect(state() == .init(text: "state     not known: ARMED 3.2 s ago", style: .warning))
  }

  @Test("a terminal of 40 columns: the fault, its cause and the way out are there")
  func narrow() {
    var shown = snapshot(1_000, .connected, .fault, .deadmanTimeout)
    shown.telemetryAge = .fresh(.milliseconds(40))
    let lines = LegScreen.lines(
      shown, name: "here", slider: LegSlider(), meter: TelemetryMeter(), journal: LegJournal(), scrolled: 0,
      size: TerminalSize(width: 40, height: 30))
    #expect(lines.count <= 30 && lines.allSatisfy { $0.text.count <= 40 }, "\(lines)")
    for words in ["FAULT: deadman time-out", "disarm first (d)", "ms old", "battery 7.40 V"] {
      #expect(lines.contains { $0.text.contains(words) }, "\(words) in \(lines)")
    }
  }

  @Test("help: every key is told on a terminal of 80 columns, and of 132", arguments: [40, 80, 132])
  func help(width: Int) {
    let lines = LegScreen.lines(
      snapshot(1_000), name: "here", slider: LegSlider(), meter: TelemetryMeter(), journal: LegJournal(), scrolled: 0,
      size: TerminalSize(width: width, height: 24))
    #expect(lines.count == 24)
    let shown = lines.map { $0.text.prefix(width) }
    for key in ["a arm", "d disarm", "SPACE disarm at once", "ENTER send", "k 50 Hz", "p ping", "q quit"] {
      #expect(shown.contains { $0.contains(key) }, "\(key)")
    }
  }

  @Test("telemetry rate: over the last two seconds, nil before half a second")
  func meter() {
    var meter = TelemetryMeter()
    var shown = snapshot(0)
    for index in Int64(0)...60 {
      shown.at = .milliseconds(index * 50)
      shown.received = index / 2
      meter.add(shown)
      if index == 9 { #expect(meter.hertz == nil) }
    }
    #expect(meter.words == "10.0 Hz")
  }
}

/// `LegScript` against a leg that is played by hand.
@Suite("scripts for a leg")
struct LegScriptTests {
  private let motion = LegScript.Motion.hold(.microseconds(1700))

  /// The snapshots' sequence; what was asked, aimed and the end.
  private func play(
    _ task: LegScript.Task, _ states: [(Int64, LegTelemetry.State?, LegErrorCode, LegOperatorState)]
  ) -> (asked: [LegOperatorRequest], aims: [PulseWidth], end: LegScript.Outcome?) {
    var script = LegScript(task)
    var asked: [LegOperatorRequest] = []
    var aims: [PulseWidth] = []
    for (milliseconds, state, error, operatorState) in states {
      var snapshot = LegOperatorSnapshot()
      snapshot.at = .milliseconds(milliseconds)
      snapshot.state = operatorState
      snapshot.heard = state.map { heard($0, error, at: .milliseconds(milliseconds)) }
      let step = script.step(snapshot)
      if let request = step.request { asked.append(request) }
      if let pulse = step.pulse { aims.append(pulse) }
      if let end = step.end { return (asked, aims, end) }
    }
    return (asked, aims, nil)
  }

  private var armAndHold: LegScript.Task { .init(arms: true, motion: motion, duration: .seconds(1.0)) }

  @Test("arm, hold, disarm, confirmed: obeyed")
  func obeyed() {
    let run = play(
      armAndHold,
      [
        (10, nil, .none, .connected), (20, .disarmed, .none, .connected), (40, .disarmed, .none, .connected),
        (60, .armed, .none, .connected), (500, .armed, .none, .periodic), (1_060, .armed, .none, .periodic),
        (1_100, .armed, .none, .quitting(disarmsLeft: 1)), (1_200, .disarmed, .none, .finished),
      ])
    #expect(run.asked == [.arm, .periodic(true), .quit])
    #expect(run.aims == [.microseconds(1700), .microseconds(1700)])
    #expect(run.end == .obeyed)
  }

  @Test("an arm that does not show in telemetry is asked again after 300 ms, and given up after 2 s")
  func doesNotArm() {
    let states = (1...60).map {
      (Int64($0 * 50), LegTelemetry.State?.some(.disarmed), LegErrorCode.none, LegOperatorState.connected)
    }
    let run = play(armAndHold, states)
    #expect(run.asked == Array(repeating: .arm, count: 7))
    #expect(run.end == .disobeyed("the leg did not arm (disarmed)"))
  }

  @Test("trips while driving, falls silent, reports a clamp, does not confirm: each is said")
  func disobeyed() {
    let start: [(Int64, LegTelemetry.State?, LegErrorCode, LegOperatorState)] = [
      (0, .disarmed, .none, .connected), (50, .armed, .none, .connected),
    ]
    #expect(
      play(armAndHold, start + [(200, .fault, .deadmanTimeout, .connected)]).end
        == .disobeyed("the leg did not stay armed (fault: deadman time-out)"))
    #expect(play(armAndHold, start + [(900, nil, .none, .connected)]).end == .disobeyed("the leg has fallen silent"))
    #expect(
      play(
        armAndHold,
        start + [
          (200, .armed, .invalidCommand, .periodic), (1_100, .armed, .none, .periodic),
          (1_300, .disarmed, .none, .finished),
        ]
      ).end == .disobeyed("the leg reported an error: invalid command"))
    #expect(
      play(armAndHold, start + [(1_100, .armed, .none, .periodic), (3_200, .armed, .none, .finished)]).end
        == .disobeyed("the disarm was not confirmed (armed)"))
  }

  @Test("nobody there; in fault; disarmed without --arm: refused without moving anything")
  func refused() {
    #expect(
      play(armAndHold, [(0, nil, .none, .connected), (5_000, nil, .none, .connected)]).end
        == .disobeyed("no telemetry: is a leg listening there?"))
    let fault = play(armAndHold, [(0, .fault, .i2cFault, .connected)])
    #expect(
      fault.asked.isEmpty && fault.end == .disobeyed("the leg is in fault (I2C fault): give --disarm to leave it first")
    )
    let unarmed = play(.init(motion: motion, duration: .seconds(1.0)), [(0, .disarmed, .none, .connected)])
    #expect(unarmed.asked.isEmpty && unarmed.end == .disobeyed("the leg is disarmed: give --arm"))
  }

  @Test("a disarm without telemetry: asked all the same, again after 300 ms, and said not to be confirmed")
  func disarmsBlindly() {
    let run = play(
      .init(disarms: true),
      [
        (0, nil, .none, .connected), (100, nil, .none, .connected), (350, nil, .none, .connected),
        (5_000, nil, .none, .connected),
      ])
    #expect(run.asked == [.disarm, .disarm])
    let said = "no telemetry: is a leg listening there? A disarm was sent all the same, and is not confirmed"
    #expect(run.end == .disobeyed(said))
  }

  @Test("disarm first: leaves a fault, then arms; alone: disarms and ends")
  func disarmsFirst() {
    var task = armAndHold
    task.disarms = true
    let run = play(
      task,
      [
        (0, .fault, .deadmanTimeout, .connected), (50, .fault, .deadmanTimeout, .connected),
        (100, .disarmed, .none, .connected), (200, .armed, .none, .connected),
      ])
    #expect(run.asked == [.disarm, .arm, .periodic(true)] && run.end == nil)
    let alone = play(
      .init(disarms: true),
      [(0, .armed, .none, .connected), (100, .disarmed, .none, .connected), (200, .disarmed, .none, .finished)])
    #expect(alone.asked == [.disarm, .quit] && alone.end == .obeyed)
  }
}

private func heard(_ state: LegTelemetry.State, _ error: LegErrorCode, at instant: TickInstant) -> HeardTelemetry {
  HeardTelemetry(
    LegTelemetry(state: state, error: error, lastCommandAgeMilliseconds: 0, battery: Millivolts(7400)), at: instant)
}
