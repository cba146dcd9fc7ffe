@_spi(FromOutside) import Conversions
import Pump
import Tactus
import TactusDaemon
import Wire

/// The pump's values for documents and metrics, in either role; values that the role does not have are `nil`.
public struct PumpSeen: Sendable {
  /// The values of `state` in the API.
  enum StateWord: String, Word {
    case unknown, off, starting, on, fault, emergencyStopped, shutDown
  }

  /// The values of the state in metrics.
  enum MetricWord: String, Word {
    case unknown, off, starting, on, fault
    case emergencyStopped = "emergency_stopped"
    case shutDown = "shut_down"
  }

  struct Counters: Sendable {
    var connections, dropped, failures: Int64?
    var lines, malformed, sent, sendFailures: Int64
    var outputFailures, inputFailures: Int64?
    var accepted, ignored: Int64
    var lastMalformed, lastFailure, lastIgnored: String?
  }

  /// The pump's state, its reason and the action that helps; part of the document, of every change and of every answer.
  struct Doing: Sendable {
    let state: StateWord
    let reason: String
    let fault, wayOut: String?
    let offConfirmed: Bool?
    let source: String?

    init(_ pump: PumpOperatorState, by source: PumpControlSource?) {
      (state, reason, wayOut, offConfirmed) = (pump.word, "\(pump)", pump.wayOut, pump.off?.isConfirmed)
      fault = if case .fault(let fault, _) = pump { fault.name } else { nil }
      self.source = source.map { "\($0)" }
    }

    init(_ pump: PumpDeviceState, by source: PumpControlSource?) {
      (state, reason, wayOut, offConfirmed) = (pump.word, "\(pump)", pump.wayOut, pump.off?.isConfirmed)
      fault = if case .error(let cause, _) = pump { cause.name } else { nil }
      self.source = source.map { "\($0)" }
    }

    @DeclarationBuilder<Field<Doing>> static var fields: [Field<Doing>] {
      Field("state", \.state, when: .state, metric: .none, "What the pump does.")
      Field("reason", \.reason, when: .state, "The state in words: what it does and why.")
      Field("fault", \.fault, when: .state, "The cause of a fault: `run-limit`, `overheat`, `sensor-fault` and so on.")
      Field("wayOut", \.wayOut, when: .state, "What makes it usable again; null when it is.")
      Field(
        "offConfirmed", \.offConfirmed, when: .state, metric: .none,
        "Whether the pump has confirmed the off that is in force; null where it need not be off.")
      Field(
        "source", \.source, when: .state,
        "Who brought it there: a command, its button, its own limits, a rule of the daemon; null: not known.")
    }
  }

  let doing: Doing
  let contact: String
  let role: Pump.Role
  var links: [PumpLinkReport]
  let speed: PumpSpeed?
  let water, skin, single: PumpReading
  let temperaturesAge: Nanoseconds?
  let runtimeMinutes, remainingMinutes: Int?
  let statusAge: Nanoseconds?
  let spent: Nanoseconds
  let left, untilRested, untilOff: Nanoseconds?
  let counters: Counters
  /// Whether the pump answers, in the operator role; `nil` in the device role.
  let isAnswering: Bool?
  /// Whether an operator is connected, in the device role; `nil` in the operator role.
  let isConnected: Bool?

  init(_ state: PumpState, links: [PumpLinkReport] = []) {
    switch state {
    case .operated(let snapshot): self.init(snapshot, links)
    case .own(let snapshot): self.init(snapshot, links)
    }
  }

  private init(_ newest: PumpSnapshot, _ links: [PumpLinkReport]) {
    doing = Doing(newest.state, by: newest.source)
    (contact, role, self.links) = (newest.contact.name, .operator, links)
    speed = newest.speed?.speed
    let temperatures = newest.temperatures
    (water, skin, single) = (temperatures.water, temperatures.skin, temperatures.single)
    temperaturesAge = newest.temperaturesAt.map { newest.at - $0 }
    runtimeMinutes = newest.status?.runtimeMinutes.map { Int($0) }
    remainingMinutes = newest.status?.remainingMinutes.map { Int($0) }
    statusAge = newest.statusAt.map { newest.at - $0 }
    (spent, left) = (newest.spent, newest.left)
    untilRested = newest.restedAt.map { max(.zero, $0 - newest.at) }
    untilOff = newest.runEnds.map { max(.zero, $0 - newest.at) }
    counters = Counters(
      connections: newest.connections, dropped: newest.dropped, failures: newest.failures, lines: newest.lines,
      malformed: newest.malformed, sent: newest.sent, sendFailures: newest.sendFailures, accepted: newest.accepted,
      ignored: newest.ignored, lastMalformed: newest.lastMalformed.map { "\($0)" },
      lastFailure: newest.lastFailure.map { "\($0)" }, lastIgnored: newest.lastIgnored?.code.lowercased())
    (isAnswering, isConnected) = (newest.contact.isAnswering, nil)
  }

