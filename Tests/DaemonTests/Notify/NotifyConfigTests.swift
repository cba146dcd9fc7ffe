import DaemonSupport
import Testing

@testable import TactusDaemon

@Suite("configuration of messages to people")
struct NotifyConfigTests {
  private static let mail =
    "name: m, kind: mail, server: localhost, tls: off, from: pi@example.org, to: [me@example.org]"

  @Test("a whole section: receivers and rules as they stand")
  func whole() throws {
    let text = """
      robot:
      notify:
        receivers:
          - { name: hook, url: 'http://127.0.0.1:9/a?b=c', token: '${T}' }
          - { name: phone, kind: ntfy, url: 'http://127.0.0.1/topic' }
          - { \(Self.mail), user: u, password: p, most_an_hour: 3 }
        rules:
          - { receivers: [phone], kinds: [fault], systems: [robot], severity: critical, still_so_minutes: 0, quiet_from: '22:00', quiet_to: '7:30' }
      """.replacing("robot:\n", with: "motors: { }\n")
    let notify = try #require(try read(text, environment: ["T": "secret"]).notify)
    #expect(notify.receivers.map(\.name) == ["hook", "phone", "m"] && notify.receivers[0].secret == "secret")
    #expect(notify.noticeRules.receivers["m"] == 3)
    guard case .webhook(let place) = notify.receivers[0].way, case .ntfy(_, "topic") = notify.receivers[1].way else {
      Issue.record("\(notify.receivers)")
      return
    }
    #expect(place.path == "/a?b=c" && place.address.port == 9)
    #expect(notify.rules.map(\.stillSoSeconds) == [nil])
    #expect(notify.rules[0].quiet == QuietHours(from: 1320, to: 450, exceptFrom: .critical))
  }

  @Test("no rules: everything from warning up goes to all")
  func standard() throws {
    #expect(try read("notify:").notify?.rules == [NoticeRule(stillSoSeconds: 43_200)])
    #expect(try read("motors:").notify == nil)
  }

  @Test(
    "errors: with line and key, and never with an address or a secret",
    arguments: [
      ("receivers: [{ url: 'http://h/' }]", "notify.receivers[0].name: expected 1…32 of A-Z a-z 0-9 . _ -, got none"),
      ("receivers: [{ name: a, url: 'ftp://hush' }]", "notify.receivers[0].url: expected an address http://HOST/PATH"),
      ("receivers: [{ name: a, url: 'http://u:hush@h/' }]", "notify.receivers[0].url: expected an address"),
      ("receivers: [{ name: a, url: \"http://h/\\r\\nX: hush\" }]", "notify.receivers[0].url: expected an address"),
      (
        "receivers: [{ name: a, url: 'http://h/', token: \"hush\\r\\nX: y\" }]",
        "notify.receivers[0].token: expected visible"
      ),
      (
        "receivers: [{ name: a, url: 'http://h/x', token: hush }]",
        "notify.receivers[0].url: expected https:// with a token"
      ),
      (
        "receivers: [{ name: a, url: 'http://h/' }, { name: a, url: 'http://h/' }]",
        "notify.receivers[1].name: expected another name"
      ),
      (
        "receivers: [{ name: a, kind: ntfy, url: 'http://h/x/y' }]",
        "notify.receivers[0].url: expected https://SERVER/TOPIC"
      ),
      (
        "receivers: [{ name: a, kind: mail, tls: off, server: localhost, from: \"a@b>\\r\\nX\", to: [c@d] }]",
        "notify.receivers[0].from: expected a mail address"
      ),
      ("receivers: [{ \(mail), url: 'http://hush' }]", "notify.receivers[0].url: expected no such key with kind mail"),
      ("receivers: [{ \(mail), user: u }]", "notify.receivers[0].user: expected password"),
      ("rules: [{ receivers: [nobody] }]", "notify.rules[0].receivers: expected no name"),
      ("rules: [{ kinds: [flood] }]", "notify.rules[0].kinds: expected one of e-stop, fault"),
      ("rules: [{ systems: [boat] }]", "notify.rules[0].systems: expected one of daemon"),
      ("rules: [{ quiet_from: '25:00', quiet_to: '07:00' }]", "notify.rules[0].quiet_from: expected a time of day"),
      ("rules: [{ quiet_from: '22:00' }]", "notify.rules[0].quiet_to: expected a time of day with quiet_from"),
      ("time_zone: Mars/Olympus", "notify.time_zone: expected an IANA time zone"),
    ])
  func wrong(section: String, error: String) {
    let found = errors("notify: { \(section) }")
    #expect(found.contains { $0.hasPrefix("c.yaml:1:") && $0.contains(error) }, "\(found)")
    #expect(!found.contains { $0.contains("hush") }, "\(found)")
  }

  @Test("times of day", arguments: [("00:00", 0), ("7:05", 425), ("23:59", 1439)])
  func minutes(text: String, minute: Int) { #expect(QuietHours.minute(text) == minute) }

  @Test("what is no time of day", arguments: ["", "24:00", "7", "7:5", "-1:00", "07:60", "07:00:00", "９:00"])
  func noMinutes(text: String) { #expect(QuietHours.minute(text) == nil) }
}
