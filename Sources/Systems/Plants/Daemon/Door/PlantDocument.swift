import Plants
import Service
import Tactus

/// A plant as `GET /api/plants` shows it.
struct PlantDocument: Encodable {
  let id: UInt64
  /// ok, problem: `alerts` names it.
  let state: String
  let user: String
  let name: String
  let sensors: [String]
  /// Mean of the sensors that are not silent; null: all of them are.
  @OrNull var moisturePercent: Double?
  @OrNull var temperatureCelsius: Double?
  /// dry, wet, cold, hot, silent; none: all is well.
  let alerts: [String]
  @OrNull var dryPercent: Double?
  @OrNull var wetPercent: Double?
  @OrNull var coldCelsius: Double?
  @OrNull var hotCelsius: Double?
  @OrNull var lastWateredISO: String?
  /// Its link to a sprinkler zone; null: there is none.
  @OrNull var watering: PlantWateringValue?

  init(_ plant: Plant, _ view: PlantView, _ link: PlantWateringSettings?) {
    let condition = view.conditions[plant.id]
    id = plant.id.number
    user = plant.user.key
    name = plant.name.text
    sensors = plant.sensors.map(\.text)
    alerts = (condition?.alerts ?? []).sorted().map(\.rawValue)
    state = alerts.isEmpty ? "ok" : "problem"
    _moisturePercent = OrNull(wrappedValue: condition?.moisturePercent.map(tenth))
    _temperatureCelsius = OrNull(wrappedValue: condition?.celsius.map(tenth))
    _dryPercent = OrNull(wrappedValue: plant.limits.dryPercent)
    _wetPercent = OrNull(wrappedValue: plant.limits.wetPercent)
    _coldCelsius = OrNull(wrappedValue: plant.limits.coldCelsius)
    _hotCelsius = OrNull(wrappedValue: plant.limits.hotCelsius)
    _lastWateredISO = OrNull(wrappedValue: plant.lastWatered?.text)
    _watering = OrNull(wrappedValue: link.map { PlantWateringValue($0, plant, view) })
  }
}

/// What a plant's link may ask for, and has.
struct PlantWateringValue: Codable, Sendable {
  let zone, seconds, maxPerDay: Int
  let minGapSec: Int64
  /// When it last asked; null: never.
  @OrNull var askedISO: String?
  /// Requests on the day of `askedISO`.
  let askedThatDay: Int
  /// It has not been seen not dry since it was added or calibrated, and a person has not said that it may be watered.
  let needsConfirmation: Bool
  /// What it waits for while it is dry, and how to confirm; null: nothing.
  @OrNull var waitsFor: String?

  init(_ settings: PlantWateringSettings, _ plant: Plant, _ view: PlantView) {
    let (record, condition) = (view.records.waterings[plant.id], view.conditions[plant.id])
    needsConfirmation = condition?.needsConfirmation ?? true
    let waits = needsConfirmation && condition?.alerts.contains(.dry) == true
    _waitsFor = OrNull(wrappedValue: waits ? "\(PlantNews.waits) (\(PlantNews.wayToConfirm(plant.id)))" : nil)
    zone = settings.zone
    seconds = settings.seconds
    maxPerDay = settings.maximumPerDay
    minGapSec = settings.minimumGapSeconds
    askedThatDay = record?.count ?? 0
    _askedISO = OrNull(wrappedValue: record?.last.text)
  }
}

/// A probe as `GET /api/plants/sensors` shows it.
struct PlantSensorDocument: Encodable {
  struct Calibration: Encodable {
    /// In the probe's own unit.
    let dry, wet: Double
    /// By a person, through the API; otherwise the configuration's or the usual one.
    let isSet: Bool
  }

  let id: String
  /// seesaw, ads1115, mcp3008.
  let chip: String
  /// `counts` or `mV`: of `raw` and `calibration`.
  let unit: String
  /// The last reading, whatever its age.
  @OrNull var raw: Double?
  @OrNull var moisturePercent: Double?
  @OrNull var temperatureCelsius: Double?
  @OrNull var ageMs: Double?
  /// Read lately enough to count.
  let isFresh: Bool
  let calibration: Calibration
  let readings, failures, failuresInARow, retries: Int64
  @OrNull var lastFailure: String?
  /// Numbers of the plants it is in.
  let plants: [UInt64]

  init(
    _ sensor: PlantMonitor.Sensor, _ status: PlantProbeStatus, _ view: PlantView, staleAfter: Nanoseconds,
    at now: TickInstant
  ) {
    id = sensor.id.text
    chip =
      switch sensor.probe {
      case .seesaw: "seesaw"
      case .ads1115: "ads1115"
      case .mcp3008: "mcp3008"
      }
    unit = sensor.probe.unit
    let reading = view.readings[sensor.id]
    isFresh = reading.map { now - $0.at < staleAfter } ?? false
    let set = view.records.calibrations[sensor.id]
    let points = sensor.calibration(set)
    calibration = Calibration(dry: points.dry, wet: points.wet, isSet: points == set)
    readings = status.readings
    failures = status.failures
    failuresInARow = status.failuresInARow
    retries = status.retries
    plants = view.records.plants.filter { $0.sensors.contains(sensor.id) }.map(\.id.number)
    _raw = OrNull(wrappedValue: reading?.raw)
    _moisturePercent = OrNull(wrappedValue: reading.map { tenth(points.percent($0.raw)) })
    _temperatureCelsius = OrNull(wrappedValue: reading?.celsius.map(tenth))
    _ageMs = OrNull(wrappedValue: reading.map { max(0, (now - $0.at).inMilliseconds.rounded()) })
    _lastFailure = OrNull(wrappedValue: status.failuresInARow > 0 ? status.lastFailure?.word : nil)
  }
}

extension PlantProbeFailure {
  /// In the API and in metrics.
  var word: String {
    switch self {
    case .noAnswer: "noAnswer"
    case .timedOut: "timedOut"
    case .notAMeasurement: "notAMeasurement"
    case .wrongChip: "wrongChip"
    }
  }
}

/// All plants and probes.
struct PlantsDocument: Encodable {
  struct App: Encodable {
    /// The name that clients send to.
    let hostName: String
    /// Messages by what became of them.
    let messages: [String: Int64]
    let replies: Int64
  }
  struct Store: Encodable {
    /// False: it could not be read, and there are no plants here because they are unknown.
    let open: Bool
    let writable: Bool
    @OrNull var failure: String?
  }

  let ok: Bool?
  let monotonicNs: Int64?
  /// ok, problem: of some plant.
  let state: String
  let plants: [PlantDocument]
  /// Of all; an event shows the first hundred.
  let plantCount: Int
  let userCount: Int
  /// Plants that are not well.
  let alertCount: Int
  let sensors: [PlantSensorDocument]
  let app: App?
  let store: Store
}

/// With one decimal.
func tenth(_ value: Double) -> Double { (value * 10).rounded() / 10 }
