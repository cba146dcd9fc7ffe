@_spi(FromOutside) import Conversions
import Service
import ServiceDocuments
import Wire

/// The Grafana dashboard of the program: a row for each system, followed by the rows that every program has.
struct Dashboard {
  private let program: DaemonProgram

  init(_ program: DaemonProgram) { self.program = program }

  var text: String {
    let general = Self.read(ServiceDocuments.bytes("grafana-dashboard.json"))
    let systems = program.systems.map { DashboardRow($0) }
    let rows = systems.map(\.json) + Self.rows(of: general)
    let marks = systems.flatMap(\.marks)
    return general.with("title", .text(program.name)).with("uid", .text(program.name))
      .with("annotations", .object(["list": .list(marks)])).with("panels", .list(Self.placed(rows))).indented
  }

  private static func read(_ bytes: [UInt8]) -> JSONValue {
    guard let value = JSONValue(json: bytes) else { preconditionFailure("a dashboard is no JSON") }
    return value
  }

  /// Returns the rows of a dashboard. Each row begins with its title panel.
  private static func rows(of board: JSONValue) -> [[JSONValue]] {
    var rows: [[JSONValue]] = []
    for panel in board["panels"]?.items ?? [] {
      if panel["type"]?.string == "row" { rows.append([]) }
      rows[rows.count - 1].append(panel)
    }
    return rows
  }

  /// Returns the panels with the rows one below the other and the panels renumbered.
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
}

extension JSONValue {
  /// Returns the same object with the member set to another value; the member is added if the object lacks it.
  fileprivate func with(_ name: String, _ value: JSONValue) -> JSONValue {
    guard members.contains(where: { $0.name == name }) else {
      return .object(members + [.init(name: name, value: value)])
    }
    return .object(members.map { $0.name == name ? .init(name: name, value: value) : $0 })
  }
}
