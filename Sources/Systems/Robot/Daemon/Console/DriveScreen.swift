@_spi(FromOutside) import Conversions
import Robot
import Tactus
import TactusDaemon
import Wire

/// The display of `drive`: three lines that are redrawn in place, without colours.
struct DriveScreen {
  private var drawnLines = 0

  /// Returns the terminal text that replaces the lines drawn before.
  mutating func frame(_ lines: [String], width: Int) -> String {
    // The lines are wrapped here, because the next frame would not overwrite what the terminal wraps by itself.
    let shown = lines.flatMap { TerminalText.wrapped($0, width: max(20, width - 1), indent: 8) }
    let up = drawnLines > 1 ? "\u{1B}[\(drawnLines - 1)A" : ""
    drawnLines = shown.count
    return "\r" + up + shown.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
  }

  static let help = "arrows or WASD drive   x rest   1…9, 0 speed   space E-STOP   r reset   q quit"

  /// Returns the lines of the screen.
  ///
  /// - Parameter reset: the key or button that resets.
  static func lines(_ snapshot: OperatorSnapshot, tenths: Int, reset: String = "r") -> [String] {
    [
      "stick   \(speeds(snapshot.speeds))   at \(tenths * 10) %\(state(snapshot, reset: reset))",
      "robot   " + robot(snapshot),
      "link    " + link(snapshot),
    ]
  }

  private static func speeds(_ speeds: WheelSpeeds) -> String {
    "left \(percent(speeds.left))  right \(percent(speeds.right))"
  }

  /// Returns a speed in six columns, such as `+30.0%`.
  private static func percent(_ value: Percent) -> String {
    let tenths = Int(saturating: (value.value * 10).rounded())
    let text = (tenths < 0 ? "-" : "+") + "\(tenths.magnitude / 10).\(tenths.magnitude % 10)%"
    return TerminalText.right(text, 7)
  }

  /// Returns the state of the operator side in words. An e-stop counts as confirmed while the robot answers that it is emergency-stopped.
  private static func state(_ snapshot: OperatorSnapshot, reset: String) -> String {
    switch snapshot.state {
    case .driving: return snapshot.connection.isLost ? "   off until the robot answers" : ""
    case .stopped: return "   stopping"
    case .emergencyStopped:
      guard case .alive = snapshot.connection, case .emergencyStop = snapshot.heard?.reply.state else {
        return "   E-STOP sent, NOT CONFIRMED"
      }
      return "   E-STOP confirmed, until you reset (\(reset))"
    case .quitting, .finished: return "   bye"
    }
  }

  /// Returns the robot's last known state in words, with its age if the robot has fallen silent.
  private static func robot(_ snapshot: OperatorSnapshot) -> String {
    guard let reply = snapshot.heard?.reply else { return "not heard yet" }
    let past = if case .lost(let silence) = snapshot.connection { "\(seconds(silence)) s AGO: " } else { "" }
    var text = "\(past)\(speeds(reply.speeds))   \(reply.state.words)"
    if let reason = reply.reason { text += ": \(reason)" }
    if let age = reply.age { text += "   command \(age.count / 1_000_000) ms old" }
    return text
  }

  private static func link(_ snapshot: OperatorSnapshot) -> String {
    let counts = "\(snapshot.sent) sent, \(snapshot.replies) answered"
    return switch snapshot.connection {
    case .noReplyYet: "no reply yet   \(counts)"
    case .alive(let roundTrip): "alive   round trip \(milliseconds(roundTrip))   \(counts)"
    case .lost(let silence): "LOST for \(seconds(silence)) s   \(counts)"
    }
  }

  private static func seconds(_ span: Nanoseconds) -> Int64 { span.count / 1_000_000_000 }

  static func milliseconds(_ span: Nanoseconds) -> String {
    let hundredths = Int(saturating: (span.inMilliseconds * 100).rounded())
    let decimals = String(100 + hundredths % 100).dropFirst()
    return "\(hundredths / 100).\(decimals) ms"
  }
}

extension RobotReply.State {
  var words: String {
    switch self {
    case .stopped: "stopped"
    case .driving: "driving"
    case .emergencyStop: "E-STOP"
    case .fault: "FAULT"
    }
  }
}

extension Connection {
  var isLost: Bool { if case .lost = self { true } else { false } }
}
