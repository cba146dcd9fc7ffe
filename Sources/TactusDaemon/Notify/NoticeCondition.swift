/// The kind of a condition or an occurrence of which people are notified. The raw values are the words of `notify.rules[].kinds`.
enum NoticeKind: String, Sendable, Codable, CaseIterable {
  case emergencyStop = "e-stop"
  case fault
  /// An output whose safe state is not confirmed.
  case unsafe
  /// A control loop that does not tick.
  case loop
  /// The guard is lost, or has written a safe state.
  case `guard`
  /// A part of the daemon that does not work, which `GET /api/health` names.
  case trouble
  /// An alarm of a system: no water, a leak.
  case alarm
  /// An alert of a plant: dry, silent.
  case alert
  case link
  case sensor
  case rain
  case power
  case clock
  /// The daemon has started after a crash or a power cut.
  case start
  /// An occurrence that a system declares as trouble.
  case occurrence
  case test

  /// The kinds that a rule may name. A test reaches its receiver without a rule.
  static let ruled = allCases.filter { $0 != .test }

  /// The time for which a condition must last before it is reported, in seconds.
  var holdSeconds: Int64 {
    switch self {
    case .emergencyStop, .fault, .loop, .alarm, .start, .occurrence, .test: 0
    case .unsafe, .guard, .trouble, .alert, .rain, .power: 5
    case .link, .sensor: 30
    case .clock: 900
    }
  }
}

/// The severity of a condition, in rising order.
enum NoticeSeverity: String, Sendable, Codable, CaseIterable, Comparable {
  case info, warning, critical

  private var rank: Int { self == .info ? 0 : self == .warning ? 1 : 2 }

  static func < (left: Self, right: Self) -> Bool { left.rank < right.rank }
}

/// A condition that begins, lasts and ends, or an occurrence that only happens.
struct NoticeCondition: Sendable, Codable, Equatable {
  /// The identification, which stays the same while the condition lasts: `robot/fault`.
  var id: String
  var kind: NoticeKind
  /// The name of the system, or `daemon`.
  var system: String
  var severity: NoticeSeverity
  /// The condition in words, without the system's name.
  var text: String
  /// The action that ends the condition, or `nil` if none is known.
  var wayOut: String?

  /// The greatest length of a text that is kept and sent, in characters; longer ones are cut.
  static let longest = 400

  init(
    _ id: String, _ kind: NoticeKind, _ system: String, _ severity: NoticeSeverity, _ text: String,
    wayOut: String? = nil
  ) {
    (self.id, self.kind, self.system, self.severity) = (id, kind, system, severity)
    self.text = String(text.prefix(Self.longest))
    self.wayOut = wayOut.map { String($0.prefix(Self.longest)) }
  }
}
