import Service

/// The metrics of a system's fields: one family for each name, in the order in which the names are declared.
struct FieldMetrics {
  private struct Family {
    let name: String
    let form: FieldForm
    let help: String
    var samples: [MetricSample] = []
  }

  private var families: [Family] = []

  /// Collects the samples. A number or a boolean is one sample, and a word is one sample for each possible word. Text
  /// has no metric, and unknown values have no sample.
  ///
  /// - Parameter all: the values of each system of a kind, with the labels that all of its samples have.
  init(_ all: [(labels: [(name: String, value: String)], leaves: [FieldLeaf])], of system: String) {
    for (labels, leaves) in all {
      for leaf in leaves {
        guard let name = leaf.metricName(of: system) else { continue }
        let samples = leaf.samples(labels)
        if let index = families.firstIndex(where: { $0.name == name }) {
          declared(families[index].form.kind == leaf.form.kind, "\(name) is a counter and a gauge")
          families[index].samples += samples
        } else {
          families.append(Family(name: name, form: leaf.form, help: leaf.meaning, samples: samples))
        }
      }
    }
  }

  func write(into writer: inout MetricsWriter) {
    for family in families {
      switch family.form.kind {
      case .counter: writer.counter(family.name + "_total", family.help, family.samples)
      case .gauge: writer.gauge(family.name, family.help, family.samples)
      }
    }
  }
}

extension FieldLeaf {
  /// Returns the name of the metric without a counter's `_total`, or `nil` if the field has no metric.
  func metricName(of system: String) -> String? {
    switch form.metric {
    case .none: nil
    case .named(let words, _, _):
      ([Unit.none.metricName(system, "")] + (words.isEmpty ? [] : [words])).joined(separator: "_")
    case .made: form.unit.metricName(system, name, in: Array(names.dropLast()))
    }
  }

  fileprivate func samples(_ first: [(name: String, value: String)]) -> [MetricSample] {
    var labels = first
    if let item { labels += item.labels }
    if case .named(_, let label?, let value) = form.metric, form.choices == nil { labels.append((label, value)) }
    func sample(_ value: Double) -> [MetricSample] { [MetricSample(value, labels: labels)] }
    switch value {
    case nil, .integers, .texts: return []
    case .boolean(let value): return sample(value ? 1 : 0)
    case .integer(let value): return sample(form.unit.inMetric(Double(value)))
    case .number(let value): return sample(form.unit.inMetric(value))
    case .text(let word):
      return (form.choices ?? []).map { MetricSample($0 == word ? 1 : 0, labels: labels + [(wordLabel, $0)]) }
    }
  }

  /// The label that holds the word if the field's value is a word.
  private var wordLabel: String {
    if case .named(_, let label?, _) = form.metric { label } else { Unit.wordList(of: name).joined(separator: "_") }
  }

  /// The names of the labels that distinguish the samples of the field.
  var labels: [String] {
    let item = item.map { $0.labels.map(\.name) } ?? []
    if form.choices != nil { return item + [wordLabel] }
    if case .named(_, let label?, _) = form.metric { return item + [label] }
    return item
  }
}
