import Plants
import Service
import Store
import TactusDaemon
import WallTime

// The routes of the daily pictures. They also exist if the file asks for no pictures, and then say how to have some.
extension PlantRoutes {
  /// As many as `plants.pictures.days` allows.
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
        let day = LocalDate(daysSince1970: try await pictures.take())
        return APIResponse(PictureAnswer(day: "\(day)"), status: .created, logValue: "day=\(day)")
      },
    ]
  }
}

private struct PicturesAnswer: Answers {
  let isTaken: Bool
  let failure: String?
  /// Newest first.
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
