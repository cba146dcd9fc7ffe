import Pump
import Service
import Tactus
import Wire

/// What the pump does, why, and what to do about it: of its document and of every change.
struct PumpStateDocument: Encodable {
  /// unknown, off, starting, on, fault, emergencyStopped, shutDown.
  let state: String
  let reason: String
  /// `overheat`, …
  @OrNull var fault: String?
  @OrNull var wayOut: String?
  /// Whether the pump has confirmed the off that is in force; null where it need not be off.
  @OrNull var offConfirmed: Bool?
  /// app, manual, device, host.
  @OrNull var source: String?

  init(_ pump: PumpOperatorState, source: PumpControlSource?) {
    state = pump.word
    reason = "\(pump)"
    if case .fault(let fault, _) = pump {
      _fault = OrNull(wrappedValue: fault.name)
    } else {
      _fault = OrNull(wrappedValue: nil)
    }
    _wayOut = OrNull(wrappedValue: pump.wayOut)
    _offConfirmed = OrNull(wrappedValue: pump.off?.isConfirmed)
    _source = OrNull(wrappedValue: source.map { "\($0)" })
  }
}

extension PumpStateDocument {
  /// Of a pump that is this machine's.
  init(_ pump: PumpDeviceState, source: PumpControlSource?) {
    state = pump.word
    reason = "\(pump)"
    if case .error(let cause, _) = pump {
      _fault = OrNull(wrappedValue: cause.name)
    } else {
      _fault = OrNull(wrappedValue: nil)
    }
    _wayOut = OrNull(wrappedValue: pump.wayOut)
    _offConfirmed = OrNull(wrappedValue: pump.off?.isConfirmed)
    _source = OrNull(wrappedValue: source.map { "\($0)" })
  }
}

/// The pump as `GET /api/pump` shows it.
struct PumpDocument: Encodable {
  struct Counters: Encodable {
    /// null where this machine is the pump.
    @OrNull var connections: Int64?
    let lines, malformed: Int64
    @OrNull var dropped: Int64?
    let sent, sendFailures: Int64
    @OrNull var failures: Int64?
    /// null where this machine is not the pump: of its motor's output, and of its sensors and its button.
    @OrNull var outputFailures: Int64?
    @OrNull var inputFailures: Int64?
    let accepted, ignored: Int64
    @OrNull var lastMalformed: String?
    @OrNull var lastFailure: String?
    /// `must_rest`, …: why the last of the ignored was.
    @OrNull var lastIgnored: String?
  }

  private let ok: Bool?
  private let monotonicNs: Int64?
  private let pump: PumpStateDocument
  /// down, waiting, answering, silent.
  private let contact: String
  /// What this program is: operator, device.
  private let role: String
  /// An operator's way to the pump; the ways to a pump that is this machine's.
  private let links: [PumpLinkReport]
  /// What the pump has taken, or the slowest that its report can mean.
  private let speedDuty: Int?
  private let speedPercent: Int?
  /// null: there is no such sensor, or it has trouble.
  private let waterCelsius, skinCelsius, temperatureCelsius: Double?
  /// Why a sensor has measured nothing, in words; null: it has, or there is none.
  private let waterTrouble, skinTrouble, temperatureTrouble: String?
  private let temperaturesAgeMs: Double?
  /// As the pump says.
  private let runtimeMinutes, remainingMinutes: Int?
  private let statusAgeMs: Double?
  /// Pumped since the last rest, what is left of the limit, and until it has rested.
  private let pumpedS: Double
  private let leftS: Double?
  private let restS: Double?
  private let counters: Counters

  private enum CodingKeys: CodingKey {
    case ok, monotonicNs, contact, role, links, speedDuty, speedPercent, waterCelsius, skinCelsius, temperatureCelsius
    case waterTrouble, skinTrouble, temperatureTrouble
    case temperaturesAgeMs, runtimeMinutes, remainingMinutes, statusAgeMs, pumpedS, leftS, restS, counters
  }

  /// `isEvent`: without the time, which an event carries itself.
  init(_ newest: PumpSnapshot, link: PumpLinkReport, isEvent: Bool = false, ok: Bool? = nil) {
    self.ok = ok
    monotonicNs = isEvent ? nil : newest.at.nanoseconds
    pump = PumpStateDocument(newest.state, source: newest.source)
    contact = newest.contact.name
    role = "operator"
    links = [link]
    speedDuty = newest.speed.map { Int($0.speed.duty) }
    speedPercent = newest.speed.map { Int($0.speed.percent) }
    let (water, skin, single) = (newest.temperatures.water, newest.temperatures.skin, newest.temperatures.single)
    (waterCelsius, waterTrouble) = (water.measured?.celsius, water.trouble)
    (skinCelsius, skinTrouble) = (skin.measured?.celsius, skin.trouble)
    (temperatureCelsius, temperatureTrouble) = (single.measured?.celsius, single.trouble)
    temperaturesAgeMs = newest.temperaturesAt.map { (newest.at - $0).inMilliseconds }
    runtimeMinutes = newest.status?.runtimeMinutes.map { Int($0) }
    remainingMinutes = newest.status?.remainingMinutes.map { Int($0) }
    statusAgeMs = newest.statusAt.map { (newest.at - $0).inMilliseconds }
    pumpedS = newest.spent.inSeconds
    leftS = newest.left?.inSeconds
    restS = newest.restedAt.map { max(.zero, $0 - newest.at).inSeconds }
    counters = Counters(
      connections: newest.connections, lines: newest.lines, malformed: newest.malformed, dropped: newest.dropped,
      sent: newest.sent, sendFailures: newest.sendFailures, failures: newest.failures, outputFailures: nil,
      inputFailures: nil, accepted: newest.accepted, ignored: newest.ignored,
      lastMalformed: newest.lastMalformed.map { "\($0)" },
      lastFailure: newest.lastFailure.map { "\($0)" }, lastIgnored: newest.lastIgnored?.code.lowercased())
  }