  private init(_ newest: PumpDeviceSnapshot, _ links: [PumpLinkReport]) {
    doing = Doing(newest.state, by: newest.source)
    (contact, role, self.links) = (PumpContact.answering.name, .device, links)
    speed = if case .on(let speed) = newest.state { speed } else { nil }
    (water, skin, single) = (newest.water, newest.skin, .absent)
    (temperaturesAge, runtimeMinutes, remainingMinutes, statusAge) = (nil, nil, nil, nil)
    (spent, left) = (newest.spent, newest.left)
    untilRested = newest.restedAt.map { max(.zero, $0 - newest.at) }
    untilOff = newest.runEnds.map { max(.zero, $0 - newest.at) }
    counters = Counters(
      lines: newest.commands, malformed: newest.malformed, sent: newest.sent, sendFailures: newest.sendFailures,
      outputFailures: newest.outputFailures, inputFailures: newest.inputFailures, accepted: newest.accepted,
      ignored: newest.ignored, lastMalformed: newest.lastMalformed.map { "\($0)" },
      lastFailure: newest.lastOutputFailure.map { "\($0)" }, lastIgnored: newest.lastIgnored?.code.lowercased())
    (isAnswering, isConnected) = (nil, newest.isConnected)
  }

  /// The values stored in the history.
  var sample: PumpHistory.Sample {
    PumpHistory.Sample(
      speedPercent: speed.map { Double($0.percent) }, waterCelsius: water.measured?.celsius,
      skinCelsius: (skin.measured ?? single.measured)?.celsius)
  }

  /// The values that are known at present, or `nil` if the pump does not answer. Temperatures that are older than three of its answers are not
  /// known at present.
  var known: PumpHistory.Sample? {
    guard isAnswering ?? true else { return nil }
    var known = sample
    if let age = temperaturesAge, age > .seconds(15) { (known.waterCelsius, known.skinCelsius) = (nil, nil) }
    return known
  }
  /// Whether the pump is on, or was turned on and has not confirmed it yet.
  var isOn: Bool { doing.state == .on || doing.state == .starting }

  /// Returns the body of an event with one word and a reason.
  static func eventBody(_ name: String, _ word: String, reason: String) -> [UInt8] {
    JSONValue.object([.init(name: name, value: .text(word)), .init(name: "reason", value: .text(reason))]).bytes
  }

  // MARK: values of fields

  var speedDuty: Int? { speed.map { Int($0.duty) } }
  var speedPercent: Int? { speed.map { Int($0.percent) } }
  var waterCelsius: Double? { water.measured?.celsius }
  var skinCelsius: Double? { skin.measured?.celsius }
  var temperatureCelsius: Double? { single.measured?.celsius }
  var waterTrouble: String? { water.trouble }
  var skinTrouble: String? { skin.trouble }
  var temperatureTrouble: String? { single.trouble }
  var temperaturesAgeMs: Double? { temperaturesAge?.inMilliseconds.rounded() }
  var statusAgeMs: Double? { statusAge?.inMilliseconds.rounded() }
  var pumpedS: Double { spent.inSeconds }
  var leftS: Double? { left?.inSeconds }
  var restS: Double? { untilRested?.inSeconds }
  var untilOffS: Double? { untilOff?.inSeconds }
  /// The speed in metrics, 0…1; `nil` if it is not known, and in the device role also while the duty is 0.
  var speedRatio: Double? { speedDuty.flatMap { isAnswering == nil && $0 == 0 ? nil : Double($0) / 255 } }
  var metricState: MetricWord { MetricWord.allCases[StateWord.allCases.firstIndex(of: doing.state)!] }
  var isDevice: Bool { isAnswering == nil }
  var commandsSent: Int64? { isDevice ? nil : counters.sent }
  var commandsUnsent: Int64? { isDevice ? nil : counters.sendFailures }
  var repliesSent: Int64? { isDevice ? counters.sent : nil }
  var repliesUnsent: Int64? { isDevice ? counters.sendFailures : nil }
}

extension Pump: Sees {
  public static func seen(_ published: Published<PumpState>, _ look: Look<Pump>) -> PumpSeen {
    PumpSeen(published.state, links: look.shared(PumpLinkReports.self)?.now() ?? [])
  }

