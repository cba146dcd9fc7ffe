/// The tables of loops and of ages, with as many columns as the terminal has room for.
enum TopTable {
  private struct Column<Row>: Sendable {
    let title: String
    /// The width of the column without the space before it.
    let width: Int
    /// The priority of the column: the lower the rank, the longer the column stays when the terminal gets narrow.
    let rank: Int
    let cell: @Sendable (Row) -> String
  }

  private static let loopColumns: [Column<TopRow>] = [
    Column(title: "HZ", width: 7, rank: 0) { $0.hertz.map(Self.hertz) ?? "–" },
    Column(title: "LATE50", width: 6, rank: 5) { time($0.latency.percentile(0.5)) },
    Column(title: "LATE99", width: 6, rank: 1) { time($0.latency.percentile(0.99)) },
    Column(title: "LATEMAX", width: 7, rank: 2) { time($0.latency.percentile(1)) },
    Column(title: "EXEC50", width: 6, rank: 8) { time($0.execution.percentile(0.5)) },
    Column(title: "EXEC99", width: 6, rank: 6) { time($0.execution.percentile(0.99)) },
    Column(title: "EXECMAX", width: 7, rank: 9) { time($0.execution.percentile(1)) },
    Column(title: "SKIPS", width: 6, rank: 3) { count($0.skipped) },
    Column(title: "OVERRUN", width: 7, rank: 4) { count($0.overruns) },
    Column(title: "MISSES", width: 6, rank: 7) { count($0.deadlineMisses) },
    Column(title: "GAPMAX", width: 6, rank: 10) { time($0.longestGap) },
  ]
  private static let ageColumns: [Column<TopAge>] = [
    Column(title: "P50", width: 6, rank: 0) { time($0.median) },
    Column(title: "P99", width: 6, rank: 3) { time($0.p99) },
    Column(title: "MAX", width: 6, rank: 1) { time($0.maximum) },
    Column(title: "LAST", width: 6, rank: 4) { time($0.last) },
    Column(title: "BOUND", width: 6, rank: 2) { time($0.bound) },
  ]
  /// The least width of the sparkline, the last column, which takes the remaining width.
  private static let leastSparkline = 8

  /// Returns the heading and a line for each loop.
  static func lines(_ rows: [TopRow], width: Int) -> [String] {
    let nameWidth = min(max(4, rows.map(\.name.count).max() ?? 4), 20)
    let (visible, left) = fitting(loopColumns, in: width - nameWidth - 1 - leastSparkline)
    let sparkline = min(TopModel.historyLength, leastSparkline + max(0, left))
    return [line("LOOP", nameWidth, visible, \.title) + " JITTER"]
      + rows.map { row in
        // A hanging tick is shown in a column that is never hidden.
        let last = row.hangsFor.map { "on \(time($0))" } ?? Sparkline.text(row.jitter.suffix(sparkline))
        return line(row.name, nameWidth, visible) { $0.cell(row) } + " " + last
      }
  }

  /// Returns the heading and a line for each age, or no lines if there is no age.
  static func lines(_ ages: [TopAge], width: Int) -> [String] {
    guard let longest = ages.map(\.name.count).max() else { return [] }
    let title = "AGE OF DATA"
    let nameWidth = min(max(title.count, longest), max(title.count, width - 21))
    let (visible, _) = fitting(ageColumns, in: width - nameWidth)
    return [line(title, nameWidth, visible, \.title)]
      + ages.map { age in line(age.name, nameWidth, visible) { $0.cell(age) } }
  }

  /// Returns the columns for which `width` has room, and the width that they leave.
  private static func fitting<Row>(_ columns: [Column<Row>], in width: Int) -> (columns: [Column<Row>], left: Int) {
    var left = width
    var shown: Set<Int> = []
    for column in columns.sorted(by: { $0.rank < $1.rank }) {
      guard left >= column.width + 1 else { break }
      left -= column.width + 1
      shown.insert(column.rank)
    }
    return (columns.filter { shown.contains($0.rank) }, left)
  }

  private static func line<Row>(
    _ name: String, _ nameWidth: Int, _ columns: [Column<Row>], _ cell: (Column<Row>) -> String
  ) -> String {
    TerminalText.left(cut(name, nameWidth), nameWidth)
      + columns.map { " " + TerminalText.right(cell($0), $0.width) }.joined()
  }

  private static func cut(_ text: String, _ width: Int) -> String {
    text.count <= width ? text : text.prefix(width - 1) + "…"
  }

  private static func hertz(_ value: Double) -> String {
    let tenths = Int64(saturating: (value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// Returns a number in at most six digits: `123456`, `1234k`, `12M`.
  private static func count(_ value: Int64) -> String {
    switch value {
    case ..<1_000_000: "\(value)"
    case ..<100_000_000: "\(value / 1_000)k"
    default: "\(value / 1_000_000)M"
    }
  }

  /// Returns a time span in two or three digits: `870ns`, `1.2µs`, `12µs`, `3.4s`.
  static func time(_ span: Int64?) -> String {
    // The span is cut at eighteen years; ten times as many still fit.
    guard let nanoseconds = span.map({ min($0, 1 << 59) }) else { return "–" }
    guard nanoseconds >= 1_000 else { return "\(nanoseconds)ns" }
    var (unit, name): (Int64, String) = (1_000, "µs")
    for (larger, itsName) in [(1_000_000, "ms"), (1_000_000_000, "s")] as [(Int64, String)]
    // A value that would round to 1000 of the smaller unit is 1 of the larger.
    where nanoseconds + larger / 2_000 >= larger { (unit, name) = (larger, itsName) }
    let tenths = (nanoseconds * 10 + unit / 2) / unit
    return tenths < 100 ? "\(tenths / 10).\(tenths % 10)\(name)" : "\((nanoseconds + unit / 2) / unit)\(name)"
  }
}

/// A row of bars, one for each time.
enum Sparkline {
  private static let bars = Array("▁▂▃▄▅▆▇█")
  /// The upper limits of all bars but the last, from 3 µs to 3 ms, each about three times the one before. They are the
  /// same for all loops, so that the sparklines can be compared.
  private static let steps: [Int64] = [3_000, 10_000, 30_000, 100_000, 300_000, 1_000_000, 3_000_000]

  /// Returns the bars, with a space for a missing time.
  static func text(_ nanoseconds: some Sequence<Int64?>) -> String {
    String(nanoseconds.map { value in value.map { value in bars[steps.count { value >= $0 }] } ?? " " })
  }
}
