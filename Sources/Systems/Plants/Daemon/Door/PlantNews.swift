import Logging
import Plants

/// Something that people are told of a plant: as an event, and in the log.
enum PlantNews: Sendable, Hashable {
  case added(Plant)
  case changed(Plant)
  case removed(PlantID)
  case calibrated(PlantSensorID)
  case raised(Plant, PlantAlert, moisturePercent: Double?)
  case cleared(Plant, PlantAlert, moisturePercent: Double?)
  /// `isByHand`: a person says so; otherwise its moisture rose.
  case watered(Plant, isByHand: Bool)
  /// Its link has asked a sprinkler zone.
  case asked(Plant, PlantWateringRequest)
  case refused(Plant, PlantWateringRequest, reason: String)
  /// It is dry, and its link waits until somebody confirms that it may be watered, or its probes have said something else than dry.
  case waits(Plant, zone: Int)
  /// Somebody has confirmed it.
  case confirmed(Plant)
  /// A calibration of the store that is not used, because noise could have made it.
  case uselessCalibration(PlantSensorID, PlantCalibration)
  /// Its calibration has been changed in the file since the last start, which goes before what people set before.
  case fileCalibration(PlantSensorID)
  /// The store took nothing, or `nil` if it does again.
  case store(failure: String?)
  /// A client of the app's protocol says that it could make nothing of a message.
  case clientError(operation: String, payload: String)
}

extension PlantNews {
  /// For the log of plants, or `nil` if it does not go there.
  func line(at: PlantInstant) -> PlantLogLine? {
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

  /// What a dry plant waits for.
  static let waits =
    "its probes have said nothing but dry since it was added or calibrated: the first watering waits for a confirmation"

  /// How somebody says that a plant may be watered.
  static func wayToConfirm(_ plant: PlantID) -> String {
    "POST /api/plants/\(plant)/confirm-watering, tactus call plants/\(plant) confirm-watering, or the button on the page"
  }

  func log(_ logger: Logger) {
    func tell(_ level: Logger.Level, _ message: Logger.Message, _ plant: Plant, _ more: Logger.Metadata = [:]) {
      let metadata: Logger.Metadata = [
        "system": "plants", "plant": "\(plant.id)", "name": "\(plant.name)", "user": "\(plant.user)",
      ]
      logger.log(level: level, message, metadata: metadata.merging(more) { first, _ in first })
    }
    switch self {
    case .added(let plant): tell(.info, "plant added", plant)
    case .changed(let plant): tell(.info, "plant changed", plant)
    case .removed(let id): logger.info("plant removed", metadata: ["system": "plants", "plant": "\(id)"])
    case .calibrated(let sensor):
      logger.info("probe calibrated", metadata: ["system": "plants", "sensor": "\(sensor)"])
    case .raised(let plant, let alert, let percent):
      tell(
        .warning, "plant alert", plant, ["alert": "\(alert)", "moisture_percent": "\(percent.map(plain) ?? "unknown")"])
    case .cleared(let plant, let alert, _): tell(.info, "plant alert cleared", plant, ["alert": "\(alert)"])
    case .watered(let plant, let isByHand):
      tell(.info, "plant watered", plant, ["seen_by": isByHand ? "a person" : "its probe"])
    case .asked(let plant, let request):
      tell(
        .notice, "a dry plant asks for water", plant, ["zoneId": "\(request.zone)", "seconds": "\(request.seconds)"])
    case .refused(let plant, let request, let reason):
      tell(.warning, "the sprinkler refuses a dry plant", plant, ["zoneId": "\(request.zone)", "reason": "\(reason)"])
    case .waits(let plant, let zone):
      tell(
        .warning, "a dry plant is not watered yet", plant,
        ["zoneId": "\(zone)", "reason": "\(Self.waits)", "to_confirm": "\(Self.wayToConfirm(plant.id))"])
    case .confirmed(let plant): tell(.notice, "somebody has confirmed that a plant may be watered", plant)
    case .uselessCalibration(let sensor, let points):
      logger.warning(
        "a probe's calibration is not used: its points are so near that noise could have made them, or the wrong way round",
        metadata: ["system": "plants", "sensor": "\(sensor)", "dry": "\(points.dry)", "wet": "\(points.wet)"])
    case .fileCalibration(let sensor):
      logger.notice(
        "the file has changed a probe's calibration since the last start: it is taken, and the one that was set before is forgotten",
        metadata: ["system": "plants", "sensor": "\(sensor)"])
    case .store(let failure?):
      logger.error("the plants' store refuses a change", metadata: ["system": "plants", "reason": "\(failure)"])
    case .clientError(let operation, let payload):
      logger.notice(
        "a plant client reports an error",
        metadata: ["system": "plants", "operation": "\(operation)", "payload": "\(payload)"])
    case .store(nil): logger.notice("the plants' store takes changes again", metadata: ["system": "plants"])
    }
  }

  private func plain(_ value: Double) -> String { "\((value * 10).rounded() / 10)" }
}
