@_spi(FromOutside) import Conversions
import Leg
import Tactus
import TactusDaemon
import Wire

/// The display of `tactus leg`.
enum LegScreen {
  static let help =
    "a arm  d disarm  SPACE disarm at once  ←→ ±10 µs  shift ←→ or ↑↓ ±100  0…9 c home end  ENTER send  k 50 Hz  p ping  q quit"

  /// Returns `help` split into lines of this width, always between two keys.
  private static func help(width: Int) -> [TopScreen.Line] {
    var lines: [String] = []
    for key in help.split(separator: "  ") {
      if let last = lines.last, last.count + 2 + key.count <= width {
        lines[lines.count - 1] = last + "  " + key
      } else {
        lines.append(String(key))
      }
    }
    return lines.map { TopScreen.Line(text: $0) }
  }

  /// Returns the lines of the display. `scrolled` is the number of log lines below the last one shown.
  static func lines(
    _ snapshot: LegOperatorSnapshot, name: String, slider: LegSlider, meter: TelemetryMeter, journal: LegJournal,
    scrolled: Int, size: TerminalSize
  ) -> [TopScreen.Line] {
    var lines = [TopScreen.Line(text: "leg \(name)", style: .heading)]
    let telemetry = snapshot.heard?.telemetry
    lines.append(state(telemetry, past: past(snapshot)))
    lines.append(
      TopScreen.Line(text: "command   \(age(telemetry))   battery \(battery(telemetry))\(past(snapshot) ?? "")"))
    lines.append(link(snapshot, meter))
    // The wrapping below puts the drawing on a line of its own if there is no room behind the number.
    let drawing = slider.drawing(columns: min(40, max(8, size.width - 22)))
    lines.append(TopScreen.Line(text: "pulse     \(TerminalText.right("\(slider.microseconds)", 4)) µs   \(drawing)"))
    lines.append(TopScreen.Line(text: "keepalive \(keepalive(snapshot.state))"))
    lines = lines.flatMap { $0.wrapped(width: size.width, indent: 10) }
    let help = help(width: size.width)
    let room = max(1, size.height - lines.count - 1 - help.count)
    let end = max(min(room, journal.entries.count), journal.entries.count - max(0, scrolled))
    let below = journal.entries.count - end
    lines.append(TopScreen.Line(text: below > 0 ? "log (\(below) more below)" : "log", style: .heading))
    let shown = journal.entries[..<end].suffix(room)
    lines += shown.map { TopScreen.Line(text: $0) }
    lines += Array(repeating: TopScreen.Line(text: ""), count: room - shown.count)
    return lines + help
  }

  /// Returns the age of stale telemetry, such as ` 1.2 s ago`, or `nil` if the telemetry is not stale.
  private static func past(_ snapshot: LegOperatorSnapshot) -> String? {
    guard case .stale(let age) = snapshot.telemetryAge else { return nil }
    return " \(age.count / 1_000_000_000).\(age.count / 100_000_000 % 10) s ago"
  }

  private static func state(_ telemetry: LegTelemetry?, past: String?) -> TopScreen.Line {
    guard let telemetry else { return TopScreen.Line(text: "state     not known: nobody answers", style: .warning) }
    let cause = telemetry.error == .none ? "" : ": \(telemetry.error)"
    if let past {
      return TopScreen.Line(text: "state     not known: \(telemetry.state.words)\(cause)\(past)", style: .warning)
    }
    switch telemetry.state {
    case .disarmed: return TopScreen.Line(text: "state     disarmed\(cause)", style: cause.isEmpty ? .plain : .warning)
    case .armed: return TopScreen.Line(text: "state     ARMED\(cause)", style: .warning)
    case .fault:
      return TopScreen.Line(text: "state     *** FAULT\(cause) ***   disarm first (d), then arm (a)", style: .alarm)
    }
  }

  private static func age(_ telemetry: LegTelemetry?) -> String {
    guard let telemetry else { return "—" }
    let age = telemetry.lastCommandAgeMilliseconds
    return age == .max ? "65535 ms old or older" : "\(age) ms old"
  }

  /// Returns the battery's voltage, such as `7.40 V`; 0 in the telemetry means that there is no sensor.
  static func battery(_ telemetry: LegTelemetry?) -> String {
    guard let telemetry else { return "—" }
    let millivolts = Int(telemetry.battery.count)
    guard millivolts > 0 else { return "no sensor" }
    let hundredths = (millivolts + 5) / 10
    return "\(hundredths / 100).\(String(100 + hundredths % 100).dropFirst()) V"
  }

  private static func link(_ snapshot: LegOperatorSnapshot, _ meter: TelemetryMeter) -> TopScreen.Line {
    let counts =
      "\(snapshot.sent) sent, \(snapshot.received) received"
      + (snapshot.sendFailures > 0 ? ", \(snapshot.sendFailures) not sent" : "")
      + (snapshot.malformed > 0 ? ", \(snapshot.malformed) malformed" : "")
    return switch snapshot.telemetryAge {
    case .nothingYet: TopScreen.Line(text: "link      no telemetry   \(counts)", style: .warning)
    case .fresh(let age):
      TopScreen.Line(text: "link      telemetry \(meter.words), \(age.count / 1_000_000) ms old   \(counts)")
    case .stale(let age):
      TopScreen.Line(text: "link      STALE for \(age.count / 1_000_000) ms   \(counts)", style: .warning)
    }
  }

  private static func keepalive(_ state: LegOperatorState) -> String {
    switch state {
    case .connecting: "—   connecting"
    case .connected: "off   a ping every 40 ms"
    case .periodic: "ON   the pulse at 50 Hz"
    case .quitting, .finished: "off   disarming"
    }
  }
}

extension LegTelemetry.State {
  fileprivate var words: String {
    switch self {
    case .disarmed: "disarmed"
    case .armed: "ARMED"
    case .fault: "FAULT"
    }
  }
}

/// Measures the number of telemetry frames a second over the last two seconds.
struct TelemetryMeter {
  private var samples: [(at: TickInstant, received: Int64)] = []

  mutating func add(_ snapshot: LegOperatorSnapshot) {
    samples.append((snapshot.at, snapshot.received))
    samples.removeAll { snapshot.at - $0.at > .seconds(2) }
  }

  /// The rate of telemetry frames, or `nil` before half a second has passed.
  var hertz: Double? {
    guard let first = samples.first, let last = samples.last, last.at - first.at >= .milliseconds(500) else {
      return nil
    }
    return Double(last.received - first.received) / (last.at - first.at).inSeconds
  }

  /// The rate in words, such as `10.0 Hz`.
  var words: String {
    guard let hertz else { return "arrives" }
    let tenths = Int(saturating: (hertz * 10).rounded())
    return "\(tenths / 10).\(tenths % 10) Hz"
  }
}
