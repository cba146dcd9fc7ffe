import Plants
import Service
import Store
import WallTime

// What was: readings, alerts, waterings.
extension PlantDoor {
  private static let secondsUnlessAsked: Int64 = 86_400
  private static let pointsUnlessAsked: Int64 = 200

  var historyRoutes: [Route] {
    [
      Route(.get, "/api/plants/{id}/history") { [self] request in
        let plant = try plant(request)
        let query = try QueryReader(request.query, names: ["since", "until", "points"])
        let points = Int(try query.integer("points", in: 1...2_000) ?? Self.pointsUnlessAsked)
        let (since, until) = try span(query)
        return .json(
          PlantHistoryDocument(
            plantId: plant.id.number, sinceISO: since.text, untilISO: until.text,
            sensors: try plant.sensors.map { sensor in
              PlantHistoryDocument.Sensor(sensor: sensor, rows: try rows(sensor, since, until, points))
            }))
      },
      Route(.get, "/api/plants/{id}/history.csv") { [self] request in
        let plant = try plant(request)
        let (since, until) = try span(try QueryReader(request.query, names: ["since", "until"]))
        var text = "start,sensor,span_s,samples,least_percent,mean_percent,greatest_percent,mean_celsius\r\n"
        for sensor in plant.sensors {
          for row in try rows(sensor, since, until, nil) {
            let celsius = row.meanCelsius.map { "\(tenth($0))" } ?? ""
            text += "\(row.start.text),\(sensor),\(row.spanSeconds),\(row.count),"
            text += "\(tenth(row.leastPercent)),\(tenth(row.meanPercent)),\(tenth(row.greatestPercent)),\(celsius)\r\n"
          }
        }
        return APIResponse(
          contentType: "text/csv; charset=utf-8",
          headers: [.contentDisposition: #"attachment; filename="plant-\#(plant.id).csv""#], body: Array(text.utf8))
      },
      Route(.get, "/api/plants/alerts") { [self] request in
        let query = try QueryReader(request.query, names: ["plant", "limit"])
        let plant = try query.integer("plant", in: 1...9_007_199_254_740_991).map { PlantID(UInt64(clamping: $0)) }
        let limit = Int(try query.integer("limit", in: 1...1_000) ?? 100)
        let lines = try stored { () throws(StoreError) in try desk.events(of: plant, limit: limit) }
        let view = desk.view
        let active = view.records.plants.filter { plant == nil || plant == $0.id }.flatMap { owner in
          (view.conditions[owner.id]?.alerts ?? []).sorted().map {
            PlantAlertsDocument.Active(plantId: owner.id.number, name: owner.name.text, alert: $0.rawValue)
          }
        }
        return .json(PlantAlertsDocument(active: active, events: lines.map(PlantAlertsDocument.Line.init)))
      },
    ]
  }

  /// Until now, since a day ago, unless asked otherwise.
  private func span(_ query: QueryReader) throws(APIError) -> (PlantInstant, PlantInstant) {
    // The span that has just begun counts.
    let now = WallInstant(secondsSince1970: desk.wall().secondsSince1970 + 1)
    let span = try query.span(since: { $0 - Self.secondsUnlessAsked }, until: now)
    return (
      PlantInstant(secondsSince1970: span.lowerBound.secondsSince1970),
      PlantInstant(secondsSince1970: span.upperBound.secondsSince1970)
    )
  }

  private func rows(
    _ sensor: PlantSensorID, _ since: PlantInstant, _ until: PlantInstant, _ points: Int?
  ) throws(APIError) -> [PlantHistoryRow] {
    try stored { () throws(StoreError) in try desk.history(of: sensor, from: since, until: until, points: points) }
  }
}

private struct PlantHistoryDocument: Encodable {
  struct Sensor: Encodable {
    let sensor: String
    let rows: [Row]

    init(sensor: PlantSensorID, rows: [PlantHistoryRow]) {
      self.sensor = sensor.text
      self.rows = rows.map(Row.init)
    }
  }
  struct Row: Encodable {
    let startISO: String
    let spanSec: Int64
    /// Samples in it.
    let samples: Int
    let leastPercent, meanPercent, greatestPercent: Double
    @OrNull var meanCelsius: Double?

    init(_ row: PlantHistoryRow) {
      startISO = row.start.text
      spanSec = row.spanSeconds
      samples = row.count
      leastPercent = tenth(row.leastPercent)
      meanPercent = tenth(row.meanPercent)
      greatestPercent = tenth(row.greatestPercent)
      _meanCelsius = OrNull(wrappedValue: row.meanCelsius.map(tenth))
    }
  }
  let ok = true
  let plantId: UInt64
  let sinceISO, untilISO: String
  let sensors: [Sensor]
}

private struct PlantAlertsDocument: Encodable {
  struct Active: Encodable {
    let plantId: UInt64
    let name, alert: String
  }
  struct Line: Encodable {
    let atISO: String
    let plantId: UInt64
    let name, kind, detail: String

    init(_ line: PlantLogLine) {
      atISO = line.at.text
      plantId = line.plant.number
      name = line.plantName
      kind = line.kind.rawValue
      detail = line.detail
    }
  }
  let ok = true
  let active: [Active]
  /// Newest first.
  let events: [Line]
}
