@_spi(FromOutside) import Conversions
import Plants
import Service
import Store
import TactusDaemon
import WallTime

// The routes of the past: readings, alerts and waterings.
extension PlantRoutes {
  private static let secondsUnlessAsked: Int64 = 86_400
  private static let pointsUnlessAsked: Int64 = 200

  var historyRoutes: [Route] {
    [
      Route(.get, "/api/plants/{id}/history") { [self] request in
        let plant = try plant(request)
        let query = try QueryReader(request.query, names: ["since", "until", "points"])
        let points = Int(try query.integer("points", in: 1...2_000) ?? Self.pointsUnlessAsked)
        let (since, until) = try span(query)
        return APIResponse(
          HistoryAnswer(
            plantId: Int(clamping: plant.id.number), since: since.text, until: until.text,
            sensors: try plant.sensors.map { .init(sensor: $0.text, rows: try rows($0, since, until, points)) }))
      },
      Route(.get, "/api/plants/{id}/history.csv") { [self] request in
        let plant = try plant(request)
        let (since, until) = try span(try QueryReader(request.query, names: ["since", "until"]))
        var text = "start,sensor,span_s,samples,least_percent,mean_percent,greatest_percent,mean_celsius\r\n"
        for sensor in plant.sensors {
          for row in try rows(sensor, since, until, nil) {
            let celsius = row.meanCelsius.map { "\($0.tenths)" } ?? ""
            text += "\(row.start.text),\(sensor),\(row.spanSeconds),\(row.count),"
            text += "\(row.leastPercent.tenths),\(row.meanPercent.tenths),\(row.greatestPercent.tenths),\(celsius)\r\n"
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
            AlertsAnswer.Active(plantId: Int(clamping: owner.id.number), name: owner.name.text, alert: $0.rawValue)
          }
        }
        return APIResponse(AlertsAnswer(active: active, events: lines))
      },
    ]
  }

  /// Returns the requested period; by default the last day until now.
  private func span(_ query: QueryReader) throws(APIError) -> (PlantInstant, PlantInstant) {
    // The default period ends one second from now, so that it includes the span that has just begun.
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

private struct HistoryAnswer: Answers {
  struct Sensor: Sendable {
    let sensor: String
    let rows: [PlantHistoryRow]
  }
  let plantId: Int
  let since, until: String
  let sensors: [Sensor]

  static var fields: [Field<Self>] {
    Field("plantId", \.plantId, "Its number.")
    Field("sinceISO", \.since, "From here.")
    Field("untilISO", \.until, "Until here, which is not in it.")
    Items("sensors", \.sensors, each: "sensor") {
      Field("sensor", \.sensor, "The probe.")
      Items("rows", \.rows, each: "row") {
        Field("startISO", \.start.text, "When the span begins.")
        Field("spanSec", \.spanSeconds, unit: .seconds, "How long it is.")
        Field("samples", \.count, "Samples in it.")
        Field("leastPercent", \.leastPercent.tenths, unit: .percent, "The driest of them.")
        Field("meanPercent", \.meanPercent.tenths, unit: .percent, "Their mean.")
        Field("greatestPercent", \.greatestPercent.tenths, unit: .percent, "The wettest of them.")
        Field("meanCelsius", \.meanCelsius.tenths, unit: .celsius, "Null without a thermometer.")
      }
    }
  }
}

private struct AlertsAnswer: Answers {
  struct Active: Sendable {
    let plantId: Int
    let name, alert: String
  }
  let active: [Active]
  /// The events, newest first.
  let events: [PlantLogLine]

  static var fields: [Field<Self>] {
    Items("active", \.active, each: "alert") {
      Field("plantId", \.plantId, "The plant's number.")
      Field("name", \.name, "What it is called.")
      Field("alert", \.alert, "What is wrong.")
    }
    Items("events", \.events, each: "event", "Newest first.") {
      Field("atISO", \.at.text, "When.")
      Field("plantId", \.plantNumber, "The plant's number.")
      Field("name", \.plantName, "What it was called.")
      Field("kind", \.kind.rawValue, "raised, cleared, watered, asked, refused, calibrated.")
      Field("detail", \.detail, "What it was, for people.")
    }
  }
}

extension PlantLogLine {
  fileprivate var plantNumber: Int { Int(clamping: plant.number) }
}

// The routes of the daily pictures. They also exist if the file asks for no pictures, and then say how to have some.
extension PlantRoutes {
  /// The greatest number of pictures in one answer, which is the maximum of `plants.pictures.days`.
  private static let mostPictures = 3_660

  var pictureRoutes: [Route] {
    [
      Route(.get, "/api/plants/pictures") { [self] request in
        let query = try QueryReader(request.query, names: ["limit"])
        let limit = Int(clamping: try query.integer("limit", in: 1...Int64(Self.mostPictures)) ?? 400)
        let found = try stored { () throws(StoreError) in
          try pictures?.store.pictures(before: .max, limit: limit) ?? []
        }
        return APIResponse(PicturesAnswer(isTaken: pictures != nil, failure: pictures?.failure, pictures: found))
      },
      Route(.get, "/api/plants/pictures/{day}") { [self] request in
        let text = request.parameters["day"] ?? ""
        let picture = try stored { () throws(StoreError) in
          let found = try pictures?.store.pictures(before: .max, limit: Self.mostPictures).first { $0.date == text }
          return try found.flatMap { picture throws(StoreError) in try pictures?.store.picture(of: picture.day) }
        }
        guard let picture else {
          throw APIError.notFound("no picture of the day \(text.prefix(20)); GET /api/plants/pictures lists them")
        }
        return APIResponse(contentType: "image/jpeg", body: picture)
      },
      Route(.post, "/api/plants/pictures", scope: .control, action: "plants.picture") { [self] _ in
        guard let pictures else {
          throw APIError.conflict(
            "NO_PICTURES", "no pictures are kept: plants.pictures.hour in the file says when to take them")
        }
        let day = LocalDate(daysSince1970: try await pictures.takePicture())
        return APIResponse(PictureAnswer(day: "\(day)"), status: .created, logValue: "day=\(day)")
      },
    ]
  }
}

private struct PicturesAnswer: Answers {
  let isTaken: Bool
  let failure: String?
  /// The pictures, the newest first.
  let pictures: [PlantPicture]

  static var fields: [Field<Self>] {
    Field("isTaken", \.isTaken, "Whether the file says that a picture is taken each day.")
    Field("failure", \.failure, "Why the last attempt gave none; null: it did not fail.")
    Items("pictures", \.pictures, each: "picture") {
      Field("day", \.date, "Its day, by the daemon's time zone.")
      Field("takenISO", \.taken, "When it was taken.")
      Field("bytes", \.length, "How long it is.")
    }
  }
}

private struct PictureAnswer: Answers {
  let day: String

  static var fields: [Field<Self>] {
    Field("day", \.day, "Its day, by the daemon's time zone.")
  }
}
