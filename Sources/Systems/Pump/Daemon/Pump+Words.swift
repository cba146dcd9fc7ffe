import Logging
import Pump
import Service
import Tactus
import TactusDaemon
import Wire

// Texts and values for people and programs.

// The module of the control does not depend on the daemon, so the conformances are declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension PumpIgnoreReason: @retroactive RefusalWord {
  public var sentence: String { "the pump: \(self)" }

  fileprivate var hasOwnWayOut: Bool {
    switch self {
    case .alreadyOn, .notRunning, .mustRest, .beyondLimit, .nothingToReset, .notUnderstood: true
    case .noContact, .stateUnknown, .inFault, .emergencyStopped, .offNotConfirmed, .causePersists, .noReadingYet,
      .shutDown:
      false
    }
  }
}

// swift-format-ignore: AvoidRetroactiveConformances
extension PumpNotice: @retroactive DeviceNotice {
  public enum Word: String, NoticeWord {
    case state, contact, failed, outputFails

    public var isTrouble: Bool { self == .failed || self == .outputFails }
    public var sentence: String {
      switch self {
      case .state: "the pump is in another state"
      case .contact: "the pump's connection is another one"
      case .failed: "a command to the pump failed"
      case .outputFails: "the motor's output fails"
      }
    }
  }

  public var kind: Word {
    switch self {
    case .state, .own: .state
    case .contact: .contact
    case .failed: .failed
    case .outputFails: .outputFails
    }
  }
}

extension Pump: Explains, TellsInFull, AnswersInFull {
  public static func explain(_ refusal: PumpIgnoreReason, _ state: PumpState) -> String {
    let way = refusal.hasOwnWayOut ? nil : PumpSeen(state).doing.wayOut
    return way.map { "\(refusal.sentence); \($0)" } ?? refusal.sentence
  }

  /// The fields of the answer to a command: the pump's state after it.
  @DeclarationBuilder<Field<PumpSeen>> public static var answerFields: [Field<PumpSeen>] {
    Group("pump", \.doing, when: .state, "What the pump does.") { PumpSeen.Doing.fields }
  }

  /// Returns the request that is repeated every second while a person watches: in the operator role the pump is asked
  /// for its state.
  public static func whenWatched(_ wiring: Wiring) -> PumpOrder? { wiring.role == .operator ? .watched : nil }

  /// Returns the log line for a change of the pump or of its connection, and the event for subscribers.
  public static func inFull(_ told: Told<PumpNotice>, _ look: Look<Pump>) -> ToldInFull {
    switch told.notice {
    case .state(let state, let source): return changed(PumpSeen.Doing(state, by: source), state.logLevel)
    case .own(let state, let source): return changed(PumpSeen.Doing(state, by: source), state.logLevel)
    case .contact(let contact):
      return ToldInFull(
        level: contact.isAnswering ? .info : .notice, "the pump's connection",
        metadata: ["contact": .string("\(contact)")], type: "pump.contact",
        body: PumpSeen.eventBody("contact", contact.name, reason: "\(contact)"))
    case .failed(let failure):
      return ToldInFull(
        level: .warning, "a command to the pump failed", metadata: ["failure": .string("\(failure)")],
        type: "pump.failure",
        body: PumpSeen.eventBody("command", "\(failure.command)", reason: "\(failure)"))
    case .outputFails(let error):
      return ToldInFull(
        level: .error, "the motor's output fails", metadata: ["failure": .string("\(error)")], type: nil, body: [])
    }
  }

  private static let doing = StateDocument(of: name, PumpSeen.Doing.fields)

  private static func changed(_ seen: PumpSeen.Doing, _ level: Logger.Level) -> ToldInFull {
    var metadata: Logger.Metadata = ["state": .string(seen.reason)]
    if let source = seen.source { metadata["source"] = .string(source) }
    if let wayOut = seen.wayOut { metadata["way_out"] = .string(wayOut) }
    return ToldInFull(
      level: level, "pump", metadata: metadata, type: "pump", body: doing.json(seen))
  }
}

extension PumpOperatorState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .off, .starting, .on, .shutDown: .info
    case .unknown, .emergencyStopped, .fault(.runLimit, _): .warning
    case .fault: .error
    }
  }
}

