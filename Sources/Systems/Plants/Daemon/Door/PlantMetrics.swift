import Plants
import Service
import Tactus

/// What the plants' desk and the probes' loop publish, as metrics.
struct PlantMetrics: MetricSource {
  private let door: PlantDoor
  /// Plants with series of their own: a client can add plants, and nobody's monitoring is to drown in them.
  private static let mostPlants = 200

  init(_ door: PlantDoor) { self.door = door }

  func write(into writer: inout MetricsWriter) {
    let view = door.desk.view
    let plants = view.records.plants.prefix(Self.mostPlants).map { plant in
      (id: "\(plant.id)", name: plant.name.text, condition: view.conditions[plant.id] ?? PlantCondition())
    }
    writer.gauge("tactus_plants", "Plants, of all users.", [.init(view.records.plants.count)])
    writer.gauge(
      "tactus_plants_moisture_ratio", "A plant's moisture, 0…1; absent while all its probes are silent.",
      plants.compactMap { plant in
        plant.condition.moisturePercent.map { .init($0 / 100, ["plant": plant.id, "name": plant.name]) }
      })
    writer.gauge(
      "tactus_plants_temperature_celsius", "A plant's temperature; absent while unknown.",
      plants.compactMap { plant in
        plant.condition.celsius.map { .init($0, ["plant": plant.id, "name": plant.name]) }
      })
    writer.gauge(
      "tactus_plants_alert", "1 for each alert of a plant that is raised, 0 for the others.",
      plants.flatMap { plant in
        PlantAlert.allCases.map { alert in
          MetricSample(
            plant.condition.alerts.contains(alert), ["plant": plant.id, "name": plant.name, "alert": alert.rawValue])
        }
      })
    write(probes: view, into: &writer)
    writer.gauge(
      "tactus_plants_store_writable", "Whether the store took the last change.", [.init(view.storeFailure == nil)])
    writer.counter(
      "tactus_plants_lost_records_total", "Readings and events that a store which refuses did not get.",
      [.init(view.lost)])
    writer.counter(
      "tactus_plants_messages_total", "Messages of the Plant-Tracker app, by what became of them.",
      door.messages(view).sorted { $0.key < $1.key }.map { .init($0.value, ["outcome": $0.key]) })
    writer.counter("tactus_plants_replies_total", "Replies to the app.", [.init(view.replies)])
  }

  private func write(probes view: PlantView, into writer: inout MetricsWriter) {
    let (sensors, newest) = (door.sensors(view), door.desk.newest)
    writer.gauge(
      "tactus_plants_probe_fresh", "Whether a probe was read lately enough to count.",
      sensors.map { .init($0.isFresh, ["sensor": $0.id]) })
    writer.gauge(
      "tactus_plants_probe_age_seconds", "Since a probe was last read; absent before it first was.",
      sensors.compactMap { sensor in sensor.ageMs.map { .init($0 / 1000, ["sensor": sensor.id]) } })
    writer.counter(
      "tactus_plants_probe_readings_total", "Readings of a probe.",
      sensors.map { .init($0.readings, ["sensor": $0.id]) })
    writer.counter(
      "tactus_plants_probe_failures_total", "Readings of a probe that failed.",
      sensors.map { .init($0.failures, ["sensor": $0.id]) })
    writer.counter(
      "tactus_plants_probe_retries_total", "Attempts at a sample after a first one.",
      sensors.map { .init($0.retries, ["sensor": $0.id]) })
    writer.counter(
      "tactus_plants_dropped_readings_total", "Readings that found their ring full.", [.init(newest.readingsDropped)])
    writer.counter(
      "tactus_plants_bus_retries_total", "Transfers on I2C that succeeded only after a retry.",
      [.init(newest.busRetries)])
  }
}
