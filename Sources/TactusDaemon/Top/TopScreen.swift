/// The screen of `top`: its lines, and their output to a terminal.
public enum TopScreen {
  /// A line of the screen in one style.
  public struct Line: Equatable, Sendable {
    /// The style that makes a line stand out.
    public enum Style: Sendable {
      /// The default colours of the terminal.
      case plain
      /// Reversed colours, for the first line of a table.
      case heading
      /// Yellow, for a part that works, but not as it should.
      case warning
      /// Bold white on red, for an emergency stop, a fault, or a daemon that does not answer.
      case alarm
    }
    var text: String
    var style = Style.plain

    /// Makes a line, which is cut to the screen's width when it is shown. Control characters are escaped first.
    public init(text: String, style: TopScreen.Line.Style = Style.plain) {
      self.text = text
      self.style = style
    }

    /// Returns the line broken into as many lines as necessary, without losing text; see `TerminalText.wrapped`.
    public func wrapped(width: Int, indent: Int) -> [Line] {
      TerminalText.wrapped(text, width: width, indent: indent).map { Line(text: $0, style: style) }
    }
  }

  /// Returns the lines of the screen. `host` is the daemon's name as the user gave it.
  static func lines(_ model: TopModel, host: String, width: Int) -> [Line] {
    guard let newest = model.newest else {
      return Line(text: "waiting for \(host)" + (model.trouble.map { ": \($0)" } ?? ""), style: .warning)
        .wrapped(width: width, indent: 2)
    }
    let runtime = newest.runtime
    var lines = [
      Line(
        text:
          "\(DaemonProgram.current.name) \(runtime.version) at \(host)   up \(upTime(runtime.monotonicNs &- runtime.epochNs))"
      )
    ]
    if let age = model.age {
      let seconds = age.count / 1_000_000_000
      lines.append(Line(text: "*** NO ANSWER for \(seconds) s: all this is that old ***", style: .alarm))
    }
    let stopped = newest.systems.filter(\.isEmergencyStopped).map(\.name)
    if !stopped.isEmpty {
      lines.append(Line(text: "*** EMERGENCY STOP: \(stopped.joined(separator: ", ")) ***", style: .alarm))
    }
    for system in newest.systems {
      lines.append(Line(text: "\(system.name): \(system.state)", style: system.isAlarm ? .alarm : .plain))
    }
    for lane in runtime.lanes where !lane.isAsRequested {
      let scheduling = lane.requested == lane.effective ? "" : ", \(lane.effective) in effect"
      lines.append(Line(text: "lane \(lane.name): \(lane.requested) requested\(scheduling)", style: .warning))
    }
    if runtime.memoryLock.state == "refused" {
      lines.append(Line(text: "memory is not locked", style: .warning))
    }
    lines = lines.flatMap { $0.wrapped(width: width, indent: 2) }
    lines.append(Line(text: ""))
    for (number, text) in TopTable.lines(model.rows, width: width).enumerated() {
      lines.append(Line(text: text, style: number == 0 ? .heading : .plain))
    }
    for (number, text) in TopTable.lines(model.ages, width: width).enumerated() {
      lines.append(Line(text: text, style: number == 0 ? .heading : .plain))
    }
    return lines
  }

  /// Returns the lines for a pipe, without colours and cursor movements; no line is cut.
  static func text(_ lines: [Line]) -> String {
    lines.map { JSONLine.inOneLine($0.text) }.joined(separator: "\n")
  }

  /// The control sequences that begin a full screen: the terminal's alternate screen, without a cursor.
  public static let enter = "\u{1B}[?1049h\u{1B}[?25l"
  /// The control sequences that restore the cursor and the screen as it was before `enter`.
  public static let leave = "\u{1B}[?25h\u{1B}[?1049l"

  /// Returns the terminal text that replaces the whole screen. Lines that are too long are cut, and surplus lines are left out.
  public static func frame(_ lines: [Line], width: Int, height: Int) -> String {
    let shown = lines.prefix(max(1, height)).map { line in
      let text = String(JSONLine.inOneLine(line.text).prefix(width))
      return "\(line.style.begin)\(text)\(line.style == .plain ? "" : "\u{1B}[0m")\u{1B}[K"
    }
    return "\u{1B}[H" + shown.joined(separator: "\r\n") + "\u{1B}[J"
  }

  /// Returns a duration in words: `2 d 3 h`, `2 h 13 min`, `13 min 5 s` or `5 s`.
  static func upTime(_ nanoseconds: Int64) -> String {
    let seconds = max(0, nanoseconds / 1_000_000_000)
    return switch seconds {
    case 86_400...: "\(seconds / 86_400) d \(seconds / 3_600 % 24) h"
    case 3_600...: "\(seconds / 3_600) h \(seconds / 60 % 60) min"
    case 60...: "\(seconds / 60) min \(seconds % 60) s"
    default: "\(seconds) s"
    }
  }
}

extension TopScreen.Line.Style {
  fileprivate var begin: String {
    switch self {
    case .plain: ""
    case .heading: "\u{1B}[7m"
    case .warning: "\u{1B}[33m"
    case .alarm: "\u{1B}[1;41;97m"
    }
  }
}