extension PumpDeviceState {
  fileprivate var logLevel: Logger.Level {
    switch self {
    case .off, .on, .shutDown: .info
    case .emergencyStopped, .error(.runLimit, _), .error(.silence, _): .warning
    case .error: .error
    }
  }
}

extension Pump: Introduces {
  public static let driven: String? = "the pump"

  public static func summary(_ wiring: Wiring, _ rules: Rules, address: String) -> [String] {
    ["\(wiring.summary), off after \(rules.runLimitMinutes) min until it has rested \(rules.restMinutes) min"]
  }

  public static func invitation(_ wiring: Wiring, _ rules: Rules, _ start: ProgramStart) -> Invitation {
    Invitation(
      title: wiring.summary + (start.isSimulated && wiring.backend != .sim ? " (simulated)" : ""),
      calls: [.init(path: "/api/pump/on", body: "{\"speedPercent\": 70}")])
  }
}

extension Pump.Wiring {
  var summary: String {
    switch (role, backend) {
    case (.operator, .hardware):
      switch address {
      case .serial(let path): "pump on \(path) at \(baud) bit/s"
      case .bluetooth(let place): "pump by Bluetooth, \(place)"
      }
    case (.operator, .sim): "simulated pump"
    case (.device, .hardware): "pump of this machine, motor on \(motor)\(linkSummary)"
    case (.device, .sim): "pump of this machine, simulated\(linkSummary)"
    }
  }

  private var linkSummary: String {
    let links = [device.map { "\($0) at \(baud) bit/s" }, hasBluetooth ? "Bluetooth as \(bluetoothName)" : nil]
      .compactMap(\.self)
    return links.isEmpty ? "" : ", reached by \(links.joined(separator: " and "))"
  }
}

extension Pump: Checks {
  /// Checks what the configured pump needs from the machine besides its claims: a radio if the pump is reached by Bluetooth.
  public static func diagnoses(_ doctor: Doctor) -> [Diagnosis] {
    guard let wiring = doctor.configuration?.settings(of: Pump.self)?.wiring, wiring.backend == .hardware,
      wiring.role == .operator, case .bluetooth(let place) = wiring.address
    else { return [] }
    return [doctor.radio("pump.device", "a pump at \(place)")]
  }
}

extension Pump: ShowsEntities {
  /// The members of the state that change continuously and are published to a broker only now and then.
  public static let movingMembers: Set<String> = [
    "waterCelsius", "skinCelsius", "temperatureCelsius", "temperaturesAgeMs", "statusAgeMs", "runtimeMinutes",
    "remainingMinutes", "pumpedS", "leftS", "restS",
  ]

  /// Returns the entities for Home Assistant. With commands the pump is a fan, the closest kind of entity with a speed.
  public static func entities(
    _ look: Look<Pump>, on topics: DeviceTopics, takesCommands: Bool
  ) -> [HomeAssistantEntity] {
    let temperatures = [("water", "waterCelsius"), ("skin", "skinCelsius")].map { place, member in
      var entity = HomeAssistantEntity(.sensor, id: "pump-\(place)", name: "Pump \(place)")
      entity.stateTopic = topics.state(name)
      entity.valueTemplate = "{{ value_json.\(member) }}"
      entity.deviceClass = "temperature"
      entity.stateClass = "measurement"
      entity.unit = "°C"
      return entity
    }
    let attributes = ["reason", "fault", "wayOut", "offConfirmed", "source", "contact"]
    return [.state("pump-state", name: "Pump state", of: name, attributes: attributes, on: topics)] + temperatures
      + (takesCommands ? [fan(topics)] : [])
  }

  private static func fan(_ topics: DeviceTopics) -> HomeAssistantEntity {
    var fan = HomeAssistantEntity(.fan, id: "pump", name: "Pump")
    fan.stateTopic = topics.state(name)
    fan.commandTopic = topics.command(name)
    fan.others = [
      "state_value_template": "{{ 'on' if value_json.state in ('on', 'starting') else 'off' }}",
      "payload_on": "on", "payload_off": "off",
      "percentage_state_topic": topics.state(name), "percentage_value_template": "{{ value_json.speedPercent }}",
      "percentage_command_topic": topics.command(name),
      "percentage_command_template":
        #"{% if value | int == 0 %}off{% else %}{"command":"on","speedPercent":{{ value | int }}}{% endif %}"#,
    ]
    return fan
  }
}
