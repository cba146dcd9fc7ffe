import Wire

extension ScanReport {
  /// Returns the report for people: a table of the finds, then the remarks.
  func text(_ kind: ScanKind) -> String {
    var text = "\(kind.rawValue): " + (finds.isEmpty ? "nothing found" : "\(finds.count) found") + "\n"
    if !finds.isEmpty {
      let rows = [["PLACE", "NAME", "PROBABLY", "FOR KEY", "MORE"]] + finds.map(\.row)
      let widths = rows[0].indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
      for row in rows {
        let cells = zip(row, widths).map { TerminalText.left($0, $1) }
        text += "  " + cells.joined(separator: "  ").trimmingEnd() + "\n"
      }
    }
    for remark in remarks { text += "  \(remark)\n" }
    return text
  }

  /// Returns the reports of several kinds as one JSON object, as docs/scan.md describes it.
  static func json(_ reports: [(kind: ScanKind, report: ScanReport)]) -> JSONValue {
    .object(reports.map { JSONValue.Member(name: $0.kind.rawValue, value: $0.report.json) })
  }
}

extension ScanFind {
  fileprivate var row: [String] {
    let keys = settings.compactMap(\.first?.key).reduce(into: [String]()) { if !$0.contains($1) { $0.append($1) } }
    let more = (trouble.map { [$0] } ?? []) + details
    let shown = more.prefix(4) + (more.count > 4 ? ["\(more.count - 4) more"] : [])
    return [
      place, name, probably.joined(separator: " or "), keys.joined(separator: ", "), shown.joined(separator: ", "),
    ]
  }
}

extension String {
  fileprivate func trimmingEnd() -> String {
    var text = self
    while text.last == " " { text.removeLast() }
    return text
  }
}
