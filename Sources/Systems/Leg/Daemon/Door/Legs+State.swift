@_spi(FromOutside) import Conversions
import Devices
import Leg
import Tactus
import TactusDaemon
import Wire

// The values of documents and metrics about the legs and their chip.

/// The state of a leg, its reason and the remedy, as shown in the legs' document, in answers and in every change.
struct LegShown: Sendable {
  enum Word: String, TactusDaemon.Word {
    case disarmed, armed, fault, emergencyStopped, shutDown
  }

  let index: Int
  let name: String
  let state: LegState

  @DeclarationBuilder<Field<LegShown>> static var fields: [Field<LegShown>] {
    Field("index", \.index, metric: .none, "Its place in the file, from 0.")
    Field("name", \.name, "What the file calls it.")
    Field("state", \.state.word, metric: .none, "What it is.")
    Field("reason", \.reason, "The state in words: what it does and why.")
    Field("fault", \.fault, "What made it give up driving; null unless it is in fault.")
    Field("wayOut", \.state.wayOut, "What makes it drivable again; null while it is.")
    Field(
      "pulseUs", \.pulse, unit: .microseconds, metric: "pulse_seconds",
      "The pulse that a servo gets; absent while it gets none.")
    Field("targetUs", \.target, unit: .microseconds, metric: .none, "Where a slewing pulse is going; null: no pulse.")
    Field(
      "positionless", \.isPositionless, metric: .none,
      "Armed, and nothing set since: it is not known where the servo is.")
    Field(
      "offConfirmed", \.state.isOffConfirmed, metric: .none,
      "Whether the chip has taken the off that is in force; null while there is a pulse.")
  }

  fileprivate var reason: String { "\(state)" }
  fileprivate var fault: String? { if case .fault(let cause, _) = state { "\(cause)" } else { nil } }
  fileprivate var pulse: Int? { motion.map { Int($0.output.microseconds) } }
  fileprivate var target: Int? { motion.map { Int($0.target.microseconds) } }
  fileprivate var isPositionless: Bool { if case .armed(.waiting) = state { true } else { false } }
  private var motion: LegMotion? { if case .armed(.pulse(let motion)) = state { motion } else { nil } }
}

/// One leg as shown by `GET /api/leg`.
struct SeenLeg: Sendable {
  let shown: LegShown
  let status: LegStatus
  let settings: LegSettings
  let servo: LegServo
  /// The name of the leg's group, or `nil` if it is on its own.
  let group: String?
  let port: UInt16
  let ways: [LegWay]
  let now: TickInstant

  @DeclarationBuilder<Field<SeenLeg>> static var fields: [Field<SeenLeg>] {
    Field.part(\.shown, LegShown.fields)
    Field("group", \.group, "The group that it is armed, disarmed and fed with; null: it is on its own.")
    Field("error", \.error, "What LegCtrl telemetry says: `none`, `deadman time-out`, `invalid command`, …")
    Field(
      "ageMs", \.age, unit: .milliseconds, metric: "last_command_age_seconds",
      "Time since the last command that fed a leg; absent while disarmed.")
    Field("deadlineNs", \.deadline, metric: .none, "When its pulse ends unless it is fed; null unless it is armed.")
    Field(
      "lastSender", \.lastSender, "Who was heard last: `192.168.1.20:50000`, `local client 7`, `bluetooth`, `serial`.")
    Items(
      "links", \.ways, each: "link",
      "What it is reached by: its UDP port, what the configuration gives it besides, the service's WebSocket."
    ) { LegWay.fields }
    Field("batteryMv", \.battery, metric: .none, "The battery's voltage in millivolts; null if it is unknown.")
    Group("counters", \.status, "Since the start.") { counters }
    Group("settings", \.self, "What holds for it.") { limits }
  }

  @DeclarationBuilder<Field<LegStatus>> private static var counters: [Field<LegStatus>] {
    Field(
      "datagrams", \.datagrams, kind: .counter, metric: "datagrams",
      "Datagrams received by UDP and links, whatever they were.")
    Field("malformed", \.malformed, kind: .counter, metric: "malformed_datagrams", "Datagrams that were no command.")
    Field(
      "accepted", \.accepted, kind: .counter, metric: "accepted_commands", "Commands and requests that a leg took.")
    Field("ignored", \.ignored, kind: .counter, metric: "ignored_commands", "Commands and requests that did nothing.")
    Field(
      "clamped", \.clamped, kind: .counter, metric: "clamped_pulses",
      "Pulses beyond the soft limits, obeyed within them.")
    Field("reports", \.reports, kind: .counter, metric: "telemetry_frames", "Telemetry frames sent.")
    Field(
      "reportFailures", \.reportFailures, kind: .counter, metric: "dropped_telemetry_frames",
      "Telemetry frames that the kernel did not take.")
    Field(
      "lastIgnored", \.ignoring,
      "Why the last of the ignored was, as in the codes of 409: `not_armed`; null if none was.")
    Field("lastMalformed", \.malformation, "Why the last of those was no command; null if there was none.")
  }