  @DeclarationBuilder<Field<PumpSeen>> public static var seenFields: [Field<PumpSeen>] {
    Field.part(\.doing, PumpSeen.Doing.fields)
    contact
    readings
    counters
    metrics
  }

  @DeclarationBuilder<Field<PumpSeen>> private static var contact: [Field<PumpSeen>] {
    Field(
      "contact", \.contact, when: .state,
      "The connection, and whether the pump answers on it; always answering where this machine is the pump.")
    Field(
      "role", \.role, when: .state, metric: .none, "What this program is: the operator of a pump, or the pump itself.")
    Items(
      "links", \.links, numbered: "kind", labels: [:], when: .state,
      "An operator's way to the pump; the ways by which others operate a pump that is this machine's."
    ) {
      Field("kind", \.kindWord, metric: .none, "serial, bluetooth, simulated.")
      Field("device", \.device, metric: .none, "`/dev/ttyUSB0`, `ble:HMSoft`, `hci0`; null: none one could name.")
      Field(
        "state", \.state, metric: .none, "Of a Bluetooth link: idle, scanning, connecting, connected, advertising, ….")
      Field("reason", \.reason, metric: .none, "Why there is no connection, as far as it is known.")
    }
  }

  @DeclarationBuilder<Field<PumpSeen>> private static var readings: [Field<PumpSeen>] {
    number(
      "speedDuty", \.speedDuty,
      "What the pump has taken, or the slowest that its report can mean; null: not known, or it does not run.")
    number("speedPercent", \.speedPercent, "The same in percent.")
    number("waterCelsius", \.waterCelsius, "°C; null: not known, see `waterTrouble`.")
    number("skinCelsius", \.skinCelsius, "°C; null: not known, see `skinTrouble`.")
    number("temperatureCelsius", \.temperatureCelsius, "°C, of a pump that has one sensor only.")
    Field(
      "waterTrouble", \.waterTrouble, when: .state,
      "Why the water's sensor has measured nothing, in words: it is open, shorted or cannot be read; null: it has, or there is none."
    )
    Field("skinTrouble", \.skinTrouble, when: .state, "The same of the skin's sensor.")
    Field("temperatureTrouble", \.temperatureTrouble, when: .state, "The same of a pump's only sensor.")
    number("temperaturesAgeMs", \.temperaturesAgeMs, "Age of the readings.")
    number("runtimeMinutes", \.runtimeMinutes, "As the pump said last.")
    number("remainingMinutes", \.remainingMinutes, "As the pump said last.")
    number("statusAgeMs", \.statusAgeMs, "Of what the pump said last.")
    number("pumpedS", \.pumpedS, "Seconds of pumping since the last rest.")
    number("leftS", \.leftS, "Seconds until the run limit; null: there is none.")
    number("untilOffS", \.untilOffS, "Seconds until a run that was ordered for some minutes ends; null: none was.")
    number("restS", \.restS, "Seconds until it has rested; null: it pumps, or needs no rest.")
  }

  @DeclarationBuilder<Field<PumpSeen>> private static var counters: [Field<PumpSeen>] {
    Group("counters", \.counters, when: .state, "Since the start; null: the role has none.") {
      count("connections", \.connections, "Connections; null where this machine is the pump.")
      count("lines", \.lines, "Lines that were replies; to the pump itself: commands.")
      count("malformed", \.malformed, "Lines that were none.")
      count("dropped", \.dropped, "Lines too long to be kept; null where this machine is the pump.")
      count("sent", \.sent, "Commands sent; by the pump itself: lines.")
      count("sendFailures", \.sendFailures, "Lines that the link did not take.")
      count("failures", \.failures, "Commands that came to nothing; null where this machine is the pump.")
      count(
        "outputFailures", \.outputFailures,
        "Times that the motor's output did not take its duty; null where this machine is not the pump.")
      count(
        "inputFailures", \.inputFailures,
        "Times that the button's line did not answer; null where this machine is not the pump.")
      count("accepted", \.accepted, "Requests obeyed.")
      count("ignored", \.ignored, "Requests that did nothing.")
      Field("lastMalformed", \.lastMalformed, "Why the last malformed line was none.")
      Field("lastFailure", \.lastFailure, "The last command, or write, that came to nothing.")
      Field("lastIgnored", \.lastIgnored, "Why the last ignored request was.")
    }
  }

