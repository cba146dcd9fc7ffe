import Tactus
import Wire

/// Makes plants' conditions out of probes' samples: calibration, staleness, waterings, alerts, history.
///
/// A value; not for ticks. Feed it what the sensor loop pushes, and step it at `nextDeadline` and after the book has changed.
public struct PlantMonitor: Sendable {
  /// A probe by the name that clients know.
  public struct Sensor: Sendable, Hashable {
    public var id: PlantSensorID
    public var probe: PlantProbe
    /// Until somebody calibrates it.
    public var calibration: PlantCalibration

    /// `calibration` nil: the usual one of such a probe.
    public init(_ id: PlantSensorID, _ probe: PlantProbe, calibration: PlantCalibration? = nil) {
      self.id = id
      self.probe = probe
      self.calibration = calibration ?? probe.standardCalibration
    }
  }

  public enum Event: Sendable {
    case reading(PlantProbeReading)
    /// Time has passed, or the book has changed.
    case review
  }

  /// The probes in the order of the sensor loop.
  public let sensors: [Sensor]
  /// A sensor that has not been read for so long is silent.
  public let staleAfter: Nanoseconds
  /// The last reading of each sensor, stale or not: readers look at its age.
  public private(set) var readings: [PlantSensorID: PlantReading] = [:]
  /// Of every plant of the book, as of the last step.
  public private(set) var conditions: [PlantID: PlantCondition] = [:]
  private var detectors: [PlantRiseDetector]
  /// A sensor that was never read is silent so long after it.
  private let began: TickInstant

  /// `sensors`: no two of one name; anything else is our bug.
  public init(
    sensors: [Sensor], staleAfter: Nanoseconds = .seconds(120), detector: PlantRiseDetector = PlantRiseDetector(),
    at now: TickInstant
  ) {
    precondition(Set(sensors.map(\.id)).count == sensors.count, "no two sensors share a name")
    self.sensors = sensors
    self.staleAfter = staleAfter
    detectors = sensors.map { _ in detector }
    began = now
  }

  /// When a sensor next falls silent; nil: none will.
  public func nextDeadline(at now: TickInstant) -> TickInstant? {
    sensors.map { silentFrom($0.id) }.filter { now < $0 }.min()
  }

  public mutating func step(
    _ event: Event, book: inout PlantBook, at now: TickInstant, wall: PlantInstant
  ) -> PlantMonitorAction {
    var action = PlantMonitorAction()
    if case .reading(let reading) = event { take(reading, book: &book, wall: wall, action: &action) }
    review(book, at: now, action: &action)
    return action
  }

  private mutating func take(
    _ reading: PlantProbeReading, book: inout PlantBook, wall: PlantInstant, action: inout PlantMonitorAction
  ) {
    precondition(sensors.indices.contains(reading.probe), "no such probe")
    // A failed reading changes nothing: the last one ages.
    guard case .sample(let sample, let celsius) = reading.result else { return }
    let (id, probe) = (sensors[reading.probe].id, sensors[reading.probe].probe)
    let raw = probe.raw(sample)
    let percent = (book.records.calibrations[id] ?? sensors[reading.probe].calibration).percent(raw)
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

  /// The bar of the original host: by its own formula for its own probe, by the calibration for all others.
  private func scale(_ raw: Double, _ percent: Double, _ probe: PlantProbe) -> Int {
    switch probe {
    case .seesaw: PlantCalibration.originalScale(raw)
    case .ads1115, .mcp3008: Int(saturating: (percent / 10).rounded(.toNearestOrEven))
    }
  }

  private mutating func review(_ book: PlantBook, at now: TickInstant, action: inout PlantMonitorAction) {
    var current: [PlantID: PlantCondition] = [:]
    for plant in book.records.plants {
      var condition = conditions[plant.id] ?? PlantCondition()
      let before = condition.alerts
      let fresh = plant.sensors.filter { now < silentFrom($0) }.compactMap { readings[$0] }
      condition.moisturePercent = mean(fresh.map(\.moisturePercent))
      condition.celsius = mean(fresh.compactMap(\.celsius))
      // After a start it is judged as soon as each of its sensors has been read, or is silent: one of several says too little.
      if plant.sensors.allSatisfy({ readings[$0] != nil || !(now < silentFrom($0)) }) {
        condition.judge(by: plant.limits, isSilent: plant.sensors.contains { !(now < silentFrom($0)) })
      }
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

/// What follows from a step of the monitor.
public struct PlantMonitorAction: Sendable, Hashable {
  /// To be stored.
  public var changes: [PlantChange] = []
  /// To be told.
  public var events: [PlantEvent] = []
  /// For the history.
  public var samples: [PlantHistorySample] = []

  init() {}
}

/// News of a plant.
public enum PlantEvent: Sendable, Hashable {
  case raised(PlantID, PlantAlert)
  case cleared(PlantID, PlantAlert)
  /// Its moisture rose.
  case watered(PlantID)
}
