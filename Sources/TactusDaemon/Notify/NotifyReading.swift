@_spi(FromOutside) import Conversions
import Foundation
import Service

/// Reads the items of `notify` and collects their errors. No message contains an address of a receiver or a secret.
struct NotifyReading {
  let given: GivenValues
  private(set) var flaws: [Configuration.Notify.Flaw] = []

  init(given: GivenValues) { self.given = given }

  mutating func report(_ key: String, _ message: String) {
    flaws.append(Configuration.Notify.Flaw(key: key, message: message))
  }

  mutating func checkNames(_ names: [String]) {
    for (index, name) in names.enumerated() where names.firstIndex(of: name) != index {
      report("notify.receivers[\(index)].name", "expected another name for each receiver, got '\(name)' again")
    }
  }

  /// Reads one receiver. Returns `nil` after an error, and for an item that gives nothing but defaults, as the
  /// reference has it.
  mutating func receiver(_ path: String) -> NotifyReceiver? {
    let telling = ["name", "url", "token", "token_file", "server", "user", "password", "password_file", "from"]
    guard telling.contains(where: { given.values["\(path).\($0)"] != nil }) else { return nil }
    let before = flaws.count
    let kind = NotifyReceiver.Kind(rawValue: given.text(path + ".kind")) ?? .webhook
    let name = given.optionalText(path + ".name")
    if name.map(Self.isName) != true {
      report(path + ".name", "expected 1…32 of A-Z a-z 0-9 . _ -, got \(name.map { "'\($0)'" } ?? "none")")
    }
    refuseForeign(path, kind)
    let way: NotifyReceiver.Way?
    switch kind {
    case .webhook: way = place(path).map { .webhook($0) }
    case .ntfy: way = ntfy(path)
    case .mail: way = mail(path).map { .mail($0) }
    }
    let stem = kind == .mail ? "password" : "token"
    let (secret, file) = (given.optionalText("\(path).\(stem)"), given.secretFile("\(path).\(stem)_file"))
    if secret != nil, file != nil {
      report("\(path).\(stem)_file", "expected one of \(stem) and \(stem)_file, got both")
    }
    if let secret, !Self.isSecret(secret, of: kind) {
      report("\(path).\(stem)", "expected visible characters, got others")
    }
    checkProtection(path, way, hasSecret: secret != nil || file != nil)
    guard flaws.count == before, let way, let name else { return nil }
    return NotifyReceiver(
      name: name, way: way, secret: secret, secretFile: file, mostAnHour: given.integer(path + ".most_an_hour"))
  }

  /// Reads one rule. A word that is wrong is reported and left out.
  mutating func rule(_ path: String) -> NoticeRule {
    var rule = NoticeRule()
    rule.receivers = given.texts(path + ".receivers")
    for word in given.texts(path + ".kinds") {
      guard let kind = NoticeKind(rawValue: word), kind != .test else {
        let words = NoticeKind.ruled.map(\.rawValue).joined(separator: ", ")
        report(path + ".kinds", "expected one of \(words), got '\(word)'")
        continue
      }
      rule.kinds.append(kind)
    }
    rule.systems = given.texts(path + ".systems")
    rule.severity = NoticeSeverity(rawValue: given.text(path + ".severity")) ?? .warning
    let minutes = given.integer(path + ".still_so_minutes")
    rule.stillSoSeconds = minutes == 0 ? nil : Int64(minutes) * 60
    rule.quiet = quiet(path)
    return rule
  }

  private mutating func quiet(_ path: String) -> QuietHours? {
    let keys = [path + ".quiet_from", path + ".quiet_to"]
    let texts = keys.map { given.optionalText($0) }
    guard texts.contains(where: { $0 != nil }) else { return nil }
    var minutes: [Int] = []
    for (key, text) in zip(keys, texts) {
      guard let text else {
        report(key, "expected a time of day with \(key == keys[0] ? "quiet_to" : "quiet_from"), got none")
        continue
      }
      guard let minute = QuietHours.minute(text) else {
        report(key, "expected a time of day 00:00…23:59 in quotation marks, got '\(text)'")
        continue
      }
      minutes.append(minute)
    }
    guard minutes.count == 2 else { return nil }
    if minutes[0] == minutes[1] {
      report(keys[1], "expected another time than quiet_from, got the same")
      return nil
    }
    return QuietHours(
      from: minutes[0], to: minutes[1], exceptFrom: NoticeSeverity(rawValue: given.text(path + ".quiet_severity")))
  }

  /// Reports keys that belong to another kind of receiver.
  private mutating func refuseForeign(_ path: String, _ kind: NotifyReceiver.Kind) {
    let ofMail = ["server", "port", "tls", "user", "password", "password_file", "from", "to"]
    let ofOthers = ["url", "token", "token_file"]
    for key in kind == .mail ? ofOthers : ofMail where given.values["\(path).\(key)"] != nil {
      report("\(path).\(key)", "expected no such key with kind \(kind.rawValue), got one")
    }
  }

