import Leg
import Service
import Tactus
import TactusDaemon
import Wire

/// What a leg does, why, and what to do about it: of the legs' document, of telemetry and of every change.
struct LegStateDocument: Encodable {
  let index: Int
  let name: String
  /// disarmed, armed, fault, emergencyStopped, shutDown.
  let state: String
  let reason: String
  @OrNull var fault: String?
  @OrNull var wayOut: String?
  /// The pulse as commanded; null: none.
  @OrNull var pulseUs: Int?
  /// Where it is going.
  @OrNull var targetUs: Int?
  /// Armed, and nothing set since: it is not known where the servo is.
  let positionless: Bool
  /// Whether the chip has taken the off that is in force; null while there is a pulse.
  @OrNull var offConfirmed: Bool?

  init(_ leg: LegState, index: Int, name: String) {
    (self.index, self.name) = (index, name)
    state = leg.word
    reason = "\(leg)"
    if case .fault(let cause, _) = leg {
      _fault = OrNull(wrappedValue: "\(cause)")
    } else {
      _fault = .init(wrappedValue: nil)
    }
    _wayOut = OrNull(wrappedValue: leg.wayOut)
    if case .armed(.pulse(let motion)) = leg {
      _pulseUs = OrNull(wrappedValue: Int(motion.output.microseconds))
      _targetUs = OrNull(wrappedValue: Int(motion.target.microseconds))
    } else {
      (_pulseUs, _targetUs) = (OrNull(wrappedValue: nil), OrNull(wrappedValue: nil))
    }
    if case .armed(.waiting) = leg { positionless = true } else { positionless = false }
    _offConfirmed = OrNull(wrappedValue: leg.off?.isConfirmed)
  }
}

/// One leg as `GET /api/leg` shows it.
struct LegDocument: Encodable {
  struct Settings: Encodable {
    let channel: Int
    let lowestUs, centreUs, highestUs: Int
    let inverted: Bool
    let deadmanMs: Double
    @OrNull var slewUsPerS: Int64?
    @OrNull var releaseAfterMs: Double?
    let udpPort: Int
  }

  struct Counters: Encodable {
    let datagrams, malformed, accepted, ignored, clamped, reports, reportFailures: Int64
    /// `not_armed`, …: why the last of the ignored was.
    @OrNull var lastIgnored: String?
    @OrNull var lastMalformed: String?
  }

  private let leg: LegStateDocument
  /// Of the protocol: `none`, `deadman time-out`, …
  private let error: String
  private let ageMs: Double?
  private let deadlineNs: Int64?
  private let lastSender: String?
  private let links: [LegLinkDocument]
  private let batteryMv: Int?
  private let counters: Counters
  private let settings: Settings

  private enum CodingKeys: CodingKey {
    case error, ageMs, deadlineNs, lastSender, links, batteryMv, counters, settings
  }

  func encode(to encoder: any Encoder) throws {
    try leg.encode(to: encoder)
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encode(error, forKey: .error)
    try object.encode(ageMs, forKey: .ageMs)
    try object.encode(deadlineNs, forKey: .deadlineNs)
    try object.encode(lastSender, forKey: .lastSender)
    try object.encode(links, forKey: .links)
    try object.encode(batteryMv, forKey: .batteryMv)
    try object.encode(counters, forKey: .counters)
    try object.encode(settings, forKey: .settings)
  }

