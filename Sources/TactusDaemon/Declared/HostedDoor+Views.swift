import Service
import Wire

// A declared system's state elsewhere: metrics, Home Assistant.

extension HostedDoor: MetricSource {
  /// A number or a yes or no is one sample, a word one sample for each word there is; text is no metric, and what is unknown is absent.
  /// What was lost of notices and answers is counted as of every other system.
  func write(into writer: inout MetricsWriter) {
    let published = published
    let state = published.state
    for field in fields {
      let metric = field.unit.metricName(name, field.name)
      let samples = field.samples(field.read(state))
      switch field.kind {
      case .counter: writer.counter(metric + "_total", field.meaning, samples)
      case .gauge: writer.gauge(metric, field.meaning, samples)
      }
    }
    func counter(_ name: String, _ help: String, _ value: Int64) {
      writer.counter(Unit.none.metricName(self.name, name) + "_total", help, [MetricSample(value)])
    }
    counter(
      "droppedNotices", "Changes that no log shows because the ring was full.", published.noticesDropped)
    counter("droppedAnswers", "Answers that found their ring full.", published.answersDropped)
  }
}

extension Field {
  fileprivate func samples(_ value: PlainValue) -> [MetricSample] {
    switch value {
    case .nothing: []
    case .boolean(let value): [MetricSample(value)]
    case .integer(let value): [MetricSample(Double(value) * unit.metricFactor)]
    case .number(let value): [MetricSample(value * unit.metricFactor)]
    case .text(let word):
      (form.choices ?? []).map {
        MetricSample($0 == word, KeyValuePairs(dictionaryLiteral: (Unit.words(name).joined(separator: "_"), $0)))
      }
    }
  }
}

extension HostedDoor {
  /// A sensor for each field; a button for each command without parameters, a number for one with one number. A command with more is for
  /// Home Assistant's own `mqtt.publish`.
  func entities(on topics: DeviceTopics, takesCommands: Bool) -> [HomeAssistantEntity] {
    let sensors = fields.map { sensor($0, on: topics) }
    guard takesCommands else { return sensors }
    return sensors + System.commands.compactMap { control($0, on: topics) }
  }

  private func sensor(_ field: Field<System.State>, on topics: DeviceTopics) -> HomeAssistantEntity {
    let isFlag = field.form.kind == .boolean
    var entity = HomeAssistantEntity(
      isFlag ? .binarySensor : .sensor, id: "\(name)-\(field.name)",
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
    let id = "\(name)-command-\(command.name)"
    let title = "\(name.titled) \(command.name)"
    switch command.parameters.count {
    case 0:
      var button = HomeAssistantEntity(.button, id: id, name: title)
      button.commandTopic = topics.command(name)
      button.pressPayload = command.name
      return button
    case 1:
      let parameter = command.parameters[0]
      guard case .number(let lowest)? = parameter.kind.bounds?.lowest,
        case .number(let highest)? = parameter.kind.bounds?.highest
      else { return nil }
      var number = HomeAssistantEntity(
        .number, id: id, name: "\(title) \(parameter.unit.title(parameter.name).lowercased())")
      number.commandTopic = topics.command(name)
      number.others = [
        "min": lowest, "max": highest, "mode": "box", "step": parameter.kind.typeName == "integer" ? "1" : "0.1",
        "command_template": "{\"command\":\"\(command.name)\",\"\(parameter.name)\":{{ value }}}",
      ]
      if !parameter.unit.sign.isEmpty { number.unit = parameter.unit.sign }
      if fields.contains(where: { $0.name == parameter.name }) {
        number.stateTopic = topics.state(name)
        number.valueTemplate = "{{ value_json.\(parameter.name) }}"
      }
      return number
    default: return nil
    }
  }
}

extension String {
  /// `Fan` of `fan`.
  var titled: String { prefix(1).uppercased() + dropFirst().replacing("-", with: " ") }
}
