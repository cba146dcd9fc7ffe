import Service
import ServiceDocuments
import Wire

/// The program's Grafana dashboard: a row for each system, written or from its declaration, then those of every program.
struct Dashboard {
  private static let width = 24
  private static let height = 7

  private let program: DaemonProgram

  init(_ program: DaemonProgram) { self.program = program }

  var text: String {
    let general = Self.read(ServiceDocuments.bytes("grafana-dashboard.json"))
    let written = program.kinds.compactMap(\.documents).map { Self.read($0.dashboard) }
    let rows = program.systems.map { Self.row($0) } + (written + [general]).flatMap { Self.rows(of: $0) }
    let marks = written.flatMap { $0["annotations"]?.items ?? [] }
    return general.with("title", .text(program.name)).with("uid", .text(program.name))
      .with("annotations", .object(["list": .list(marks)])).with("panels", .list(Self.placed(rows))).indented
  }

  private static func read(_ bytes: [UInt8]) -> JSONValue {
    guard let value = JSONValue(json: bytes) else { preconditionFailure("a dashboard is no JSON") }
    return value
  }

  /// Each begins with its title.
  private static func rows(of board: JSONValue) -> [[JSONValue]] {
    var rows: [[JSONValue]] = []
    for panel in board["panels"]?.items ?? [] {
      if panel["type"]?.string == "row" { rows.append([]) }
      rows[rows.count - 1].append(panel)
    }
    return rows
  }

  /// One below the other, with numbers of their own.
  private static func placed(_ rows: [[JSONValue]]) -> [JSONValue] {
    var (top, id) = (0, 0)
    return rows.flatMap { row in
      let from = row.compactMap { place($0, "y") }.min() ?? 0
      let bottom = row.map { (place($0, "y") ?? 0) + (place($0, "h") ?? 0) }.max() ?? 0
      let panels = row.map { panel in
        id += 1
        let position = (panel["gridPos"] ?? .null).with("y", .whole((place(panel, "y") ?? 0) - from + top))
        return panel.with("id", .whole(id)).with("gridPos", position)
      }
      top += bottom - from
      return panels
    }
  }

  private static func place(_ panel: JSONValue, _ name: String) -> Int? {
    if case .number(let digits)? = panel["gridPos"]?[name] { Int(digits) } else { nil }
  }

  // MARK: a declared system's

  private static func row<System: DeviceSystem>(_: System.Type) -> [JSONValue] {
    let title: JSONValue = .object([
      "type": .text("row"), "title": .text(System.name.titled), "collapsed": .boolean(false),
      "gridPos": position(x: 0, y: 0, width: width, height: 1), "panels": .list([]),
    ])
    let leaves = System.fields.map(\.shape).leaves(nil)
    var metrics: Set<String> = []
    // Fields that share a metric share a panel.
    let panels = leaves.filter { leaf in
      guard leaf.form.plain.kind != .text, let metric = leaf.metricName(of: System.name) else { return false }
      return metrics.insert(metric).inserted
    }
    return [title]
      + panels.enumerated().compactMap { index, leaf in
        panel(
          leaf, of: System.name, isOneOfSeveral: System.several != nil,
          position(x: index % 3 * 8, y: 1 + index / 3 * height, width: 8, height: height))
      }
  }

  private static func position(x: Int, y: Int, width: Int, height: Int) -> JSONValue {
    .object(["x": .whole(x), "y": .whole(y), "w": .whole(width), "h": .whole(height)])
  }

  /// A word is a line of time, a counter its rate, anything else a curve.
  private static func panel(
    _ leaf: FieldLeaf, of system: String, isOneOfSeveral: Bool, _ position: JSONValue
  ) -> JSONValue? {
    guard let name = leaf.metricName(of: system) else { return nil }
    let form = leaf.form
    let metric = name + (form.kind == .counter ? "_total" : "")
    let series = "\(metric){instance=~\"$instance\"}"
    let isWord = form.plain.choices != nil
    let kind = isOneOfSeveral ? [system.replacing("-", with: "_")] : []
    let legend = (["instance"] + kind + leaf.labels).map { "{{\($0)}}" }.joined(separator: " ")
    let title = (leaf.names.dropLast().map { Unit.none.title($0) } + [form.unit.title(leaf.name)]).joined(
      separator: " ")
    let source: JSONValue = .object(["type": .text("prometheus"), "uid": .text("${datasource}")])
    let expression = isWord ? "\(series) == 1" : form.kind == .counter ? "rate(\(series)[1m])" : series
    return .object([
      "type": .text(isWord ? "state-timeline" : "timeseries"), "title": .text(title),
      "description": .text(leaf.meaning), "datasource": source, "gridPos": position,
      "fieldConfig": .object([
        "defaults": .object(["unit": .text(form.kind == .counter ? "cps" : form.unit.grafana)]),
        "overrides": .list([]),
      ]),
      "options": .object(isWord ? ["showValue": .text("never"), "mergeValues": .boolean(true)] : [:]),
      "targets": .list([
        .object([
          "refId": .text("A"), "datasource": source, "editorMode": .text("code"), "expr": .text(expression),
          "legendFormat": .text(legend), "range": .boolean(true),
        ])
      ]),
    ])
  }
}

extension JSONValue {
  /// The same object with another value of this member, which is added if there is none.
  fileprivate func with(_ name: String, _ value: JSONValue) -> JSONValue {
    guard members.contains(where: { $0.name == name }) else {
      return .object(members + [.init(name: name, value: value)])
    }
    return .object(members.map { $0.name == name ? .init(name: name, value: value) : $0 })
  }
}

extension Unit {
  /// Grafana's name of the unit that the metric is in.
  fileprivate var grafana: String {
    switch self {
    case .percent: "percentunit"
    case .celsius: "celsius"
    case .rpm: "rotrpm"
    case .hertz: "hertz"
    case .seconds, .milliseconds, .microseconds: "s"
    case .volts: "volt"
    case .amperes: "amp"
    case .watts: "watt"
    case .metres: "lengthm"
    case .degrees: "degree"
    default: "short"
    }
  }
}
