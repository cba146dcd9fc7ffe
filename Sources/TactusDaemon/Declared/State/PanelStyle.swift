import Wire

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
