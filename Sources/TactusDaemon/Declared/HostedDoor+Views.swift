import Service
import Tactus
import Wire

// A declared system's state elsewhere: metrics, Home Assistant.

extension HostedDoor: MetricSource {
  func write(into writer: inout MetricsWriter) { Self.write([self], into: &writer) }

  /// Of all that there are of a kind: a family is written whole.
  ///
  /// A number or a yes or no is one sample, a word one sample for each word there is; text is no metric, and what is unknown is absent.
  /// What was lost of notices and answers is counted as of every other system. Of several systems each sample has the label of its name.
  static func write(_ doors: [HostedDoor], into writer: inout MetricsWriter) {
    let all = doors.map { (label: $0.label, published: $0.published) }
    for field in System.fields {
      let metric = field.unit.metricName(System.name, field.name)
      let samples = all.flatMap { field.samples(field.read($0.published.state), $0.label) }
      switch field.kind {
      case .counter: writer.counter(metric + "_total", field.meaning, samples)
      case .gauge: writer.gauge(metric, field.meaning, samples)
      }
    }
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

extension Field {
  fileprivate func samples(_ value: PlainValue, _ label: [(name: String, value: String)]) -> [MetricSample] {
    switch value {
    case .nothing: []
    case .boolean(let value): [MetricSample(value ? 1.0 : 0, labels: label)]
    case .integer(let value): [MetricSample(Double(value) * unit.metricFactor, labels: label)]
    case .number(let value): [MetricSample(value * unit.metricFactor, labels: label)]
    case .text(let word):
      (form.choices ?? []).map {
        MetricSample($0 == word ? 1.0 : 0, labels: label + [(Unit.words(name).joined(separator: "_"), $0)])
      }
    }
  }
}

extension HostedDoor {
  /// The numbers of the state but those that a command sets.
  var movingMembers: Set<String> {
    let set = Set(System.commands.flatMap(\.parameters).map(\.name))
    return Set(fields.filter { ["integer", "number"].contains($0.form.typeName) }.map(\.name)).subtracting(set)
  }

  /// A sensor for each field; a button for each command without parameters; a number, a switch or a select for one with one parameter of that kind. A
  /// command with more, or with a text, is for Home Assistant's own `mqtt.publish`.
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    let sensors = fields.map { sensor($0, on: topics) }
    guard takesCommands else { return sensors }
    return sensors + System.commands.compactMap { control($0, on: topics) }
  }

  private func sensor(_ field: Field<System.State>, on topics: DeviceTopics) -> HomeAssistantEntity {
    let isFlag = field.form.kind == .boolean
    var entity = HomeAssistantEntity(
      isFlag ? .binarySensor : .sensor, id: "\(at.word)-\(field.name)",
      name: "\(name.titled) \(field.unit.title(field.name).lowercased())")
    entity.stateTopic = topics.state(name)
    entity.valueTemplate =
      "{{ \(isFlag ? "'ON' if value_json.\(field.name) else 'OFF'" : "value_json.\(field.name)") }}"
    if !field.unit.sign.isEmpty { entity.unit = field.unit.sign }
    entity.deviceClass = field.unit.deviceClass
    if field.form.kind == .integer || field.form.kind == .number {
      entity.stateClass = field.kind == .counter ? "total_increasing" : "measurement"
    }
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
    if fields.contains(where: { $0.name == parameter.name }) {
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
