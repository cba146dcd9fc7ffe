import Service
import Sprinkler

/// The body of `POST /api/zone/{id}/on`: `{"minutes":12}`, `{"litres":20}`, `{"seconds":90,"mode":"extend"}`. Without a body the zone's default duration applies.
struct ZoneOnBody: JSONReadable {
  /// The duration, with `litres` the longest one; `nil` for the zone's own.
  let seconds: Int?
  /// The water, or `nil` for a run by time.
  let litres: Double?
  let extends: Bool

  init(seconds: Int? = nil) { (self.seconds, litres, extends) = (seconds, nil, false) }

  init(_ body: inout JSONReader) throws(APIError) {
    seconds = try WateringTime.read(&body)
    litres = try body.optional("litres", .litres)
    extends = try body.optional("mode", .choice(["set", "extend"])) == "extend"
    if extends, litres != nil {
      throw body.refusal("litres", expected: "minutes or seconds to add", got: "litres")
    }
    if extends, seconds == nil { throw body.refusal("minutes", expected: "minutes or seconds to add", got: "nothing") }
  }
}

/// One zone of `PUT /api/zones`. Missing members leave the property unchanged; members that only `GET` gives are ignored.
struct ZoneBody: JSONReadable {
  let id: ZoneID?
  private let name: String?
  private let gpioPin: Int?
  private let isEnabled: Bool?
  private let defaultSeconds: Int?
  private let maximumSeconds: Int?
  /// The daily limit: `.some(nil)` removes it, `nil` leaves it unchanged.
  private let maximumSecondsPerDay: Int??
  private let group: Int??
  private let ignoresRain: Bool?
  private let usesMaster: Bool?

  init(_ body: inout JSONReader) throws(APIError) {
    id = try body.optional("id", .zoneID)
    name = try body.optional("name", .name(1...40))
    gpioPin = try body.optional("gpioPin", .integer(0...1023))
    isEnabled = try body.optional("isEnabled", .boolean)
    defaultSeconds = try WateringTime.read(&body, minutes: "defaultMinutes", seconds: "defaultSeconds")
    maximumSeconds = try WateringTime.read(&body, minutes: "maxMinutes", seconds: "maxSeconds")
    let limitsDay = body.has("maxMinutesPerDay")
    let perDay = try body.optional("maxMinutesPerDay", .minutes)
    maximumSecondsPerDay = limitsDay ? .some(perDay) : nil
    let givesGroup = body.has("group")
    let group = try body.optional("group", .integer(1...15))
    self.group = givesGroup ? .some(group) : nil
    ignoresRain = try body.optional("ignoresRain", .boolean)
    usesMaster = try body.optional("usesMaster", .boolean)
    for name in ["isOn", "remainingSec", "activeLow", "ranTodaySec", "runId", "runLitres", "runLitresAsked"] {
      body.ignore(name)
    }
  }

  /// Returns the zone with the members of this body applied.
  ///
  /// - Parameters:
  ///   - zones: the present zones.
  ///   - path: the path of the body for error messages, such as `zones[2]`.
  func applied(to zones: [Zone], path: String) throws(APIError) -> Zone {
    guard let id else { throw .validation("\(path).id", expected: JSONKind<ZoneID>.zoneID.expected, got: "nothing") }
    let known = zones.first { $0.id == id }
    guard let pin = gpioPin ?? known?.gpioPin else {
      throw .validation("\(path).gpioPin", expected: "a pin for the new zone \(id)", got: "nothing")
    }
    var zone = known ?? Zone(id: id, name: "Zone \(id)", gpioPin: pin)
    zone.gpioPin = pin
    zone.name = name ?? zone.name
    zone.isEnabled = isEnabled ?? zone.isEnabled
    zone.defaultSeconds = defaultSeconds ?? zone.defaultSeconds
    zone.maximumSeconds = maximumSeconds ?? zone.maximumSeconds
    zone.maximumSecondsPerDay = maximumSecondsPerDay ?? zone.maximumSecondsPerDay
    zone.group = group ?? zone.group
    zone.ignoresRain = ignoresRain ?? zone.ignoresRain
    zone.usesMaster = usesMaster ?? zone.usesMaster
    guard zone.defaultSeconds <= zone.maximumSeconds else {
      if defaultSeconds == nil {
        let usual = WateringTime.text(zone.defaultSeconds)
        throw .validation(
          "\(path).maxMinutes", expected: "at least defaultMinutes, which is \(usual) unless it is given, too",
          got: WateringTime.text(zone.maximumSeconds))
      }
      throw .validation(
        "\(path).defaultMinutes", expected: "at most maxMinutes (\(WateringTime.text(zone.maximumSeconds)))",
        got: WateringTime.text(zone.defaultSeconds))
    }
    return zone
  }
}

/// The body of `PUT /api/zones`: every zone in order, as a list or as the member `zones`.
struct ZonesBody: JSONReadable {
  private let zones: [ZoneBody]

  init(_ body: inout JSONReader) throws(APIError) {
    zones = try body.required("zones", .list(of: .object(ZoneBody.self), 1...ZoneID.maximum))
    body.ignore("ok")
  }

  func applied(to present: [Zone]) throws(APIError) -> [Zone] {
    var result: [Zone] = []
    for (index, zone) in zones.enumerated() {
      let zone = try zone.applied(to: present, path: "zones[\(index)]")
      if result.contains(where: { $0.id == zone.id }) {
        throw .validation("zones[\(index)].id", expected: "each zone once", got: "zone \(zone.id) again")
      }
      result.append(zone)
    }
    return result
  }
}
