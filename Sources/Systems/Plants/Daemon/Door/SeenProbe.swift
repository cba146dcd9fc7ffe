import Plants
import Tactus
import TactusDaemon

/// A probe as documents show it.
struct SeenProbe: Sendable {
  let sensor: PlantMonitor.Sensor
  private let status: PlantProbeStatus
  /// The last reading, whatever its age, or `nil` if the probe has not been read yet.
  private let reading: PlantReading?
  private let calibration: PlantCalibration
  /// Whether a person has set the calibration through the API; otherwise it is that of the configuration or the probe's standard one.
  private let isSet: Bool
  private let plants: [Int]
  private let age: Nanoseconds?
  private let staleAfter: Nanoseconds
  /// Whether the probe's newest value is impossible in soil.
  private let isImpossible: Bool

  init(
    _ sensor: PlantMonitor.Sensor, _ status: PlantProbeStatus, _ view: PlantView, staleAfter: Nanoseconds,
    at now: TickInstant
  ) {
    (self.sensor, self.status, self.staleAfter) = (sensor, status, staleAfter)
    let (set, reading) = (view.records.calibrations[sensor.id], view.readings[sensor.id])
    self.reading = reading
    calibration = sensor.calibration(set)
    isSet = calibration == set
    plants = view.records.plants.filter { $0.sensors.contains(sensor.id) }.map { Int(clamping: $0.id.number) }
    age = reading.map { now - $0.at }
    isImpossible = view.impossible.contains(sensor.id)
  }

  private var chip: String {
    switch sensor.probe {
    case .seesaw: "seesaw"
    case .ads1115: "ads1115"
    case .mcp3008: "mcp3008"
    case .radio: "ble"
    }
  }
  private var moisture: Double? { reading.map { calibration.percent($0.raw) } }
  private var isFresh: Bool { !isImpossible && age.map { $0 < staleAfter } ?? false }
  private var ageMilliseconds: Double? { age.map { max(0, $0.inMilliseconds.rounded()) } }
  private var failure: String? {
    status.failuresInARow > 0 ? status.lastFailure?.word : isImpossible ? PlantProbeFailure.notAMeasurement.word : nil
  }

  /// The fields of `GET /api/plants/sensors`.
  @DeclarationBuilder<Field<SeenProbe>> static var fields: [Field<SeenProbe>] {
    Field("id", \.sensor.id.text, "What clients call it.")
    Field("chip", \.chip, "seesaw, ads1115, mcp3008, ble.")
    Field("unit", \.sensor.probe.unit, "counts, mV or %, of `raw` and `calibration`.")
    Field("raw", \.reading?.raw, metric: .none, "The last reading that soil can be, whatever its age.")
    Field("moisturePercent", \.moisture.tenths, unit: .percent, metric: .none, "The same by its calibration.")
    Field(
      "temperatureCelsius", \.reading?.celsius.tenths, unit: .celsius, metric: .none, "Of a probe with a thermometer.")
    Field(
      "isFresh", \.isFresh, metric: "probe_fresh",
      "Whether a probe was read lately enough to count, and read what soil can be.")
    Field(
      "ageMs", \.ageMilliseconds, unit: .milliseconds, metric: "probe_age_seconds",
      "Since a probe was last read; absent before it first was.")
    Group("calibration", \.self, "What it says in dry soil and in wet.") {
      Field("dry", \.calibration.dry, metric: .none, "In dry soil, in the probe's own unit.")
      Field("wet", \.calibration.wet, metric: .none, "In wet soil.")
      Field(
        "isSet", \.isSet, metric: .none,
        "Whether a person has set it, through the API; otherwise the configuration's or the usual one of such a probe holds."
      )
    }
    Field("readings", \.status.readings, kind: .counter, metric: "probe_readings", "Readings of a probe.")
    Field("failures", \.status.failures, kind: .counter, metric: "probe_failures", "Readings of a probe that failed.")
    Field("failuresInARow", \.status.failuresInARow, metric: .none, "Those since the last one that did not.")
    Field(
      "retries", \.status.retries, kind: .counter, metric: "probe_retries", "Attempts at a sample after a first one.")
    Field(
      "lastFailure", \.failure,
      "noAnswer, timedOut, notAMeasurement (what no soil is: its wire may be open or shorted), wrongChip; null after a reading."
    )
    Field("plants", \.plants, "Numbers of the plants that it is in.")
  }
}

extension PlantProbeFailure {
  fileprivate var word: String {
    switch self {
    case .noAnswer: "noAnswer"
    case .timedOut: "timedOut"
    case .notAMeasurement: "notAMeasurement"
    case .wrongChip: "wrongChip"
    }
  }
}
