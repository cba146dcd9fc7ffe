import Logging
import Plants
import Service
import Tactus

/// A piece of news about a plant, which becomes an event and a line in the log.
enum PlantNews: Sendable, Hashable {
  case added(Plant)
  case changed(Plant)
  case removed(PlantID)
  /// A person has calibrated a sensor, or has taken back the calibration if `points` is `nil`; `plants` have the sensor.
  case calibrated(PlantSensorID, points: PlantCalibration?, plants: [Plant])
  case raised(Plant, PlantAlert, moisturePercent: Double?)
  case cleared(Plant, PlantAlert, moisturePercent: Double?)
  /// The plant was watered; `isByHand` is true if a person said so, and false if its moisture rose.
  case watered(Plant, isByHand: Bool)
  /// The plant's link has made a request to a sprinkler zone.
  case asked(Plant, PlantWateringRequest)
  case refused(Plant, PlantWateringRequest, reason: String)
  /// The plant is dry, and its link waits until a person confirms that it may be watered or its probes read something other than dry.
  case waits(Plant, zone: Int)
  /// A person has confirmed that the plant may be watered.
  case confirmed(Plant)
  /// A stored calibration is not used because its two points differ by no more than noise.
  case uselessCalibration(PlantSensorID, PlantCalibration)
  /// A sensor's calibration in the configuration has changed since the last start and replaces the one that a person had set.
  case fileCalibration(PlantSensorID)
  /// The store has rejected a write, or accepts writes again if `failure` is `nil`.
  case store(failure: String?)
  /// A client of the app's protocol reports that it could not process a message.
  case clientError(operation: String, payload: String)
}

extension PlantNews {
  /// Returns the lines for the plants' log, one for each plant that the news concerns.
  func lines(at: PlantInstant) -> [PlantLogLine] {
    guard case .calibrated(let sensor, let points, let plants) = self else { return line(at: at).map { [$0] } ?? [] }
    func whole(_ value: Double) -> Int { Int(saturating: value.rounded()) }
    let detail =
      points.map { "\(sensor): dry \(whole($0.dry)), wet \(whole($0.wet))" }
      ?? "\(sensor): as before anybody calibrated it"
    return plants.map { PlantLogLine(at: at, plant: $0.id, plantName: $0.name.text, .calibrated, detail: detail) }
  }

  /// Returns the line for the log of the one plant that the news concerns, or `nil` if the news concerns no plant alone.
  private func line(at: PlantInstant) -> PlantLogLine? {
    func line(_ plant: Plant, _ kind: PlantLogLine.Kind, _ detail: String) -> PlantLogLine {
      PlantLogLine(at: at, plant: plant.id, plantName: plant.name.text, kind, detail: detail)
    }
    switch self {
    case .raised(let plant, let alert, _): return line(plant, .raised, alert.rawValue)
    case .cleared(let plant, let alert, _): return line(plant, .cleared, alert.rawValue)
    case .watered(let plant, let isByHand): return line(plant, .watered, isByHand ? "by hand" : "moisture rose")
    case .asked(let plant, let request): return line(plant, .asked, "zone \(request.zone), \(request.seconds) s")
    case .refused(let plant, let request, let reason): return line(plant, .refused, "zone \(request.zone): \(reason)")
    case .waits(let plant, let zone): return line(plant, .refused, "zone \(zone): \(Self.waits)")
    case .added, .changed, .removed, .calibrated, .confirmed, .uselessCalibration, .fileCalibration, .store,
      .clientError:
      return nil
    }
  }

  /// The reason why a dry plant's link waits.
  static let waits =
    "its probes have said nothing but dry since it was added or calibrated: the first watering waits for a confirmation"

  /// Returns a description of how a person confirms that a plant may be watered.
  static func wayToConfirm(_ plant: PlantID) -> String {
    "POST /api/plants/\(plant)/confirm-watering, tactus call plants/\(plant) confirm-watering, or the button on the page"
  }

