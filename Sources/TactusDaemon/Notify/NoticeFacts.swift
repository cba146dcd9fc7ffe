import Service
import Wire

/// Derives conditions from the daemon's own reports: the troubles of `GET /api/health`, loops that do not tick, and the
/// state documents of the systems.
///
/// A state document is read by the names of its members, those of a system of another package too: a text `fault`, a text
/// `alarm`, a text whose name ends in `Trouble`, a list of texts `alerts`, a `…Confirmed` that is false, `isFresh` that is
/// false, and a `state` with the name of a notice that is trouble.
struct NoticeFacts: Sendable {
  /// The part of one system's state that is read.
  struct System: Sendable {
    var name: String
    var state: JSONValue
    var isEmergencyStopped: Bool
    /// The words of the notices that are trouble, each with its sentence.
    var troubleWords: [String: String] = [:]
  }

  /// The greatest number of conditions of one system.
  static let most = 200

  /// Returns the conditions of one system.
  static func conditions(of system: System) -> [NoticeCondition] {
    var reader = StateReader(system: system.name)
    if system.isEmergencyStopped {
      reader.found.append(
        NoticeCondition(
          "\(system.name)/e-stop", .emergencyStop, system.name, .critical, "emergency stop",
          wayOut: "remove the danger, then reset"))
    }
    reader.read(system.state, path: system.name, label: "", depth: 0)
    if let word = system.state["state"]?.string, let sentence = system.troubleWords[word], word != "fault" {
      reader.found.append(
        NoticeCondition(
          "\(system.name)/state/\(word)", .fault, system.name, .warning, "\(word): \(sentence)",
          wayOut: system.state["wayOut"]?.string))
    }
    // An alarm that is the reason of a fault is reported once.
    let faults = reader.found.filter { $0.kind == .fault }.map(\.text)
    reader.found.removeAll { one in one.kind == .alarm && faults.contains { $0.hasSuffix(one.text) } }
    return Array(reader.found.prefix(most))
  }

  /// Returns the conditions of the daemon itself.
  ///
  /// - Parameters:
  ///   - stalled: the loops that do not tick.
  ///   - isClockConfirmed: whether the time of day is confirmed.
  ///   - throttled: the bits of the firmware's `get_throttled`, or `nil` if the machine does not report them.
  static func conditions(
    stalled: [String], troubles: [ServiceTrouble], isClockConfirmed: Bool, throttled: Int?
  ) -> [NoticeCondition] {
    var found = stalled.map {
      NoticeCondition(
        "daemon/loop/\($0)", .loop, "daemon", .critical, "the control loop \($0) does not tick",
        wayOut: "look at the log and at `tactus top`; if it stays so, restart the daemon")
    }
    for trouble in troubles {
      let isGuard = trouble.code == "GUARD_LOST"
      found.append(
        NoticeCondition(
          "daemon/\(trouble.code)", isGuard ? .guard : .trouble, "daemon", isGuard ? .critical : .warning,
          trouble.message))
    }
    if !isClockConfirmed {
      found.append(
        NoticeCondition(
          "daemon/clock", .clock, "daemon", .warning, "the time of day is not confirmed, and schedules wait",
          wayOut: "connect the machine to a time server"))
    }
    if let throttled, throttled & 1 == 1 {
      found.append(
        NoticeCondition(
          "daemon/under-voltage", .power, "daemon", .warning, "the supply voltage is too low",
          wayOut: "use a stronger power supply or a shorter cable"))
    }
    return found
  }

  /// Returns the name of an item of a list, or else its number, or `nil` if it has neither.
  static func name(of item: JSONValue) -> String? {
    for key in ["name", "id", "index", "device"] {
      switch item[key] {
      case .text(let text) where !text.isEmpty: return String(text.prefix(60))
      case .number(let digits): return String(digits.prefix(20))
      default: continue
      }
    }
    return nil
  }

  /// Returns a name of a document in words: `emergencyStopped` is `emergency stopped`.
  static func readableName(of name: String) -> String {
    name.reduce(into: "") { $0 += $1.isUppercase ? " \($1.lowercased())" : "\($1)" }
  }

  /// Returns the trouble of a guard that cannot be replaced, or `nil` if there is none.
  static func lostGuard(_ health: GuardHealth) -> ServiceTrouble? {
    health.lostBecause.map {
      ServiceTrouble(
        code: "GUARD_LOST",
        message: "no guard can be had (\($0)), and every output is stopped; another is tried every second")
    }
  }

