import Tactus

/// Derives plants' conditions from probes' samples: calibration, staleness, waterings, alerts, history.
///
/// A value type, not for use in ticks. Pass the readings of the sensor loop to `step`, and call it also at `nextDeadline` and after the book has
/// changed.
public struct PlantMonitor: Sendable {
  /// A probe with the name that clients use for it.
  public struct Sensor: Sendable, Hashable {
    public var id: PlantSensorID
    public var probe: PlantProbe
    /// The calibration used until a person calibrates the sensor.
    public var calibration: PlantCalibration

    /// Creates a sensor. If `calibration` is `nil`, the probe's standard calibration is used.
    public init(_ id: PlantSensorID, _ probe: PlantProbe, calibration: PlantCalibration? = nil) {
      self.id = id
      self.probe = probe
      self.calibration = calibration ?? probe.standardCalibration
    }

    /// Returns the effective calibration: `set`, which a person has set, unless the probe rejects it, because earlier versions accepted more.
    public func calibration(_ set: PlantCalibration?) -> PlantCalibration {
      guard let set, (try? probe.calibration(dry: set.dry, wet: set.wet)) != nil else { return calibration }
      return set
    }
  }

  public enum Event: Sendable {
    case reading(PlantProbeReading)
    /// Requests a review without a reading, because time has passed or the book has changed.
    case review
  }

  /// The probes in the order of the sensor loop.
  public let sensors: [Sensor]
  /// The time without a reading after which a sensor is silent.
  public let staleAfter: Nanoseconds
  /// The last reading of each sensor, stale or not; readers must check its age.
  public private(set) var readings: [PlantSensorID: PlantReading] = [:]
  /// The sensors whose last value is impossible in soil, as with an open or shorted wire. Their earlier readings no
  /// longer count.
  public private(set) var impossible: Set<PlantSensorID> = []
  /// The readings that count if they are not stale.
  public var measured: [PlantSensorID: PlantReading] { readings.filter { !impossible.contains($0.key) } }
  /// The condition of every plant of the book, as of the last step.
  public private(set) var conditions: [PlantID: PlantCondition] = [:]
  private var detectors: [PlantRiseDetector]
  private let detector: PlantRiseDetector
  /// The calibration of each sensor at the last step.
  private var calibrations: [PlantCalibration]
  /// The instant at which the monitor started; a sensor that was never read becomes silent `staleAfter` later.
  private let began: TickInstant

  /// Creates a monitor. No two of the `sensors` may have the same name; anything else is a programming error.
  public init(
    sensors: [Sensor], staleAfter: Nanoseconds = .seconds(120), detector: PlantRiseDetector = PlantRiseDetector(),
    at now: TickInstant
  ) {
    precondition(Set(sensors.map(\.id)).count == sensors.count, "no two sensors share a name")
    self.sensors = sensors
    self.staleAfter = staleAfter
    self.detector = detector
    detectors = sensors.map { _ in detector }
    calibrations = sensors.map(\.calibration)
    began = now
  }

  /// Returns the instant at which the next sensor becomes silent, or `nil` if none will.
  public func nextDeadline(at now: TickInstant) -> TickInstant? {
    sensors.map { silentFrom($0.id) }.filter { now < $0 }.min()
  }

  public mutating func step(
    _ event: Event, book: inout PlantBook, at now: TickInstant, wall: PlantInstant
  ) -> PlantMonitorAction {
    var action = PlantMonitorAction()
    takeCalibrations(book)
    if case .reading(let reading) = event { receive(reading, book: &book, wall: wall, action: &action) }
    review(&book, at: now, action: &action)
    return action
  }

  /// Applies changed calibrations to the last readings at once. A rise of the moisture that only results from a calibration is not a watering.
  private mutating func takeCalibrations(_ book: PlantBook) {
    for (index, sensor) in sensors.enumerated() {
      let calibration = sensor.calibration(book.records.calibrations[sensor.id])
      guard calibrations[index] != calibration else { continue }
      calibrations[index] = calibration
      detectors[index] = detector
      guard var reading = readings[sensor.id] else { continue }
      reading.moisturePercent = calibration.percent(reading.raw)
      reading.scale = scale(reading.raw, reading.moisturePercent, sensor.probe)
      readings[sensor.id] = reading
    }
  }