  /// Of a pump that is this machine's.
  init(_ newest: PumpDeviceSnapshot, links: [PumpLinkReport], isEvent: Bool = false, ok: Bool? = nil) {
    self.ok = ok
    monotonicNs = isEvent ? nil : newest.at.nanoseconds
    pump = PumpStateDocument(newest.state, source: newest.source)
    contact = PumpContact.answering.name
    role = "device"
    self.links = links
    if case .on(let speed) = newest.state {
      (speedDuty, speedPercent) = (Int(speed.duty), Int(speed.percent))
    } else {
      (speedDuty, speedPercent) = (nil, nil)
    }
    (waterCelsius, waterTrouble) = (newest.water.measured?.celsius, newest.water.trouble)
    (skinCelsius, skinTrouble) = (newest.skin.measured?.celsius, newest.skin.trouble)
    (temperatureCelsius, temperatureTrouble) = (nil, nil)
    (temperaturesAgeMs, runtimeMinutes, remainingMinutes, statusAgeMs) = (nil, nil, nil, nil)
    pumpedS = newest.spent.inSeconds
    leftS = newest.left.inSeconds
    restS = newest.restedAt.map { max(.zero, $0 - newest.at).inSeconds }
    counters = Counters(
      connections: nil, lines: newest.commands, malformed: newest.malformed, dropped: nil, sent: newest.sent,
      sendFailures: newest.sendFailures, failures: nil, outputFailures: newest.outputFailures,
      inputFailures: newest.inputFailures, accepted: newest.accepted, ignored: newest.ignored,
      lastMalformed: newest.lastMalformed.map { "\($0)" }, lastFailure: newest.lastOutputFailure.map { "\($0)" },
      lastIgnored: newest.lastIgnored?.code.lowercased())
  }

  func encode(to encoder: any Encoder) throws {
    try pump.encode(to: encoder)
    var object = encoder.container(keyedBy: CodingKeys.self)
    try object.encodeIfPresent(ok, forKey: .ok)
    try object.encodeIfPresent(monotonicNs, forKey: .monotonicNs)
    try object.encode(contact, forKey: .contact)
    try object.encode(role, forKey: .role)
    try object.encode(links, forKey: .links)
    try object.encode(speedDuty, forKey: .speedDuty)
    try object.encode(speedPercent, forKey: .speedPercent)
    try object.encode(waterCelsius, forKey: .waterCelsius)
    try object.encode(skinCelsius, forKey: .skinCelsius)
    try object.encode(temperatureCelsius, forKey: .temperatureCelsius)
    try object.encode(waterTrouble, forKey: .waterTrouble)
    try object.encode(skinTrouble, forKey: .skinTrouble)
    try object.encode(temperatureTrouble, forKey: .temperatureTrouble)
    try object.encode(temperaturesAgeMs, forKey: .temperaturesAgeMs)
    try object.encode(runtimeMinutes, forKey: .runtimeMinutes)
    try object.encode(remainingMinutes, forKey: .remainingMinutes)
    try object.encode(statusAgeMs, forKey: .statusAgeMs)
    try object.encode(pumpedS, forKey: .pumpedS)
    try object.encode(leftS, forKey: .leftS)
    try object.encode(restS, forKey: .restS)
    try object.encode(counters, forKey: .counters)
  }
}

extension PumpOperatorState {
  /// The value of `state` in the API.
  var word: String {
    switch self {
    case .unknown: "unknown"
    case .off: "off"
    case .starting: "starting"
    case .on: "on"
    case .fault: "fault"
    case .emergencyStopped: "emergencyStopped"
    case .shutDown: "shutDown"
    }
  }

  static let words = ["unknown", "off", "starting", "on", "fault", "emergencyStopped", "shutDown"]
}

extension PumpDeviceState {
  /// The value of `state` in the API.
  var word: String {
    switch self {
    case .off: "off"
    case .on: "on"
    case .error: "fault"
    case .emergencyStopped: "emergencyStopped"
    case .shutDown: "shutDown"
    }
  }
}