  /// Returns the occurrence of an event for subscribers, or `nil` if the event is no trouble.
  static func occurrence(_ event: Event) -> NoticeCondition? {
    guard event.kind == .edge else { return nil }
    if event.type == "madeSafe" {
      return NoticeCondition(
        "occurrence/guard", .guard, "daemon", .critical, "the guard has written the safe state of the outputs",
        wayOut: "look at the log for the reason, then reset")
    }
    guard event.type.hasSuffix(".notice"), let body = JSONValue(json: event.body),
      body["trouble"] == .boolean(true), let word = body["notice"]?.string
    else { return nil }
    return NoticeCondition(
      "occurrence/\(event.system)/\(word)", .occurrence, event.system, .warning, body["message"]?.string ?? word)
  }
}

/// Walks through a state document and collects conditions.
private struct StateReader {
  let system: String
  var found: [NoticeCondition] = []

  /// The states of a link that count as a condition.
  private static let downStates: Set<String> = ["waiting", "refused", "stopped", "lost", "failed", "closed"]
  /// The members that are no condition, or that the daemon reports in another way.
  private static let skipped: Set<String> = ["counters", "settings", "store", "clock", "chip", "statistics", "app"]

  mutating func read(_ value: JSONValue, path: String, label: String, depth: Int) {
    guard depth < 6, found.count < NoticeFacts.most else { return }
    switch value {
    case .object(let members):
      for member in members where !Self.skipped.contains(member.name) {
        read(member, of: value, path: path, label: label)
        read(member.value, path: "\(path)/\(member.name)", label: label, depth: depth + 1)
      }
    case .list(let items):
      for (index, item) in items.enumerated() {
        guard case .object = item else { continue }
        let name = NoticeFacts.name(of: item) ?? "\(index)"
        read(item, path: "\(path)/\(name)", label: label.isEmpty ? name : "\(label), \(name)", depth: depth + 1)
      }
    default: break
    }
  }

  private mutating func read(_ member: JSONValue.Member, of object: JSONValue, path: String, label: String) {
    let name = member.name
    switch member.value {
    case .text(let text):
      switch name {
      case "fault" where !Self.isNothing(text):
        add("fault", .fault, .critical, "fault: \(text)", object, path, label)
      case "state" where text == "fault" && (object["fault"]?.string ?? "").isEmpty:
        add("fault", .fault, .critical, object["reason"]?.string ?? "fault", object, path, label)
      case "alarm" where !Self.isNothing(text): add(name, .alarm, .critical, text, object, path, label)
      case "trouble" where !Self.isNothing(text), _ where name.hasSuffix("Trouble") && !Self.isNothing(text):
        add(name, .sensor, .warning, "\(Self.readableName(of: name)): \(text)", object, path, label)
      case "contact" where text == "silent" || text == "down":
        add(name, .link, .warning, "no contact (\(text))", object, path, label)
      case "state" where path.contains("/links/") && Self.downStates.contains(text):
        let why = object["reason"]?.string.map { ": \($0)" } ?? ""
        add("link", .link, .warning, "link \(text)\(why)", object, path, label)
      case "error" where text == "low battery":
        add("battery", .power, .warning, "the battery is low", object, path, label)
      default: break
      }
    case .boolean(false) where name.hasSuffix("Confirmed"):
      add(name, .unsafe, .critical, "the off of an output is not confirmed", object, path, label)
    case .boolean(false) where name == "isFresh" && object["ageMs"] != .null:
      let why = object["lastFailure"]?.string.map { ": \($0)" } ?? ""
      add(name, .sensor, .warning, "no new readings\(why)", object, path, label)
    case .boolean(true) where name == "active" && path.hasSuffix("/rainDelay"):
      guard object["reason"]?.string != "manual" else { return }
      add("rain", .rain, .info, "rain delay: \(object["detail"]?.string ?? "by the weather")", object, path, label)
    case .list(let items) where name == "alerts":
      for alert in items.compactMap(\.string).prefix(10) {
        add("alert/\(alert)", .alert, .warning, alert, object, path, label)
      }
    default: break
    }
  }

  private mutating func add(
    _ what: String, _ kind: NoticeKind, _ severity: NoticeSeverity, _ text: String, _ object: JSONValue, _ path: String,
    _ label: String
  ) {
    guard found.count < NoticeFacts.most else { return }
    found.append(
      NoticeCondition(
        "\(path)/\(what)", kind, system, severity, label.isEmpty ? text : "\(label): \(text)",
        wayOut: object["wayOut"]?.string))
  }

  private static func isNothing(_ text: String) -> Bool { text.isEmpty || text == "none" }

  /// Returns a name in words: `waterTrouble` is `water`.
  private static func readableName(of name: String) -> String {
    let stem = name.hasSuffix("Trouble") ? String(name.dropLast(7)) : name
    return NoticeFacts.readableName(of: stem)
  }
}