  /// - Parameter sender: the last of the service's clients that fed it.
  init(
    _ status: LegStatus, at: TickInstant, index: Int, description: LegDescription, links: [LegLinkDocument],
    sender: LegLinks.Sender?
  ) {
    leg = LegStateDocument(status.state, index: index, name: description.name)
    error = "\(status.telemetry.error)"
    ageMs = status.lastCommand.map { (at - $0).inMilliseconds }
    let limits = description.configuration.settings
    if case .armed = status.state {
      deadlineNs = status.lastCommand.map { ($0 + limits.deadmanTimeout).nanoseconds }
    } else {
      deadlineNs = nil
    }
    lastSender = status.sender(sender)
    self.links = links
    batteryMv = status.battery.map { Int($0.count) }
    counters = Counters(
      datagrams: status.datagrams, malformed: status.malformed, accepted: status.accepted, ignored: status.ignored,
      clamped: status.clamped, reports: status.reports, reportFailures: status.reportFailures,
      lastIgnored: status.lastIgnored?.word,
      lastMalformed: status.lastMalformed.map { "\($0)" })
    let channel = description.configuration.channel
    settings = Settings(
      channel: channel.number, lowestUs: Int(limits.lowest.microseconds), centreUs: Int(channel.centre.microseconds),
      highestUs: Int(limits.highest.microseconds), inverted: channel.isInverted,
      deadmanMs: limits.deadmanTimeout.inMilliseconds,
      slewUsPerS: limits.slewMicrosecondsPerSecond,
      releaseAfterMs: limits.releaseAfter?.inMilliseconds, udpPort: Int(description.port))
  }
}

/// All legs and their chip: what `GET /api/leg` answers.
struct LegsDocument: Encodable {
  struct Chip: Encodable {
    let ready: Bool
    let failures: Int64
    @OrNull var lastFailure: String?
    let writes, channelsWritten, configurations, retries: Int64
    /// Null: no line is wired to the pin.
    @OrNull var outputEnable: OutputEnable?

    init(_ chip: ServoBankStatus) {
      (ready, failures) = (chip.isReady, chip.failures)
      _lastFailure = OrNull(wrappedValue: chip.lastFailure.map { "\($0)" })
      (writes, channelsWritten) = (chip.writes, chip.channelsWritten)
      (configurations, retries) = (chip.configurations, chip.retries)
      _outputEnable = OrNull(wrappedValue: chip.hasEnableLine ? OutputEnable(chip) : nil)
    }
  }

  /// The line that lets the chip's pulses out.
  struct OutputEnable: Codable {
    /// Null: it does not answer.
    @OrNull var enabled: Bool?
    let failures: Int64
    @OrNull var lastFailure: String?

    init(_ chip: ServoBankStatus) {
      _enabled = OrNull(wrappedValue: chip.outputsEnabled)
      failures = chip.enableFailures
      _lastFailure = OrNull(wrappedValue: chip.lastEnableFailure.map { "\($0)" })
    }
  }

  /// The battery's sensor; the voltage is in the legs.
  struct Battery: Encodable {
    let sensor: Bool
    let readings, failures: Int64
    @OrNull var lastFailure: String?

    init(_ battery: LegBatteryStatus) {
      (sensor, readings, failures) = (battery.isConfigured, battery.readings, battery.failures)
      _lastFailure = OrNull(wrappedValue: battery.lastFailure.map { "\($0)" })
    }
  }

  /// Only in an answer of its own.
  var ok: Bool?
  let monotonicNs: Int64?
  /// The worst of the legs'.
  let state: String
  let legs: [LegDocument]
  let chip: Chip
  let battery: Battery
}

extension LegState {
  /// The value of `state` in the API.
  var word: String {
    switch self {
    case .disarmed: "disarmed"
    case .armed: "armed"
    case .fault: "fault"
    case .emergencyStopped: "emergencyStopped"
    case .shutDown: "shutDown"
    }
  }

  static let words = ["disarmed", "armed", "fault", "emergencyStopped", "shutDown"]

  /// nil while there is a pulse.
  var off: Confirmation? {
    switch self {
    case .disarmed(let off), .fault(_, let off), .emergencyStopped(let off), .shutDown(let off),
      .armed(.waiting(let off)), .armed(.released(_, let off)):
      off
    case .armed(.pulse): nil
    }
  }
}

extension LegStatus {
  /// `192.168.1.20:50000`, `local client 7`, `bluetooth`, `serial`: who was heard last.
  func sender(_ local: LegLinks.Sender?) -> String? {
    if let local, heardAt.map({ $0 < local.at }) ?? true { return "local client \(local.client)" }
    return switch lastLink {
    case nil: nil
    case .datagrams: lastSender.map { "\($0)" }
    case .bluetooth: "bluetooth"
    case .serial: "serial"
    }
  }
}
