import Foundation
import Service
import WallTime

/// A receiver of messages, as the file states it.
struct NotifyReceiver: Equatable, Sendable {
  enum Kind: String, CaseIterable { case webhook, ntfy, mail }
  enum TLS: String, CaseIterable { case off, starttls, tls }

  /// The address of a webhook or of an ntfy topic. It may contain a secret, and is never shown.
  struct Place: Equatable {
    var address: ServiceAddress
    /// The path with its query, which begins with a slash.
    var path: String
  }

  struct Mail: Equatable {
    var server: String
    var port: Int
    var tls: TLS
    var user: String?
    var from: String
    var to: [String]
  }

  enum Way: Equatable {
    case webhook(Place)
    case ntfy(Place, topic: String)
    case mail(Mail)
  }

  var name: String
  var way: Way
  /// The token or the password, which is secret; the one in `secretFile` after `readSecrets`.
  var secret: String?
  var secretFile: SecretFile?
  var mostAnHour: Int

  var kind: Kind {
    switch way {
    case .webhook: .webhook
    case .ntfy: .ntfy
    case .mail: .mail
    }
  }
}

extension Configuration {
  /// The settings of the messages to people.
  struct Notify: Equatable, Sendable {
    var receivers: [NotifyReceiver]
    var rules: [NoticeRule]
    /// The time zone of quiet hours, or `nil` for the machine's.
    var timeZone: String?
    var keepHours: Int
    /// The errors of the section, each with its key. A section with errors is never used.
    var flaws: [Flaw]

    struct Flaw: Equatable {
      var key, message: String
    }
  }
}

extension Configuration.Notify {
  /// Whether this build contains TLS.
  static var hasTLS: Bool { ServiceConfiguration.hasTLS }

  /// Reads the section. Returns `nil` if the file has no `notify` section.
  init?(_ found: ConfigReader.Result) {
    guard found.sections.contains("notify") else { return nil }
    let given = GivenValues(found)
    var reading = NotifyReading(given: given)
    receivers = (0..<(found.counts["notify.receivers"] ?? 0)).compactMap { reading.receiver("notify.receivers[\($0)]") }
    let count = found.counts["notify.rules"] ?? 0
    rules = (0..<count).map { reading.rule("notify.rules[\($0)]") }
    if count == 0 { rules = [NoticeRule(stillSoSeconds: 720 * 60)] }
    timeZone = given.optionalText("notify.time_zone")
    keepHours = given.integer("notify.keep_hours")
    if let timeZone, (try? ZoneRules(identifier: timeZone)) == nil {
      reading.report("notify.time_zone", "expected an IANA time zone such as Europe/Berlin, got '\(timeZone)'")
    }
    reading.checkNames(receivers.map(\.name))
    flaws = reading.flaws
  }

  /// Returns the errors of rules over more than one key, and of names that the file does not have.
  func errors(file: String, systems: [String], places: ConfigPlaces) -> [ConfigError] {
    var errors = flaws.map { places.error(file, $0.key, $0.message, alone: true) }
    let names = receivers.map(\.name)
    let known = systems + Set(systems.map { String($0.prefix { $0 != "/" }) }) + ["daemon"]
    for (index, rule) in rules.enumerated() where places.gives("notify.rules[\(index)]") {
      let path = "notify.rules[\(index)]"
      for name in rule.receivers where !names.contains(name) {
        errors.append(
          places.error(file, path + ".receivers", "expected \(Self.choice(names, "receivers")), got '\(name)'"))
      }
      for name in rule.systems where !known.contains(name) {
        errors.append(
          places.error(
            file, path + ".systems", "expected \(Self.choice(Set(known).sorted(), "systems")), got '\(name)'"))
      }
    }
    return errors
  }

  private static func choice(_ names: [String], _ what: String) -> String {
    names.isEmpty ? "no name, since there are no \(what)" : "one of " + names.joined(separator: ", ")
  }

  /// Reads the secrets that are in files. Done when the program starts, like the broker's password.
  mutating func readSecrets() throws(ConfigError) {
    for index in receivers.indices {
      guard let file = receivers[index].secretFile else { continue }
      let line = try file.read()
      guard NotifyReading.isSecret(line, of: receivers[index].kind) else {
        throw file.error("expected visible characters, got others")
      }
      receivers[index].secret = line
    }
  }

  /// The values that must never be logged.
  var secrets: [String] {
    receivers.compactMap(\.secret)
      + receivers.compactMap { receiver in
        switch receiver.way {
        case .webhook(let place): place.path.count > 8 ? place.path : nil
        case .ntfy(_, let topic): topic.count > 7 ? topic : nil
        case .mail: nil
        }
      }
  }

  /// The rules with the limits of the receivers, for the machine.
  var noticeRules: NoticeRules {
    NoticeRules(receivers: Dictionary(uniqueKeysWithValues: receivers.map { ($0.name, $0.mostAnHour) }), rules: rules)
  }

  /// The settings in words for people: `phone (ntfy), office (mail); 2 rules`.
  var summary: String {
    guard !receivers.isEmpty else { return "nobody; conditions are in /api/notices" }
    return receivers.map { "\($0.name) (\($0.kind.rawValue))" }.joined(separator: ", ") + "; "
      + (rules.count == 1 ? "one rule" : "\(rules.count) rules")
  }
}

extension Configuration {
  /// Returns the path of the file with the waiting messages and the record of sent ones. The file is in the store's
  /// folder, or else in that of the standard token file; a simulation has a separate one.
  func noticesPath(simulate: Bool, environment: [String: String]) -> String? {
    guard notify != nil else { return nil }
    func folder(_ path: String) -> String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }
    if let store = storePath(simulate: simulate, environment: environment) { return folder(store) + "/notices.json" }
    return Self.stateFolder(environment: environment) + (simulate ? "/simulated" : "") + "/notices.json"
  }
}
