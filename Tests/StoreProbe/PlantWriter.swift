import Plants
import PlantsDaemon
import PumpDaemon
import Sprinkler
import SprinklerDaemon
import Store
import WallTime

/// The same with plants: number n is plant n, one reading and one event.
enum PlantWriter {
  static func write(to path: String) throws(StoreError) {
    let policy = SnapshotPolicy(seconds: 0, routineSeconds: 7, recent: 3, days: 1)
    let (file, report) = try StoreFile.open(
      path, systems: [.sprinkler, .plants, .pump], policy: policy, at: WallInstant(secondsSince1970: 1_790_000_000))
    for line in report.lines { StoreProbe.say("# \(line)") }
    let store = PlantStore(file)
    var number = try store.records().nextPlant
    while true {
      let now = PlantInstant(secondsSince1970: 1_790_000_000 + Int64(number))
      try store.add([reading(number, at: now)])
      try store.add([
        PlantLogLine(at: now, plant: PlantID(number), plantName: "Plant \(number)", .raised, detail: "dry")
      ])
      try store.apply(changes(number, at: now))
      StoreProbe.say("\(number)")
      _ = try file.snapshotIfDue(at: WallInstant(secondsSince1970: now.secondsSince1970))
      if number % 16 == 0 { try store.pruneReadings([(60, now - 3_000)]) }
      number += 1
    }
  }

  private static func reading(_ number: UInt64, at now: PlantInstant) -> PlantHistoryRow {
    let sample = PlantHistorySample(
      sensor: PlantSensorID("0x36")!, at: now, moisturePercent: Double(number % 100), celsius: 20)
    return PlantHistoryRow(sample, spanSeconds: 60)
  }

  private static func changes(_ number: UInt64, at now: PlantInstant) -> [PlantChange] {
    guard let name = try? PlantName("Plant \(number)") else { return [] }
    let plant = Plant(
      id: PlantID(number), user: PlantUser(sender: "../../etc/\(number)"), name: name,
      sensors: [PlantSensorID("0x36")!],
      lastWatered: now)
    return [
      .plantRemoved(PlantID(number - 1)), .plant(plant), .nextPlant(number + 1),
      .watering(plant.id, PlantWateringRecord(last: now, count: Int(number), day: 1)),
    ]
  }
}