  private mutating func receive(
    _ reading: PlantProbeReading, book: inout PlantBook, wall: PlantInstant, action: inout PlantMonitorAction
  ) {
    precondition(sensors.indices.contains(reading.probe), "no such probe")
    let (id, probe) = (sensors[reading.probe].id, sensors[reading.probe].probe)
    let (sample, celsius): (Int64, Double?)
    switch reading.result {
    case .sample(let value, let temperature): (sample, celsius) = (value, temperature)
    case .failed(.notAMeasurement):
      impossible.insert(id)
      return
    // Without a new reading, only the age of the last one grows.
    case .failed: return
    }
    let raw = probe.raw(sample)
    guard probe.canBeSoil(raw, calibrations[reading.probe]) else {
      impossible.insert(id)
      return
    }
    impossible.remove(id)
    let percent = calibrations[reading.probe].percent(raw)
    let value = PlantReading(
      raw: raw, moisturePercent: percent, scale: scale(raw, percent, probe), celsius: celsius, at: reading.at)
    readings[id] = value
    action.samples.append(PlantHistorySample(sensor: id, at: wall, moisturePercent: percent, celsius: celsius))
    guard detectors[reading.probe].step(percent, at: reading.at) else { return }
    for plant in book.plants(with: id) {
      action.changes += book.noteWatered(plant.id, at: wall)
      action.events.append(.watered(plant.id))
    }
  }

  /// Returns the value of the original host's bar: by the original formula for a seesaw probe, by the calibration for all others.
  private func scale(_ raw: Double, _ percent: Double, _ probe: PlantProbe) -> Int {
    switch probe {
    case .seesaw: PlantCalibration.originalScale(raw)
    case .ads1115, .mcp3008, .radio: Int(saturating: (percent / 10).rounded(.toNearestOrEven))
    }
  }

  private mutating func review(_ book: inout PlantBook, at now: TickInstant, action: inout PlantMonitorAction) {
    var current: [PlantID: PlantCondition] = [:]
    let measured = measured
    for plant in book.records.plants {
      var condition = conditions[plant.id] ?? PlantCondition()
      let before = condition.alerts
      let fresh = plant.sensors.filter { now < silentFrom($0) && !impossible.contains($0) }.compactMap { readings[$0] }
      condition.isDoubtful = plant.sensors.contains { impossible.contains($0) }
      condition.moisturePercent = mean(fresh.map(\.moisturePercent))
      condition.celsius = mean(fresh.compactMap(\.celsius))
      // A plant is judged once each of its sensors has been read or is silent, because one of several says too little.
      // While a sensor has values that are impossible in soil, the plant's alerts stay as they are until that sensor is
      // silent, so that a short fault of the bus neither raises nor clears any.
      if plant.sensors.allSatisfy({ measured[$0] != nil || !(now < silentFrom($0)) }) {
        condition.judge(by: plant.limits, isSilent: plant.sensors.contains { !(now < silentFrom($0)) })
      }
      let calibrations = sensors.calibrations(of: plant, in: book.records)
      var isProved = plant.proof == calibrations
      if !isProved, plant.sensors.allSatisfy({ measured[$0] != nil }), condition.isWetEnough(by: plant.limits) {
        action.changes += book.prove(plant.id, by: calibrations)
        isProved = true
      }
      condition.needsConfirmation = !isProved
      for alert in condition.alerts.subtracting(before).sorted() { action.events.append(.raised(plant.id, alert)) }
      for alert in before.subtracting(condition.alerts).sorted() { action.events.append(.cleared(plant.id, alert)) }
      current[plant.id] = condition
    }
    conditions = current
  }

  private func silentFrom(_ sensor: PlantSensorID) -> TickInstant { (readings[sensor]?.at ?? began) + staleAfter }

  private func mean(_ values: [Double]) -> Double? {
    values.isEmpty ? nil : values.reduce(0, +) / Double(values.count)
  }
}

extension [PlantMonitor.Sensor] {
  /// Returns the effective calibration of each of a plant's sensors, except sensors that are not configured.
  public func calibrations(of plant: Plant, in records: PlantRecords) -> [PlantSensorID: PlantCalibration] {
    var calibrations: [PlantSensorID: PlantCalibration] = [:]
    for sensor in self where plant.sensors.contains(sensor.id) {
      calibrations[sensor.id] = sensor.calibration(records.calibrations[sensor.id])
    }
    return calibrations
  }
}

/// The consequences of a step of the monitor.
public struct PlantMonitorAction: Sendable, Hashable {
  /// The changes to store.
  public var changes: [PlantChange] = []
  /// The events to report.
  public var events: [PlantEvent] = []
  /// The samples for the history.
  public var samples: [PlantHistorySample] = []

  init() {}
}

/// An event of a plant.
public enum PlantEvent: Sendable, Hashable {
  case raised(PlantID, PlantAlert)
  case cleared(PlantID, PlantAlert)
  /// The plant's moisture has risen as after a watering.
  case watered(PlantID)
}