  @DeclarationBuilder<Field<SeenLeg>> private static var limits: [Field<SeenLeg>] {
    Field(
      "channel", \.channel, metric: .none,
      "The chip's output; of several chips 16 is the second one's first, and so on."
    )
    Field("lowestUs", \.settings.lowest.microseconds, unit: .microseconds, metric: .none, "Shortest pulse.")
    Field("centreUs", \.servo.channel.centre.microseconds, unit: .microseconds, metric: .none, "Where it is mirrored.")
    Field("highestUs", \.settings.highest.microseconds, unit: .microseconds, metric: .none, "Longest pulse.")
    Field("inverted", \.servo.channel.isInverted, metric: .none, "Whether it is mirrored.")
    Field(
      "deadmanMs", \.settings.deadmanTimeout.inMilliseconds, unit: .milliseconds, metric: .none,
      "Silence after which its pulse ends.")
    Field(
      "slewUsPerS", \.settings.slewMicrosecondsPerSecond, metric: .none, "How fast its pulse may change; null: at once."
    )
    Field(
      "releaseAfterMs", \.settings.releaseAfter?.inMilliseconds, unit: .milliseconds, metric: .none,
      "Standing still after which it gets no pulse; null: it is held.")
    Field("udpPort", \.port, metric: .none, "Where it listens.")
  }

  fileprivate var channel: Int { servo.chip * PCA9685.channelCount + servo.channel.number }
  fileprivate var error: String { "\(status.telemetry.error)" }
  fileprivate var age: Double? { status.lastCommand.map { max(.zero, now - $0).inMilliseconds } }
  fileprivate var battery: Int? { status.battery.map { Int($0.count) } }

  fileprivate var deadline: Int64? {
    guard case .armed = status.state else { return nil }
    return status.lastCommand.map { ($0 + settings.deadmanTimeout).nanoseconds }
  }

  /// The last sender in words, such as `192.168.1.20:50000`, `local client 7`, `bluetooth` or `serial`, or `nil` if there was none.
  fileprivate var lastSender: String? {
    if let holder = status.holder, status.heardAt.map({ $0 < holder.at }) ?? true {
      return "local client \(holder.client)"
    }
    return switch status.lastLink {
    case nil: nil
    case .datagrams: status.lastSender.map { "\($0)" }
    case .bluetooth: "bluetooth"
    case .serial: "serial"
    }
  }
}

/// All legs and their chip, as shown by `GET /api/leg`.
struct SeenLegs: Sendable {
  let legs: [SeenLeg]
  let chip: ServoBankStatus
  let battery: LegBatteryStatus
  let sequence: LegSequenceStatus

  /// The state of the legs as a whole: the first state in this list that any leg is in.
  fileprivate var worst: LegShown.Word {
    let words = Set(legs.map(\.status.state.word))
    return [LegShown.Word.shutDown, .emergencyStopped, .fault, .armed].first { words.contains($0) } ?? .disarmed
  }

  fileprivate var volts: Double? { legs.first?.status.battery.map { Double($0.count) / 1000 } }
}

extension Legs {
  static func seen(_ published: Published<LegSnapshot>, _ look: Look<Legs>) -> SeenLegs {
    let (newest, wiring) = (published.state, look.wiring)
    let (rules, servos) = (loopRules(wiring, look.rules), wiring.servos)
    let ways = look.shared(LegWays.self)
    return SeenLegs(
      legs: wiring.legs.indices.map { index in
        SeenLeg(
          shown: LegShown(index: index, name: wiring.name(index), state: newest[index].state), status: newest[index],
          settings: rules[index], servo: servos[index], group: wiring.legs[index].group, port: ways?.ports[index] ?? 0,
          ways: ways?.ways(of: index, in: newest) ?? [], now: look.now)
      }, chip: newest.servos, battery: newest.battery, sequence: newest.sequence)
  }

  @DeclarationBuilder<Field<SeenLegs>> static var seenFields: [Field<SeenLegs>] {
    Field("state", \.worst, metric: .none, "The worst of the legs'.")
    Items("legs", \.legs, each: "leg", "In the order of the file.") { SeenLeg.fields }
    Group("chip", \.chip, "The servos' chips, which work or fail together.") { chipFields }
    Field(
      "batteryVolts", \.volts, unit: .volts, when: .metrics, metric: "battery_volts",
      "The battery's voltage; absent without a sensor that answers.")
    Group("sequence", \.sequence, "The sequence that moves legs, or the last one.") { sequenceFields }
    Group("battery", \.battery, "The battery's sensor; the voltage is `batteryMv` of every leg.") { batteryFields }
  }

