import Service
import Tactus
import Wire

// The state of a declared system in metrics and in Home Assistant.

extension HostedDoor: MetricSource {
  func write(into writer: inout MetricsWriter) { Self.write([self], into: &writer) }

  /// Writes the metrics of all systems of a kind, because a family must be written as a whole. If a file can have
  /// several systems, each sample has a label with the name of its system.
  ///
  /// Lost notices and answers are counted as for every other system.
  static func write(_ doors: [HostedDoor], into writer: inout MetricsWriter) {
    let all = doors.map { (door: $0, label: $0.label, published: $0.published, now: $0.requests.now()) }
    FieldMetrics(
      all.map { (labels: $0.label, leaves: $0.door.document.leaves(of: $0.published, $0.door.look($0.now))) },
      of: System.name
    ).write(into: &writer)
    func counter(_ name: String, _ help: String, _ value: (Published<System.State>) -> Int64) {
      writer.counter(
        Unit.none.metricName(System.name, name) + "_total", help,
        all.map { MetricSample(value($0.published), labels: $0.label) })
    }
    // A loop that keeps notices for which there is no room counts those that it has lost itself.
    let counts = all.first?.door.document.shapes.leaves(nil).contains {
      $0.metricName(of: System.name) == Unit.none.metricName(System.name, "droppedNotices")
    }
    if System.Notice.self != NoNotice.self, !System.isWithoutLoops, counts != true {
      counter("droppedNotices", "Changes that no log shows because the ring was full.") { $0.noticesDropped }
    }
    if System.takesOrders { counter("droppedAnswers", "Answers that found their ring full.") { $0.answersDropped } }
    guard let measuring = System.self as? any MeasuresMore.Type else { return }
    for one in all { measuring.written(one.published, one.door.look(one.now), into: &writer) }
  }

  /// The label of the system's samples, such as `kettle="left"`; empty if a file can have only one system of this kind.
  private var label: [(name: String, value: String)] {
    at.instance.map { [(System.name.replacing("-", with: "_"), $0)] } ?? []
  }
}

/// The metrics of all systems of a kind.
struct KindMetrics<System: DeviceSystem>: MetricSource {
  let doors: [HostedDoor<System>]

  func write(into writer: inout MetricsWriter) { HostedDoor.write(doors, into: &writer) }
}

extension HostedDoor {
  /// The names of the numbers in the state, except those that a command sets.
  var movingMembers: Set<String> {
    if let showing = System.self as? any ShowsEntities.Type { return showing.movingMembers }
    let set = Set(System.commands.flatMap(\.parameters).map(\.name))
    return Set(leaves().filter(\.form.isNumber).map(\.name)).subtracting(set)
  }

  /// Returns a sensor for each field, a button for each command without parameters, and a number, a switch or a select
  /// for each command with one parameter of the corresponding kind. Commands with several parameters, or with a text,
  /// are available through Home Assistant's `mqtt.publish` action.
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    if let showing = System.self as? any ShowsEntities.Type {
      return showing.shown(look(published.at), on: topics, takesCommands: takesCommands)
    }
    let sensors = leaves().compactMap { sensor($0, on: topics) }
    guard takesCommands else { return sensors }
    return sensors + System.commands.filter { $0.items == nil }.compactMap { control($0, on: topics) }
  }

  private func sensor(_ leaf: FieldLeaf, on topics: DeviceTopics) -> HomeAssistantEntity? {
    guard leaf.isInState, !leaf.isOfMany, leaf.item.map({ $0.each != nil }) ?? true else { return nil }
    let form = leaf.form
    let isFlag = form.plain.kind == .boolean
    let id: String
    let title: String
    switch form.entity {
    case .none: return nil
    case .named(let given, let name): (id, title) = (given, name)
    case .made:
      let item = leaf.item.map { [$0.each ?? "", $0.number] } ?? []
      id = ([at.word] + item + leaf.names).joined(separator: "-")
      let groups = leaf.names.dropLast().flatMap { Unit.wordList(of: $0) }
      let words = item + groups + [form.unit.title(leaf.name).lowercased()]
      title = ([name.titled] + words).joined(separator: " ")
    }
    var entity = HomeAssistantEntity(isFlag ? .binarySensor : .sensor, id: id, name: title)
    entity.stateTopic = topics.state(name, leaf.item?.topic(of: name))
    let value = "value_json.\(leaf.names.joined(separator: "."))"
    entity.valueTemplate = "{{ \(isFlag ? "'ON' if \(value) else 'OFF'" : value) }}"
    if !form.unit.sign.isEmpty { entity.unit = form.unit.sign }
    entity.deviceClass = form.unit.deviceClass
    if form.isNumber { entity.stateClass = form.kind == .counter ? "total_increasing" : "measurement" }
    return entity
  }

  private func control(_ command: Command<System.Order>, on topics: DeviceTopics) -> HomeAssistantEntity? {
    let id = "\(at.word)-command-\(command.name)"
    let title = "\(name.titled) \(command.name)"
    switch command.parameters.count {
    case 0:
      var button = HomeAssistantEntity(.button, id: id, name: title)
      button.commandTopic = topics.command(name)
      button.pressPayload = command.name
      return button
    case 1: return control(command.name, command.parameters[0], id, title, on: topics)
    default: return nil
    }
  }

  private func control(
    _ command: String, _ parameter: ParameterDescription, _ id: String, _ title: String, on topics: DeviceTopics
  ) -> HomeAssistantEntity? {
    let form = parameter.kind
    let others: [String: String]
    var options: [String] = []
    let component: HomeAssistantEntity.Component
    var template = "{{ value_json.\(parameter.name) }}"
    func message(_ value: String) -> String { "{\"command\":\"\(command)\",\"\(parameter.name)\":\(value)}" }
    if case .number(let lowest)? = form.bounds?.lowest, case .number(let highest)? = form.bounds?.highest {
      component = .number
      others = [
        "min": lowest, "max": highest, "mode": "box", "step": form.typeName == "integer" ? "1" : "0.1",
        "command_template": message("{{ value }}"),
      ]
    } else if form.typeName == "boolean" {
      component = .switch
      others = [
        "payload_on": message("true"), "payload_off": message("false"), "state_on": "ON", "state_off": "OFF",
      ]
      template = "{{ 'ON' if value_json.\(parameter.name) else 'OFF' }}"
    } else if case .choice(let words) = form {
      component = .select
      options = words
      others = ["command_template": message("\"{{ value }}\"")]
    } else {
      return nil
    }
    var entity = HomeAssistantEntity(
      component, id: id, name: "\(title) \(parameter.unit.title(parameter.name).lowercased())")
    entity.commandTopic = topics.command(name)
    entity.others = others
    entity.options = options
    if !parameter.unit.sign.isEmpty { entity.unit = parameter.unit.sign }
    if document.shapes.contains(where: { $0.name == parameter.name }) {
      entity.stateTopic = topics.state(name)
      entity.valueTemplate = template
    }
    return entity
  }
}

