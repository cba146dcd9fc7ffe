import Plants
import Service

/// The body of `POST /api/plants`.
struct NewPlantBody: JSONReadable {
  let user: PlantUser
  let name: String
  let sensors: [String]
  private let limits: PlantLimitsBody
  private let area: PlantPictureArea?

  init(_ body: inout JSONReader) throws(APIError) {
    user = try body.optional("user", .plantUser) ?? PlantRoutes.ownUser
    name = try body.required("name", .name(1...64))
    sensors = try body.required("sensors", .list(of: .text(1...64), 1...4))
    limits = try PlantLimitsBody(&body)
    area = try body.pictureArea()
  }

  func command(_ rules: PlantBookRules) -> PlantCommand {
    .add(name: name, sensors: sensors, limits: limits.applied(to: rules.limits), area: area)
  }
}

/// The body of `PUT /api/plants/{id}`: members that are missing stay as they are, null removes a limit, and members that only `GET` returns are
/// ignored.
struct PlantBody: JSONReadable {
  let edit: PlantEdit

  init(_ body: inout JSONReader) throws(APIError) {
    var edit = PlantEdit(
      name: try body.optional("name", .name(1...64)),
      sensors: try body.optional("sensors", .list(of: .text(1...64), 1...4)))
    let limits = try PlantLimitsBody(&body)
    edit.dryPercent = limits.dryPercent
    edit.wetPercent = limits.wetPercent
    edit.coldCelsius = limits.coldCelsius
    edit.hotCelsius = limits.hotCelsius
    if body.has("pictureArea") { edit.pictureArea = .some(try body.pictureArea()) }
    self.edit = edit
    for name in [
      "ok", "id", "state", "user", "moisturePercent", "temperatureCelsius", "alerts", "lastWateredISO", "watering",
    ] { body.ignore(name) }
  }
}

extension JSONReader {
  fileprivate mutating func pictureArea() throws(APIError) -> PlantPictureArea? {
    try optional("pictureArea", .object(PlantPictureAreaBody.self))?.area
  }
}

/// The part of the picture that shows a plant: `{"left": 0, "top": 25, "width": 50, "height": 75}`.
struct PlantPictureAreaBody: JSONReadable {
  let area: PlantPictureArea

  init(_ body: inout JSONReader) throws(APIError) {
    let percent = JSONKind<Double>.number(0...100)
    let (left, top) = (try body.required("left", percent), try body.required("top", percent))
    let (width, height) = (try body.required("width", percent), try body.required("height", percent))
    do throws(PlantRefusal) {
      area = try PlantPictureArea(left: left, top: top, width: width, height: height)
    } catch {
      throw error.apiError
    }
  }
}

/// The four limits; `.some(nil)` removes one.
struct PlantLimitsBody {
  let dryPercent, wetPercent, coldCelsius, hotCelsius: Double??

  init(_ body: inout JSONReader) throws(APIError) {
    func limit(_ name: String, _ range: ClosedRange<Double>) throws(APIError) -> Double?? {
      let isGiven = body.has(name)
      let value = try body.optional(name, .number(range))
      return isGiven ? .some(value) : nil
    }
    dryPercent = try limit("dryPercent", 0...100)
    wetPercent = try limit("wetPercent", 0...100)
    coldCelsius = try limit("coldCelsius", -40...85)
    hotCelsius = try limit("hotCelsius", -40...85)
  }

  func applied(to standard: PlantLimits) -> PlantLimits {
    PlantLimits(
      dryPercent: dryPercent ?? standard.dryPercent, wetPercent: wetPercent ?? standard.wetPercent,
      coldCelsius: coldCelsius ?? standard.coldCelsius, hotCelsius: hotCelsius ?? standard.hotCelsius)
  }
}

/// The body of `POST /api/plants/sensors/{sensor}/calibrate`: `{"point":"dry"}` uses the last reading as that point, `{"dry":810,"wet":1490}` sets
/// both points.
struct PlantCalibrationBody: JSONReadable {
  enum Wanted {
    case dryIsNow
    case wetIsNow
    case points(dry: Double, wet: Double)
  }
  let wanted: Wanted

  init(_ body: inout JSONReader) throws(APIError) {
    let range = JSONKind<Double>.number(-10_000...70_000)
    let point = try body.optional("point", .choice(["dry", "wet"]))
    let (dry, wet) = (try body.optional("dry", range), try body.optional("wet", range))
    switch (point, dry, wet) {
    case ("dry", nil, nil): wanted = .dryIsNow
    case ("wet", nil, nil): wanted = .wetIsNow
    case (nil, let dry?, let wet?): wanted = .points(dry: dry, wet: wet)
    default:
      throw body.refusal("point", expected: "point alone, or dry and wet", got: "something else")
    }
  }
}

extension PlantUser {
  static let expected = "a client's name, 1…64 characters, or a plant's user as GET /api/plants shows it"

  /// Creates the user of a request; fails unless the name has 1…64 characters, because longer names are known only by their hash.
  init?(name: String) {
    guard (1...64).contains(name.unicodeScalars.count) else { return nil }
    self = PlantUser(key: name) ?? PlantUser(sender: name)
  }
}

extension JSONKind where Value == PlantUser {
  static var plantUser: JSONKind {
    JSONKind(PlantUser.expected) { value in
      if case .text(let text) = value { PlantUser(name: text) } else { nil }
    }
  }
}

extension PlantRefusal {
  var apiError: APIError {
    let field = field
    switch tag {
    case .plantNameTaken: return APIError(.conflict, "NAME_TAKEN", message, field: field)
    case .tooManyPlants: return APIError(.conflict, "TOO_MANY_PLANTS", message)
    case .cannotDeletePlant, .noPlantDataToRequest: return .notFound(message)
    default:
      return APIError(.unprocessableContent, "VALIDATION", "\(field.map { "\($0): " } ?? "")\(message)", field: field)
    }
  }
}
