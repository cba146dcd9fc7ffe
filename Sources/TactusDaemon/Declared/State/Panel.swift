import Wire

/// A protocol for a system that arranges the panels of its row of the Grafana dashboard itself. The row of any other
/// system has a panel for each metric.
public protocol HasPanels: DeviceSystem {
  /// The title of the row; by default the name of the system.
  static var rowTitle: String { get }
  /// The panels, which fill the row from left to right and continue below.
  @DeclarationBuilder<Panel> static var panels: [Panel] { get }
}

extension HasPanels {
  /// The name of the system as a title, such as `Fan` for `fan`.
  public static var rowTitle: String { name.titled }
}

/// A panel of the Grafana dashboard.
public struct Panel: Sendable {
  enum Form: Sendable {
    /// A graph; the unit is Grafana's identifier, or `nil` for the unit of the first series.
    case graph(unit: String?, from: Int?, to: Int?)
    /// A row for each state, drawn while it holds, in red if its legend ends in one of these words.
    case states(red: [String])
    /// An indicator of the largest sample, which is red unless that sample is zero.
    case alarm
  }

  let title: String
  let meaning: String?
  let form: Form
  /// The size in Grafana's units: 24 columns are the whole width.
  let width, height: Int
  let series: [Series]

  init(
    _ title: String, _ meaning: String?, _ form: Form, width: Int, height: Int, _ series: [Series]
  ) {
    declared(series.count <= 26, "\(title): Grafana has a letter for each series, at most 26, got \(series.count)")
    (self.title, self.meaning, self.form, self.series) = (title, meaning, form, series)
    (self.width, self.height) = (width, height)
  }

  /// Creates a graph.
  ///
  /// - Parameters:
  ///   - unit: Grafana's identifier of the unit, such as `reqps`; by default the unit of the first series' field.
  ///   - from: the lowest value of the axis; by default it follows from the samples.
  ///   - to: the highest value of the axis; by default it follows from the samples.
  ///   - width: in columns; 24 are the whole width.
  ///   - height: in Grafana's units of about 30 pixels.
  public init(
    _ title: String, _ meaning: String? = nil, unit: String? = nil, from: Int? = nil, to: Int? = nil,
    width: Int = 12, height: Int = 7, @DeclarationBuilder<Series> series: () -> [Series]
  ) {
    self.init(title, meaning, .graph(unit: unit, from: from, to: to), width: width, height: height, series())
  }

  /// Creates a timeline with a row for each word of a field, drawn while the field is that word. A field that is a
  /// boolean has one row, drawn while it is true, and a number one that is drawn while it is greater than zero.
  ///
  /// - Parameter red: the words whose rows are red; the others are blue.
  public static func states(
    _ title: String, _ meaning: String? = nil, red: [String] = ["emergency_stopped", "fault"],
    width: Int = 24, height: Int = 4, @DeclarationBuilder<Series> series: () -> [Series]
  ) -> Panel {
    Panel(title, meaning, .states(red: red), width: width, height: height, series())
  }

  /// Creates an indicator that is red while the metric is not zero. Each rise of the metric is marked in all graphs.
  public static func alarm(_ title: String, _ metric: String, width: Int = 4, height: Int = 4) -> Panel {
    Panel(title, nil, .alarm, width: width, height: height, [Series(metric)])
  }
}

/// The samples of a metric in a panel. A counter is shown by its rate or increase, and any other field by its values.
public struct Series: Sendable {
  /// The choice of the samples that are drawn.
  public enum Shown: Sendable {
    /// All samples are drawn.
    case always
    /// The samples above zero are drawn.
    case ifAny
    /// The samples that are zero are drawn.
    case ifZero
  }

  let metric: String
  let legend: String?
  /// The name of a counter whose increase is subtracted, or `nil` if there is none.
  let other: String?
  let interval: String?
  let factor: Int
  let shown: Shown

  var isCounter: Bool { metric.hasSuffix("_total") }

  /// Creates the series.
  ///
  /// - Parameters:
  ///   - metric: the name that the metric has at `/metrics`, without `tactus_` and the name of the system.
  ///   - legend: the legend after the instance, with labels as `{{leg}}`; by default all labels.
  ///   - less: the name of a counter whose increase is subtracted.
  ///   - interval: the time over which the increase of a counter is drawn, such as `1h`; by default its rate is drawn.
  ///   - factor: a factor for the values, such as 8 for the bits of bytes.
  ///   - shown: which samples are drawn.
  public init(
    _ metric: String, _ legend: String? = nil, less other: String? = nil, over interval: String? = nil,
    times factor: Int = 1, _ shown: Shown = .always
  ) {
    (self.metric, self.legend, self.other, self.interval) = (metric, legend, other, interval)
    (self.factor, self.shown) = (factor, shown)
  }
}

/// The appearance of a panel, as Grafana has it.
struct PanelStyle {
  /// Grafana's name of the kind of panel.
  let type: String
  let defaults: JSONValue
  var overrides: [JSONValue] = []
  let options: JSONValue

  static func graph(unit: String, from: Int?, to: Int?) -> PanelStyle {
    PanelStyle(
      type: "timeseries",
      defaults: .object([
        "unit": .text(unit), "min": from.map { .whole($0) }, "max": to.map { .whole($0) },
        "custom": .object([
          "drawStyle": .text("line"), "lineWidth": .whole(1), "fillOpacity": .whole(8), "showPoints": .text("never"),
          "spanNulls": .boolean(false),
        ]),
      ]),
      options: .object([
        "legend": legend(isShown: true), "tooltip": .object(["mode": .text("multi"), "sort": .text("desc")]),
      ]))
  }

  static func states(red: [String]) -> PanelStyle {
    PanelStyle(
      type: "state-timeline", defaults: .object(["mappings": mappings([("1", "yes", "blue")])]),
      overrides: red.isEmpty
        ? []
        : [
          .object([
            "matcher": .object([
              "id": .text("byRegexp"), "options": .text(".*(\(red.joined(separator: "|")))"),
            ]),
            "properties": .list([
              .object(["id": .text("mappings"), "value": mappings([("1", "yes", "red")])])
            ]),
          ])
        ],
      options: .object([
        "mergeValues": .boolean(true), "showValue": .text("never"), "rowHeight": .number("0.8"),
        "legend": legend(isShown: false),
      ]))
  }

  static let alarm = PanelStyle(
    type: "stat",
    defaults: .object([
      "mappings": mappings([("0", "no", "green"), ("1", "YES", "red")]),
      "thresholds": .object([
        "mode": .text("absolute"),
        "steps": .list([
          .object(["color": .text("green"), "value": .null]), .object(["color": .text("red"), "value": .whole(1)]),
        ]),
      ]),
      "color": .object(["mode": .text("thresholds")]),
    ]),
    options: .object([
      "colorMode": .text("background"), "graphMode": .text("none"),
      "reduceOptions": .object([
        "calcs": .list([.text("lastNotNull")]), "fields": .text(""), "values": .boolean(false),
      ]),
    ]))

  private static func legend(isShown: Bool) -> JSONValue {
    .object(["displayMode": .text("list"), "placement": .text("bottom"), "showLegend": .boolean(isShown)])
  }

  /// Returns a text and a color for each value.
  private static func mappings(_ texts: [(value: String, text: String, color: String)]) -> JSONValue {
    let options = texts.enumerated().map { index, of in
      JSONValue.Member(
        name: of.value,
        value: .object(["text": .text(of.text), "color": .text(of.color), "index": .whole(index)]))
    }
    return .list([.object(["type": .text("value"), "options": .object(options)])])
  }
}