extension String {
  /// The name as a title, such as `Fan` for `fan` and `Kettle left` for `kettle/left`.
  var titled: String {
    prefix(1).uppercased() + dropFirst().replacing("-", with: " ").replacing("/", with: " ")
  }
}

// The description of a declared system for the page and for `call`.

extension HostedDoor {
  /// Returns the system's item of `GET /api/systems`.
  func declaration(faults: NamedFaults, isSimulated: Bool, settings: [JSONValue]) -> JSONValue {
    let active = faults.active
    return .object([
      "name": .text(name), "title": .text(name.titled), "summary": .text(System.summary),
      "simulated": .boolean(isSimulated), "stops": System.takesOrders ? nil : .boolean(false),
      "fields": .list(leaves().filter(\.isInState).map(\.declaration)),
      "commands": .list(
        System.commands.map { command in
          .object([
            "name": .text(command.path), "meaning": .text(command.meaning), "scope": .text(command.scope.rawValue),
            "makesSafe": .boolean(command.alwaysMakesSafe),
            "parameters": .list(command.parameters.map(\.declaration)),
          ])
        }),
      "notices": .list(
        System.Notice.Kind.allCases.map {
          .object([
            "name": .text($0.rawValue), "meaning": .text($0.sentence), "trouble": .boolean($0.isTrouble),
          ])
        }),
      "settings": .list(settings),
      "faults": .list(
        isSimulated
          ? faults.all.map {
            .object([
              "name": .text($0.name), "meaning": .text($0.meaning), "active": .boolean(active.contains($0.name)),
            ])
          } : []),
    ])
  }

  /// The system's part of the OpenAPI document.
  var api: APIAdditions.System { SystemAPI<System>(name, routes: beside?.descriptions ?? []).additions }
}

extension ParameterDescription {
  fileprivate var declaration: JSONValue {
    .object([
      "name": .text(name), "meaning": .text(meaning), "type": .text(kind.typeName),
      "choices": kind.choices.map { .list($0.map { .text($0) }) }, "minimum": kind.bounds?.lowest,
      "maximum": kind.bounds?.highest, "unit": .text(unit.sign), "standard": isRequired ? nil : standard.json,
    ])
  }
}

extension Settings {
  /// Returns items of `settings` in `GET /api/systems`.
  func declaration(mayChange: Bool) -> [JSONValue] {
    Self.keys.filter { $0.items == nil }.map { key in
      .object([
        "name": .text(key.member), "meaning": .text(key.meaning), "type": .text(key.kind.typeName),
        "choices": key.kind.choices.map { .list($0.map { .text($0) }) }, "minimum": key.kind.bounds?.lowest,
        "maximum": key.kind.bounds?.highest, "unit": .text(key.unit.sign), "value": key.read(self).json,
        "standard": key.isRequired ? .null : key.standard.json, "mayChange": .boolean(mayChange),
      ])
    }
  }
}
