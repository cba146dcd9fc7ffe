/// The keys of the messages to people.
extension ConfigTable {
  static let notifySection = ConfigSection(
    name: "notify",
    doc:
      "Who is told, and how, when something begins, lasts and is over: see docs/notify.md. Used when this section is present."
  )

  static let notifyLists = ["notify.receivers": 16, "notify.rules": 32]

  /// The lists whose number of items a reload may change.
  static let listsThatMayChange: Set<String> = ["notify.rules", "service.client_scopes"]

  static let notifyMeanings = [
    "notify.receivers": "Where messages go. Without one the conditions are only in /api/notices.",
    "notify.rules":
      "Which conditions go to which receivers; of several that fit the first counts. Unless given: everything from warning up goes to every receiver.",
  ]

  static let notify: [ConfigKey] =
    [
      ConfigKey(
        "notify.time_zone", .text, nil, "IANA time zone of quiet hours: Europe/Berlin. Unless given: this machine's."),
      ConfigKey(
        "notify.keep_hours", .integer(1...168), .integer(24),
        "Hours for which a message that cannot be delivered is kept and tried again."),
    ] + receivers + rules

  private static let receivers: [ConfigKey] = [
    ConfigKey("notify.receivers[].name", .text, nil, "Its name, 1…32 of A-Z a-z 0-9 . _ -; each receiver needs one."),
    ConfigKey(
      "notify.receivers[].kind", .choice(NotifyReceiver.Kind.allCases.map(\.rawValue)), .text("webhook"),
      "webhook (JSON by POST), ntfy (an ntfy server's topic) or mail (SMTP)."),
    ConfigKey(
      "notify.receivers[].url", .text, nil,
      "Of a webhook its address, of ntfy server and topic: https://ntfy.sh/my-topic. ${NAME} keeps a secret one out of the file."
    ),
    ConfigKey(
      "notify.receivers[].token", .secret, nil,
      "Bearer token of a webhook or of ntfy; ${NAME} takes it from the environment."),
    ConfigKey(
      "notify.receivers[].token_file", .secretFile, nil, "File with that token in its first line, in its place."),
    ConfigKey("notify.receivers[].server", .text, nil, "Name or address of the mail server."),
    ConfigKey(
      "notify.receivers[].port", .integer(1...65535), nil,
      "Its TCP port. Unless given: 587, with tls: tls 465, with tls: off 25."),
    ConfigKey(
      "notify.receivers[].tls", .choice(NotifyReceiver.TLS.allCases.map(\.rawValue)), .text("starttls"),
      "How the mail's way is protected: starttls, tls from the first byte, or off."),
    ConfigKey("notify.receivers[].user", .text, nil, "Account on the mail server; none unless given."),
    ConfigKey("notify.receivers[].password", .secret, nil, "Its password; ${NAME} takes it from the environment."),
    ConfigKey(
      "notify.receivers[].password_file", .secretFile, nil, "File with that password in its first line, in its place."),
    ConfigKey("notify.receivers[].from", .text, nil, "Sender's mail address."),
    ConfigKey("notify.receivers[].to", .texts, .texts([]), "Mail addresses of those who are told, at most 20."),
    ConfigKey(
      "notify.receivers[].most_an_hour", .integer(1...1000), .integer(20),
      "Messages in an hour at most. What is too much waits, the gravest first, and is said if it still lasts then."),
  ]

  private static let rules: [ConfigKey] = [
    ConfigKey(
      "notify.rules[].receivers", .texts, .texts([]), "Names of the receivers; [] means all.", mayChange: true),
    ConfigKey(
      "notify.rules[].kinds", .texts, .texts([]),
      "Kinds of conditions: \(NoticeKind.ruled.map(\.rawValue).joined(separator: ", ")); [] means all.", mayChange: true
    ),
    ConfigKey(
      "notify.rules[].systems", .texts, .texts([]), "Names of systems, or daemon; [] means all.", mayChange: true),
    ConfigKey(
      "notify.rules[].severity", .choice(NoticeSeverity.allCases.map(\.rawValue)), .text("warning"),
      "Least severity.", mayChange: true),
    ConfigKey(
      "notify.rules[].still_so_minutes", .integer(0...10080), .integer(720),
      "Minutes after which a condition that lasts is said again; 0 means never.", mayChange: true),
    ConfigKey(
      "notify.rules[].quiet_from", .text, nil, "Begin of quiet hours, HH:MM: '22:00'. Unless given: there are none.",
      mayChange: true),
    ConfigKey("notify.rules[].quiet_to", .text, nil, "End of quiet hours, HH:MM.", mayChange: true),
    ConfigKey(
      "notify.rules[].quiet_severity", .choice(["warning", "critical", "nothing"]), .text("critical"),
      "Least severity that is said in quiet hours nevertheless; the rest is said after them if it still lasts.",
      mayChange: true),
  ]
}
