import Service
import ServiceDocuments

/// The program's Grafana dashboard: the written one, with a row for each declared system, and without the rows of systems that the program
/// does not have.
struct Dashboard {
  /// Rows of the written one that every program has use for.
  private static let general = ["Loops", "Daemon"]
  private static let width = 24
  private static let height = 7

  private let program: DaemonProgram

  init(_ program: DaemonProgram) { self.program = program }

  var text: String {
    guard let written = JSONValue(json: ServiceDocuments.bytes("grafana-dashboard.json")) else {
      preconditionFailure("grafana-dashboard.json is no JSON")
    }
    let rows = program.systems.map { Self.row($0) } + Self.rows(of: written).filter { isOurs($0) }
    let title = program.hasOwnSystems ? "Tactus" : program.name
    return JSONValue.object(
      written.members.compactMap { member in
        switch member.name {
        case "title": .init(name: "title", value: .text(title))
        case "uid": .init(name: "uid", value: .text(program.name))
        case "description" where !program.hasOwnSystems:
          .init(name: "description", value: .text("Control loops and daemon, from /metrics."))
        // It tells the robot's e-stop.
        case "annotations" where !program.hasOwnSystems:
          .init(name: "annotations", value: .object([.init(name: "list", value: .list([]))]))
        case "panels": .init(name: "panels", value: .list(Self.placed(rows)))
        default: member
        }
      }
    ).indented
  }

  private func isOurs(_ row: [JSONValue]) -> Bool {
    guard let title = row.first?["title"]?.string else { return true }
    return Self.general.contains(title) || program.kinds.contains { $0.dashboardRow == title }
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
    let fields = System.fields.filter { $0.form.kind != .text }
    let panels = fields.enumerated().map { index, field in
      panel(field, of: System.name, position(x: index % 3 * 8, y: 1 + index / 3 * height, width: 8, height: height))
    }
    return [title] + panels
  }

  private static func position(x: Int, y: Int, width: Int, height: Int) -> JSONValue {
    .object(["x": .whole(x), "y": .whole(y), "w": .whole(width), "h": .whole(height)])
  }

  /// A word is a line of time, a counter its rate, anything else a curve.
  private static func panel<State>(_ field: Field<State>, of system: String, _ position: JSONValue) -> JSONValue {
    let metric = field.unit.metricName(system, field.name) + (field.kind == .counter ? "_total" : "")
    let series = "\(metric){instance=~\"$instance\"}"
    let isWord = field.form.choices != nil
    let label = Unit.words(field.name).joined(separator: "_")
    let source: JSONValue = .object(["type": .text("prometheus"), "uid": .text("${datasource}")])
    let expression = isWord ? "\(series) == 1" : field.kind == .counter ? "rate(\(series)[1m])" : series
    return .object([
      "type": .text(isWord ? "state-timeline" : "timeseries"), "title": .text(field.unit.title(field.name)),
      "description": .text(field.meaning), "datasource": source, "gridPos": position,
      "fieldConfig": .object([
        "defaults": .object(["unit": .text(field.kind == .counter ? "cps" : field.unit.grafana)]),
        "overrides": .list([]),
      ]),
      "options": .object(isWord ? ["showValue": .text("never"), "mergeValues": .boolean(true)] : [:]),
      "targets": .list([
        .object([
          "refId": .text("A"), "datasource": source, "editorMode": .text("code"), "expr": .text(expression),
          "legendFormat": .text(isWord ? "{{instance}} {{\(label)}}" : "{{instance}}"), "range": .boolean(true),
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