  /// Returns a field that is only in the document, as metrics have different names.
  private static func number<Value: PlainNumber>(
    _ name: String, _ path: KeyPath<PumpSeen, Value?> & Sendable, _ meaning: String
  ) -> Field<PumpSeen> {
    Field(name, path, when: .state, metric: .none, entity: .none, meaning)
  }

  private static func number(
    _ name: String, _ path: KeyPath<PumpSeen, Double> & Sendable, _ meaning: String
  ) -> Field<PumpSeen> {
    Field(name, path, when: .state, metric: .none, entity: .none, meaning)
  }

  private static func count<Value: Plain>(
    _ name: String, _ path: KeyPath<PumpSeen.Counters, Value> & Sendable, _ meaning: String
  ) -> Field<PumpSeen.Counters> {
    Field(name, path, kind: .counter, metric: .none, entity: .none, meaning)
  }

  @DeclarationBuilder<Field<PumpSeen>> private static var metrics: [Field<PumpSeen>] {
    metric(
      "metricState", \.metricState, .named("state", label: "state"), "1 for the state the pump is in, 0 for the others."
    )
    metric("isAnswering", \.isAnswering, "answering", "Whether the pump answers.")
    metric(
      "speedRatio", \.speedRatio, "speed_ratio", "The pump's duty, 0…1; absent while it does not run.")
    temperature("water", \.waterCelsius)
    temperature("skin", \.skinCelsius)
    temperature("single", \.temperatureCelsius)
    metric("pumpedSeconds", \.pumpedS, "pumped_seconds", "Pumped since the last rest.")
    metric("isConnected", \.isConnected, "connected", "Whether somebody is connected who could operate it.")
    counted("connectionsMade", \.counters.connections, "connections", "Connections to the pump.")
    counted(
      "linesHeard", \.counters.lines, "lines", "Lines from the pump that were replies, or to it that were commands.")
    counted("linesMalformed", \.counters.malformed, "malformed_lines", "Lines from the pump, or to it, that were none.")
    counted("linesDropped", \.counters.dropped, "dropped_lines", "Lines from the pump that were too long to be kept.")
    counted("commandsSent", \.commandsSent, "commands", "Commands sent to the pump.")
    counted("commandsUnsent", \.commandsUnsent, "unsent_commands", "Commands that the line did not take.")
    counted("commandsFailed", \.counters.failures, "failed_commands", "Commands that came to nothing.")
    counted("repliesSent", \.repliesSent, "replies", "Lines that the pump has sent.")
    counted("repliesUnsent", \.repliesUnsent, "unsent_replies", "Lines that no link took.")
    counted(
      "outputsFailed", \.counters.outputFailures, "output_failures",
      "Times that the motor's output did not take its duty.")
    counted("inputsFailed", \.counters.inputFailures, "input_failures", "Times that the inputs did not answer.")
    counted("requestsAccepted", \.counters.accepted, "accepted_requests", "Requests that were obeyed.")
    counted("requestsIgnored", \.counters.ignored, "ignored_requests", "Requests that did nothing.")
  }

  private static func metric<Value: Plain>(
    _ name: String, _ path: KeyPath<PumpSeen, Value> & Sendable, _ metric: FieldMetric, _ meaning: String
  ) -> Field<PumpSeen> { Field(name, path, when: .metrics, metric: metric, entity: .none, meaning) }

  private static func counted<Value: Plain>(
    _ name: String, _ path: KeyPath<PumpSeen, Value> & Sendable, _ metric: FieldMetric, _ meaning: String
  ) -> Field<PumpSeen> { Field(name, path, kind: .counter, when: .metrics, metric: metric, entity: .none, meaning) }

  private static func temperature(
    _ sensor: String, _ path: KeyPath<PumpSeen, Double?> & Sendable
  ) -> Field<PumpSeen> {
    Field(
      "\(sensor)Measured", path, when: .metrics,
      metric: .named("temperature_celsius", label: "sensor", value: sensor), entity: .none,
      "What a sensor measures; absent while unknown, or while it is open or shorted.")
  }
}

extension PumpOperatorState {
  var word: PumpSeen.StateWord {
    switch self {
    case .unknown: .unknown
    case .off: .off
    case .starting: .starting
    case .on: .on
    case .fault: .fault
    case .emergencyStopped: .emergencyStopped
    case .shutDown: .shutDown
    }
  }
}

extension PumpDeviceState {
  var word: PumpSeen.StateWord {
    switch self {
    case .off: .off
    case .on: .on
    case .error: .fault
    case .emergencyStopped: .emergencyStopped
    case .shutDown: .shutDown
    }
  }
}