  /// Returns the event for subscribers, or `nil` if only the log has the news.
  func event(at: TickInstant) -> Event? {
    let name = Plants.name
    func edge(_ type: String, _ plant: Plant, _ more: (inout PlantEdge) -> Void = { _ in }) -> Event {
      var edge = PlantEdge(plantId: plant.id.number, name: plant.name.text)
      more(&edge)
      return Event(.edge, type: type, system: name, at: at, json: edge)
    }
    switch self {
    case .added(let plant): return edge("plant.added", plant)
    case .changed(let plant): return edge("plant.changed", plant)
    case .removed(let id):
      return Event(.edge, type: "plant.removed", system: name, at: at, json: PlantEdge(plantId: id.number))
    case .raised(let plant, let alert, let percent):
      return edge("plant.alert", plant) {
        ($0.alert, $0.isRaised, $0.moisturePercent) = (alert.rawValue, true, percent.tenths)
      }
    case .cleared(let plant, let alert, let percent):
      return edge("plant.alert", plant) {
        ($0.alert, $0.isRaised, $0.moisturePercent) = (alert.rawValue, false, percent.tenths)
      }
    case .watered(let plant, let isByHand): return edge("plant.watered", plant) { $0.isByHand = isByHand }
    case .asked(let plant, let request):
      return edge("plant.asked", plant) { ($0.zoneId, $0.seconds) = (request.zone, request.seconds) }
    case .refused(let plant, let request, let reason):
      return edge("plant.refused", plant) { ($0.zoneId, $0.reason) = (request.zone, reason) }
    case .waits(let plant, let zone):
      return edge("plant.waits", plant) { ($0.zoneId, $0.reason) = (zone, PlantNews.waits) }
    case .confirmed(let plant): return edge("plant.changed", plant)
    case .calibrated, .uselessCalibration, .fileCalibration, .store, .clientError: return nil
    }
  }

  func log(_ logger: Logger) {
    func write(_ level: Logger.Level, _ message: Logger.Message, _ plant: Plant, _ more: Logger.Metadata = [:]) {
      let metadata: Logger.Metadata = [
        "plant": "\(plant.id)", "name": "\(plant.name)", "user": "\(plant.user)",
      ]
      logger.log(level: level, message, metadata: metadata.merging(more) { first, _ in first })
    }
    switch self {
    case .added(let plant): write(.info, "plant added", plant)
    case .changed(let plant): write(.info, "plant changed", plant)
    case .removed(let id): logger.info("plant removed", metadata: ["plant": "\(id)"])
    case .calibrated(let sensor, _, _):
      logger.info("probe calibrated", metadata: ["sensor": "\(sensor)"])
    case .raised(let plant, let alert, let percent):
      write(
        .warning, "plant alert", plant,
        ["alert": "\(alert)", "moisture_percent": "\(percent.tenths.map { "\($0)" } ?? "unknown")"])
    case .cleared(let plant, let alert, _): write(.info, "plant alert cleared", plant, ["alert": "\(alert)"])
    case .watered(let plant, let isByHand):
      write(.info, "plant watered", plant, ["seen_by": isByHand ? "a person" : "its probe"])
    case .asked(let plant, let request):
      write(
        .notice, "a dry plant asks for water", plant, ["zoneId": "\(request.zone)", "seconds": "\(request.seconds)"])
    case .refused(let plant, let request, let reason):
      write(.warning, "the sprinkler refuses a dry plant", plant, ["zoneId": "\(request.zone)", "reason": "\(reason)"])
    case .waits(let plant, let zone):
      write(
        .warning, "a dry plant is not watered yet", plant,
        ["zoneId": "\(zone)", "reason": "\(Self.waits)", "to_confirm": "\(Self.wayToConfirm(plant.id))"])
    case .confirmed(let plant): write(.notice, "somebody has confirmed that a plant may be watered", plant)
    case .uselessCalibration(let sensor, let points):
      logger.warning(
        "a probe's calibration is not used: its points are so near that noise could have made them, or the wrong way round",
        metadata: ["sensor": "\(sensor)", "dry": "\(points.dry)", "wet": "\(points.wet)"])
    case .fileCalibration(let sensor):
      logger.notice(
        "the file has changed a probe's calibration since the last start: it is taken, and the one that was set before is forgotten",
        metadata: ["sensor": "\(sensor)"])
    case .store(let failure?):
      logger.error("the plants' store refuses a change", metadata: ["reason": "\(failure)"])
    case .clientError(let operation, let payload):
      logger.notice(
        "a plant client reports an error",
        metadata: ["operation": "\(operation)", "payload": "\(payload)"])
    case .store(nil): logger.notice("the plants' store takes changes again")
    }
  }

}

/// The content of a plant's event; members that do not belong to the event are absent.
private struct PlantEdge: Encodable {
  let plantId: UInt64
  var name: String?
  var alert: String?
  var isRaised: Bool?
  var moisturePercent: Double?
  var isByHand: Bool?
  var zoneId, seconds: Int?
  var reason: String?

  init(plantId: UInt64, name: String? = nil) { (self.plantId, self.name) = (plantId, name) }
}

extension PlantDesk {
  /// Returns the events for subscribers since the last call.
  public func takeEvents() -> [Event] {
    let at = newest.at
    return takeNews().compactMap { $0.event(at: at) }
  }
}
