import Wire

/// The row of a system in the Grafana dashboard: its own panels, or one for each metric.
struct DashboardRow {
  private static let width = 24
  private static let source: JSONValue = .object(["type": .text("prometheus"), "uid": .text("${datasource}")])

  private let name: String
  private let title: String
  private let panels: [Panel]
  /// The field of each metric, by the part of the metric's name that follows the name of the system.
  private let fields: [String: FieldLeaf]
  private let measuresMore: Bool
  /// The text with which each legend begins.
  private let prefix: String

  init<System: DeviceSystem>(_: System.Type) {
    var fields: [String: FieldLeaf] = [:]
    var made: [Panel] = []
    for leaf in SeenDocument<System>().shapes.leaves(nil) where leaf.form.plain.kind != .text {
      // Fields that share a metric share a panel.
      guard let metric = leaf.metric(of: System.name), fields.updateValue(leaf, forKey: metric) == nil else { continue }
      made.append(Self.panel(leaf, metric))
    }
    let own = System.self as? any HasPanels.Type
    (name, title, panels) = (System.name, own?.rowTitle ?? System.name.titled, own?.panels ?? made)
    (self.fields, measuresMore) = (fields, System.self is any MeasuresMore.Type)
    let kind = System.several == nil ? "" : " {{\(System.name.replacing("-", with: "_"))}}"
    prefix = "{{instance}}\(kind)"
  }

  /// Returns the panel of a field: a timeline for a word, and a graph for any other value.
  private static func panel(_ leaf: FieldLeaf, _ metric: String) -> Panel {
    let title = leaf.names.dropLast().map { Unit.none.title($0) } + [leaf.form.unit.title(leaf.name)]
    let form: Panel.Form = leaf.form.choices == nil ? .graph(unit: nil, from: nil, to: nil) : .states(red: [])
    return Panel(title.joined(separator: " "), leaf.meaning, form, width: 8, height: 7, [Series(metric)])
  }

  /// The panels as Grafana has them, below a panel with the title.
  var json: [JSONValue] {
    let title: JSONValue = .object([
      "id": .whole(0), "type": .text("row"), "title": .text(title), "collapsed": .boolean(false),
      "gridPos": Self.position(x: 0, y: 0, width: Self.width, height: 1), "panels": .list([]),
    ])
    var (x, y, height) = (0, 1, 0)
    return [title]
      + panels.map { panel in
        if x + panel.width > Self.width { (x, y, height) = (0, y + height, 0) }
        defer { (x, height) = (x + panel.width, max(height, panel.height)) }
        return json(panel, Self.position(x: x, y: y, width: panel.width, height: panel.height))
      }
  }

  /// The annotations that all graphs show: one at each rise of an alarm.
  var marks: [JSONValue] {
    panels.compactMap { panel in
      guard case .alarm = panel.form, let alarm = panel.series.first.map({ whole($0.metric) }) else {
        return nil
      }
      let rise = "changes(\(Self.selected(alarm))[1m]) > 0 and \(alarm) == 1"
      return .object([
        "name": .text(panel.title), "enable": .boolean(true), "datasource": Self.source, "iconColor": .text("red"),
        "expr": .text(rise), "titleFormat": .text(panel.title.lowercased()), "textFormat": .text("{{instance}}"),
      ])
    }
  }

  private static func position(x: Int, y: Int, width: Int, height: Int) -> JSONValue {
    .object(["x": .whole(x), "y": .whole(y), "w": .whole(width), "h": .whole(height)])
  }

