import Service
import Wire

/// A message for one receiver, as it is kept until the receiver has taken it.
struct NoticeMessage: Sendable, Codable, Equatable {
  /// The identification, by which a receiver recognises a message that it gets twice.
  var id: String
  var receiver: String
  var stage: NoticeStage
  var condition: NoticeCondition
  /// The seconds since the condition began; for `over` the seconds for which it lasted.
  var seconds: Int64
  var times: Int
  /// The number of messages that the receiver did not get before this one, because of its limit or because they were
  /// dropped.
  var missing: Int
  /// The time of day as the API writes it, or `nil` if it was not confirmed.
  var timeISO: String?
  /// The name of the machine.
  var host: String

  /// The subject, in one line: `robot: fault: the motors do not answer`.
  var title: String {
    let system = "\(condition.system): "
    return switch stage {
    case .begins, .happened: system + condition.text
    case .stillSo: "\(system)still so after \(Self.text(ofSeconds: seconds)): \(condition.text)"
    case .comesAndGoes: "\(system)comes and goes, \(times) times so far: \(condition.text)"
    case .over:
      "\(system)over after \(Self.text(ofSeconds: seconds))\(times > 0 ? ", \(times) times" : ""): \(condition.text)"
    }
  }

  /// The text, a few lines: the title with the action that helps, the machine and the time.
  var text: String {
    var lines = [title]
    if stage != .over, let wayOut = condition.wayOut { lines.append("To go on: \(wayOut).") }
    lines.append("\(host), \(timeISO ?? "time of day unknown")")
    if missing > 0 { lines.append("\(missing) earlier \(missing == 1 ? "message was" : "messages were") not sent.") }
    return lines.joined(separator: "\n")
  }

  /// The message as JSON, for a webhook.
  var document: JSONValue {
    [
      "id": .text(id), "stage": .text(stage.rawValue), "kind": .text(condition.kind.rawValue),
      "system": .text(condition.system), "severity": .text(condition.severity.rawValue),
      "condition": .text(condition.id), "title": .text(title), "text": .text(text),
      "wayOut": condition.wayOut.map { .text($0) } ?? .null, "seconds": .number(String(seconds)),
      "times": .integer(times), "missing": .integer(missing), "host": .text(host),
      "timeISO": timeISO.map { .text($0) } ?? .null,
    ]
  }

  /// Returns a length of time in words of one or two units: `3 min`, `2 h 5 min`, `4 d 1 h`.
  static func text(ofSeconds seconds: Int64) -> String {
    let seconds = max(0, seconds)
    func pair(_ large: Int64, _ unit: String, _ small: Int64, _ smallUnit: String) -> String {
      small == 0 ? "\(large) \(unit)" : "\(large) \(unit) \(small) \(smallUnit)"
    }
    if seconds < 60 { return "\(seconds) s" }
    if seconds < 3600 { return "\(seconds / 60) min" }
    if seconds < 86_400 { return pair(seconds / 3600, "h", seconds / 60 % 60, "min") }
    return pair(seconds / 86_400, "d", seconds / 3600 % 24, "h")
  }
}

/// The outcome of one attempt to deliver a message, with the receiver's answer in words.
enum NoticeOutcome: Sendable, Equatable {
  case sent(String)
  /// The receiver was not reached, or asks to try later.
  case failed(String)
  /// The receiver does not want this message; it is tried only a few times more.
  case refused(String)

  var words: String {
    switch self {
    case .sent(let words), .failed(let words), .refused(let words): words
    }
  }
}
