@_spi(FromOutside) import Conversions

/// The hours of the day in which fewer messages are sent. The end may be on the next day.
struct QuietHours: Sendable, Equatable {
  /// The first minute of the day, 0 to 1439, and the first one after the quiet hours.
  var from, to: Int
  /// The least severity of messages that are sent nevertheless, or `nil` if none are.
  var exceptFrom: NoticeSeverity?

  func contains(minute: Int) -> Bool {
    from <= to ? (from..<to).contains(minute) : minute >= from || minute < to
  }

  /// Returns the minute of the day of a text such as `22:30`, or `nil` if the text is not a time of day.
  static func minute(_ text: String) -> Int? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 2, parts.allSatisfy({ (1...2).contains($0.utf8.count) && $0.utf8.allSatisfy(isDigit) }),
      parts[1].utf8.count == 2, let hour = Int(parts[0]), let minute = Int(parts[1]), hour < 24, minute < 60
    else { return nil }
    return hour * 60 + minute
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}

/// A rule that determines which conditions are reported to which receivers, and when.
struct NoticeRule: Sendable, Equatable {
  /// The names of the receivers; empty for all of them.
  var receivers: [String] = []
  /// The kinds that the rule applies to; empty for all of them.
  var kinds: [NoticeKind] = []
  /// The systems that the rule applies to; empty for all of them.
  var systems: [String] = []
  var severity = NoticeSeverity.warning
  /// The time after which a condition that lasts is reported again, in seconds, or `nil` if it is reported once.
  var stillSoSeconds: Int64?
  var quiet: QuietHours?

  /// Returns whether a condition is reported to a receiver by this rule. A system's kind in `systems` includes its
  /// instances: `kettle` includes `kettle/left`.
  func applies(to condition: NoticeCondition, for receiver: String) -> Bool {
    (receivers.isEmpty || receivers.contains(receiver)) && (kinds.isEmpty || kinds.contains(condition.kind))
      && (systems.isEmpty
        || systems.contains { condition.system == $0 || condition.system.hasPrefix($0 + "/") })
      && condition.severity >= severity
  }
}

/// The rules in effect, and the receivers, each with its greatest number of messages in an hour.
struct NoticeRules: Sendable, Equatable {
  var receivers: [String: Int] = [:]
  var rules: [NoticeRule] = []

  /// Returns the first rule by which a condition is reported to a receiver, or `nil` if there is none.
  func rule(for condition: NoticeCondition, to receiver: String) -> NoticeRule? {
    rules.first { $0.applies(to: condition, for: receiver) }
  }
}