  private func json(_ panel: Panel, _ position: JSONValue) -> JSONValue {
    let style =
      switch panel.form {
      case .graph(let unit, let from, let to): PanelStyle.graph(unit: unit ?? self.unit(of: panel), from: from, to: to)
      case .states(let red): PanelStyle.states(red: red)
      case .alarm: PanelStyle.alarm
      }
    let targets: [JSONValue] = zip("ABCDEFGHIJKLMNOPQRSTUVWXYZ", panel.series).map { letter, series in
      let words = series.legend ?? (field(of: series)?.labels ?? []).map { "{{\($0)}}" }.joined(separator: " ")
      let legend = if case .alarm = panel.form { "" } else { words.isEmpty ? prefix : "\(prefix) \(words)" }
      return .object([
        "refId": .text("\(letter)"), "datasource": Self.source, "editorMode": .text("code"),
        "expr": .text(expression(series, in: panel)), "legendFormat": .text(legend), "range": .boolean(true),
      ])
    }
    return .object([
      "id": .whole(0), "type": .text(style.type), "title": .text(panel.title), "datasource": Self.source,
      "gridPos": position,
      "fieldConfig": .object(["defaults": style.defaults, "overrides": .list(style.overrides)]),
      "options": style.options, "targets": .list(targets), "description": panel.meaning.map { .text($0) },
    ])
  }

  // MARK: queries

  private func expression(_ series: Series, in panel: Panel) -> String {
    let (field, samples) = (field(of: series), Self.selected(whole(series.metric)))
    switch panel.form {
    case .alarm: return "max(\(samples))"
    case .states: return samples + (field?.form.isNumber == true ? " > bool 0" : " == 1")
    case .graph: break
    }
    func change(_ samples: String) -> String {
      series.interval.map { "increase(\(samples)[\($0)])" } ?? "rate(\(samples)[$__rate_interval])"
    }
    let values = series.isCounter ? change(samples) : samples
    let less = series.other.map { " - \(change(Self.selected(whole($0))))" } ?? ""
    let shown =
      switch series.shown {
      case .always: ""
      case .ifAny: " > 0"
      case .ifZero: " == 0"
      }
    return (series.factor == 1 ? "" : "\(series.factor) * ") + values + less + shown
  }

  private static func selected(_ name: String) -> String { "\(name){instance=~\"$instance\"}" }

  /// Returns the name of a metric as it is at `/metrics`.
  private func whole(_ metric: String) -> String {
    declared(
      fields[metric] != nil || measuresMore, "\(name): a panel shows the metric \(metric), which no field has")
    return Unit.none.metricName(name, "") + (metric.isEmpty ? "" : "_\(metric)")
  }

  /// Returns the field of a metric, or `nil` if the metric is one of `MeasuresMore`.
  private func field(of series: Series) -> FieldLeaf? { fields[series.metric] }

  /// Returns Grafana's name for the unit of the first series of a panel: the unit of its field or the one in the name
  /// of the metric.
  private func unit(of panel: Panel) -> String {
    guard let first = panel.series.first else { return "short" }
    if first.isCounter { return "cps" }
    let unit = field(of: first)?.form.unit ?? .none
    return (unit == .none ? Unit.named(in: first.metric) : unit).grafana
  }
}

extension FieldLeaf {
  /// Returns the name of the metric after that of the system, or `nil` if the field has no metric.
  fileprivate func metric(of system: String) -> String? {
    metricName(of: system).map { whole in
      let name = whole.dropFirst(Unit.none.metricName(system, "").count).drop { $0 == "_" }
      return name + (form.kind == .counter ? "_total" : "")
    }
  }
}

extension Unit {
  /// Returns the unit in which the name of a metric ends, or `none`.
  fileprivate static func named(in metric: String) -> Unit {
    let units: [Unit] = [.percent, .celsius, .rpm, .hertz, .seconds, .volts, .amperes, .watts, .metres, .degrees]
    return units.first { metric.hasSuffix("_\($0.metricEnding)") } ?? .none
  }

  /// Grafana's name for the unit of the metric.
  fileprivate var grafana: String {
    switch self {
    case .percent: "percentunit"
    case .celsius: "celsius"
    case .rpm: "rotrpm"
    case .hertz: "hertz"
    case .hours, .minutes, .seconds, .milliseconds, .microseconds: "s"
    case .volts: "volt"
    case .amperes: "amp"
    case .watts: "watt"
    case .metres: "lengthm"
    case .degrees: "degree"
    default: "short"
    }
  }
}