  private mutating func place(_ path: String) -> NotifyReceiver.Place? {
    let key = path + ".url"
    guard let text = given.optionalText(key) else {
      report(key, "expected an address http://… or https://…, got none")
      return nil
    }
    let start = text.hasPrefix("https://") ? 8 : text.hasPrefix("http://") ? 7 : 0
    let rest = text.dropFirst(start)
    let end = rest.firstIndex { $0 == "/" || $0 == "?" } ?? rest.endIndex
    var tail = String(rest[end...])
    if !tail.hasPrefix("/") { tail = "/" + tail }
    let isPlain = tail.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "#") } && text.utf8.count <= 2000
    guard start > 0, isPlain, let address = ServiceAddress(String(text[..<end]), port: start == 8 ? 443 : 80) else {
      // The value may contain a secret.
      report(
        key,
        "expected an address http://HOST/PATH or https://HOST/PATH without user, fragment and spaces, got another text")
      return nil
    }
    return NotifyReceiver.Place(address: address, path: tail)
  }

  private mutating func ntfy(_ path: String) -> NotifyReceiver.Way? {
    guard let place = place(path) else { return nil }
    let parts = place.path.split(separator: "/", omittingEmptySubsequences: true)
    guard let topic = parts.last, parts.count == 1, Self.isName(String(topic), most: 64) else {
      report(path + ".url", "expected https://SERVER/TOPIC with one topic of A-Z a-z 0-9 _ -, got another path")
      return nil
    }
    return .ntfy(NotifyReceiver.Place(address: place.address, path: "/"), topic: String(topic))
  }

  private mutating func mail(_ path: String) -> NotifyReceiver.Mail? {
    let tls = NotifyReceiver.TLS(rawValue: given.text(path + ".tls")) ?? .starttls
    let standard = tls == .tls ? 465 : tls == .off ? 25 : 587
    let server = given.optionalText(path + ".server") ?? ""
    if ServiceAddress(server, port: 25)?.host != server {
      report(
        path + ".server", "expected a name or an address without a port, got \(server.isEmpty ? "none" : "'\(server)'")"
      )
    }
    let from = given.optionalText(path + ".from") ?? ""
    if !MailAddress.isPlain(from) {
      report(path + ".from", "expected a mail address NAME@DOMAIN, got \(from.isEmpty ? "none" : "another text")")
    }
    let to = given.texts(path + ".to")
    if !(1...20).contains(to.count) { report(path + ".to", "expected 1…20 mail addresses, got \(to.count)") }
    if !to.allSatisfy(MailAddress.isPlain) {
      report(path + ".to", "expected mail addresses NAME@DOMAIN, got another text")
    }
    let user = given.optionalText(path + ".user")
    let hasPassword = given.values[path + ".password"] != nil || given.values[path + ".password_file"] != nil
    if (user != nil) != hasPassword {
      report(
        path + (user != nil ? ".user" : ".password"),
        user != nil ? "expected password or password_file with it, got none" : "expected user with it, got none")
    }
    return NotifyReceiver.Mail(
      server: server, port: given.optionalInteger(path + ".port") ?? standard, tls: tls, user: user, from: from, to: to)
  }

  /// Reports what needs TLS in a build without it, and a secret that would cross a network in the clear.
  private mutating func checkProtection(_ path: String, _ way: NotifyReceiver.Way?, hasSecret: Bool) {
    let unbuilt = "this program was built without TLS (the trait TLS)"
    switch way {
    case .webhook(let place)?, .ntfy(let place, _)?:
      if place.address.isSecure, !Configuration.Notify.hasTLS {
        report(path + ".url", "expected an http:// address, since \(unbuilt)")
      }
      if !place.address.isSecure, hasSecret, !Configuration.isLoopback(place.address.host) {
        report(path + ".url", "expected https:// with a token, since it would cross the network in the clear")
      }
    case .mail(let mail)?:
      if mail.tls != .off, !Configuration.Notify.hasTLS {
        report(path + ".tls", "expected off, since \(unbuilt); got \(mail.tls.rawValue)")
      }
      if mail.tls == .off, hasSecret, !Configuration.isLoopback(mail.server) {
        report(path + ".tls", "expected starttls or tls with a password, since it would cross the network in the clear")
      }
    case nil: break
    }
  }

  static func isName(_ name: String) -> Bool { isName(name, most: 32) }

  private static func isName(_ name: String, most: Int) -> Bool {
    (1...most).contains(name.utf8.count)
      && name.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) }
  }

  /// Returns whether a text can be a secret. The secret of a header must be visible ASCII; that of a mail account may
  /// be any text without control characters.
  static func isSecret(_ text: String, of kind: NotifyReceiver.Kind) -> Bool {
    guard !text.isEmpty, text.utf8.count <= 1000 else { return false }
    return text.utf8.allSatisfy { kind == .mail ? $0 >= 0x20 && $0 != 0x7F : $0 > 0x20 && $0 < 0x7F }
  }
}
