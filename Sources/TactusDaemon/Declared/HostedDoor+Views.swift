import Service
import Tactus
import Wire

// A declared system's state elsewhere: metrics, Home Assistant.

extension HostedDoor: MetricSource {
  func write(into writer: inout MetricsWriter) { Self.write([self], into: &writer) }

  /// Of all that there are of a kind: a family is written whole. Of several systems each sample has the label of its name.
  ///
  /// What was lost of notices and answers is counted as of every other system.
  static func write(_ doors: [HostedDoor], into writer: inout MetricsWriter) {
    let all = doors.map { (door: $0, label: $0.label, published: $0.published) }
    FieldMetrics(
      all.map { (labels: $0.label, leaves: $0.door.document.leaves(of: $0.published.state)) }, of: System.name
    ).write(into: &writer)
    func counter(_ name: String, _ help: String, _ value: (Published<System.State>) -> Int64) {
      writer.counter(
        Unit.none.metricName(System.name, name) + "_total", help,
        all.map { MetricSample(value($0.published), labels: $0.label) })
    }
    counter("droppedNotices", "Changes that no log shows because the ring was full.") { $0.noticesDropped }
    counter("droppedAnswers", "Answers that found their ring full.") { $0.answersDropped }
  }

  /// `kettle="left"`; empty if it is the only one.
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
  /// The numbers of the state but those that a command sets.
  var movingMembers: Set<String> {
    let set = Set(System.commands.flatMap(\.parameters).map(\.name))
    return Set(document.leaves(of: newest).filter(\.form.isNumber).map(\.name)).subtracting(set)
  }

  /// A sensor for each field; a button for each command without parameters; a number, a switch or a select for one with one parameter of that kind. A
  /// command with more, or with a text, is for Home Assistant's own `mqtt.publish`.
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    let sensors = document.leaves(of: newest).compactMap { sensor($0, on: topics) }
    guard takesCommands else { return sensors }
    return sensors + System.commands.compactMap { control($0, on: topics) }
  }

  private func sensor(_ leaf: FieldLeaf, on topics: DeviceTopics) -> HomeAssistantEntity? {
    guard leaf.isInState else { return nil }
    let form = leaf.form
    let isFlag = form.plain.kind == .boolean
    let id: String
    let title: String
    switch form.entity {
    case .none: return nil
    case .named(let given, let name): (id, title) = (given, name)
    case .made:
      let item = leaf.item.map { [$0.each, "\($0.number)"] } ?? []
      id = ([at.word] + item + leaf.names).joined(separator: "-")
      let words = item + leaf.names.dropLast().flatMap { Unit.words($0) } + [form.unit.title(leaf.name).lowercased()]
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
  /// `Fan` of `fan`, `Kettle left` of `kettle/left`.
  var titled: String {
    prefix(1).uppercased() + dropFirst().replacing("-", with: " ").replacing("/", with: " ")
  }
}