  @DeclarationBuilder<Field<LegSequenceStatus>> private static var sequenceFields: [Field<LegSequenceStatus>] {
    Field("playing", \.isPlaying, metric: "sequence_playing", "Whether a sequence moves legs.")
    Field("number", \.id, metric: .none, "The number that the answer to its request gave; 0: none yet.")
    Field("step", \.step, metric: .none, "Its present step, or the last one, from 1.")
    Field("steps", \.steps, metric: .none, "How many steps it has.")
    Field("round", \.round, metric: .none, "The present round, or the last one, from 1.")
    Field("repeat", \.rounds, metric: .none, "How many rounds it has; 0: until it is stopped.")
    Field("ended", \.ended, metric: .none, "Why it ended; null while it is playing, and before the first.")
  }

  @DeclarationBuilder<Field<SeenLegs>> static var answerFields: [Field<SeenLegs>] {
    Items("legs", \.legs, each: "leg") { Field.part(\.shown, LegShown.fields) }
  }

  @DeclarationBuilder<Field<ServoBankStatus>> private static var chipFields: [Field<ServoBankStatus>] {
    Field("ready", \.isReady, metric: "chip_ready", "Whether the servos' chips are configured and answer, all of them.")
    Field("count", \.chips, metric: .none, "How many there are.")
    Field(
      "failures", \.failures, kind: .counter, metric: "chip_failures",
      "Writes that failed after their retries, lost configurations, a failing output-enable line.")
    Field("lastFailure", \.failure, "The last of them; null if there was none.")
    Field("writes", \.writes, kind: .counter, metric: "chip_writes", "Transfers that wrote pulses or off.")
    Field(
      "channelsWritten", \.channelsWritten, kind: .counter, metric: "chip_channel_writes",
      "Channels in those transfers.")
    Field(
      "configurations", \.configurations, kind: .counter, metric: "chip_configurations",
      "Times that the chip was configured.")
    Field(
      "retries", \.retries, kind: .counter, metric: "bus_retries",
      "Bus transfers that succeeded only after a retry.")
    Field(
      "enableFailures", \.enableFailures, kind: .counter, when: .metrics, metric: "output_enable_failures",
      "Times that the output-enable line failed.")
    Group<ServoBankStatus, ServoBankStatus>(
      "outputEnable", \.enableLine, "The line that lets the chip's pulses out; null if none is wired to the pin."
    ) {
      Field(
        "enabled", \.outputsEnabled, metric: "outputs_enabled",
        "Whether the output-enable line lets pulses out; absent without one that answers.")
      Field("failures", \.enableFailures, kind: .counter, metric: .none, "Times it did not take its level.")
      Field("lastFailure", \.enableFailure, "The last of them; null if there was none.")
    }
  }

  @DeclarationBuilder<Field<LegBatteryStatus>> private static var batteryFields: [Field<LegBatteryStatus>] {
    Field("sensor", \.isConfigured, metric: .none, "Whether one is configured.")
    Field("readings", \.readings, kind: .counter, metric: .none, "Measurements.")
    Field(
      "failures", \.failures, kind: .counter, metric: "battery_failures", "Measurements of the battery that failed.")
    Field("lastFailure", \.failure, "The last of them; null if there was none.")
  }
}

extension ServoBankStatus {
  fileprivate var enableLine: ServoBankStatus? { hasEnableLine ? self : nil }
  fileprivate var failure: String? { lastFailure.map { "\($0)" } }
  fileprivate var enableFailure: String? { lastEnableFailure.map { "\($0)" } }
}

extension LegSequenceStatus {
  fileprivate var id: Int { Int(clamping: number) }
  fileprivate var ended: LegSequenceEnd.Word? { end?.word }
}

extension LegBatteryStatus {
  fileprivate var failure: String? { lastFailure.map { "\($0)" } }
}

extension LegStatus {
  fileprivate var ignoring: String? { lastIgnored?.word }
  fileprivate var malformation: String? { lastMalformed.map { "\($0)" } }
}

extension LegState {
  var word: LegShown.Word {
    switch self {
    case .disarmed: .disarmed
    case .armed: .armed
    case .fault: .fault
    case .emergencyStopped: .emergencyStopped
    case .shutDown: .shutDown
    }
  }

  /// Whether the off is confirmed, or `nil` while there is a pulse.
  fileprivate var isOffConfirmed: Bool? {
    switch self {
    case .disarmed(let off), .fault(_, let off), .emergencyStopped(let off), .shutDown(let off),
      .armed(.waiting(let off)), .armed(.released(_, let off)):
      off.isConfirmed
    case .armed(.pulse): nil
    }
  }
}
