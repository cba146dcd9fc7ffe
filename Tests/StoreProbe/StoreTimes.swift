import PlantsDaemon
import PumpDaemon
import Sprinkler
import SprinklerDaemon
import Store
import WallTime

/// How long the store takes with so many lines in the watering log.
struct StoreTimes {
  let path: String
  let lines: UInt64

  private static let start = WallInstant(secondsSince1970: 1_790_000_000)
  private let policy = SnapshotPolicy(seconds: 1_000_000_000, recent: 1, days: 0)

  func tell() throws(StoreError) {
    let (file, _) = try StoreFile.open(path, systems: [.sprinkler, .plants, .pump], policy: policy, at: Self.start)
    try fill(SprinklerStore(file))
    try file.close()
    for round in 1...5 {
      let clock = ContinuousClock()
      var opened: StoreFile?
      try measure("opening, \(lines) lines, round \(round)", clock) { () throws(StoreError) in
        opened = try StoreFile.open(path, systems: [.sprinkler, .plants, .pump], policy: policy, at: Self.start).file
      }
      guard let file = opened else { continue }
      try measure("snapshot", clock) { () throws(StoreError) in _ = try file.snapshot(at: Self.start) }
      let store = SprinklerStore(file)
      try measure("records", clock) { () throws(StoreError) in _ = try store.records() }
      try measure("a page of one zone", clock) { () throws(StoreError) in
        _ = try store.log(LogQuery(zone: ZoneID(index: 3)), limit: 100)
      }
      try measure("a transaction of one row", clock) { () throws(StoreError) in
        try store.apply([.counters(nextRun: lines + 1, nextProgram: 1)])
      }
      try measure("closing", clock) { () throws(StoreError) in try file.close() }
    }
  }

  private func fill(_ store: SprinklerStore) throws(StoreError) {
    var run: UInt64 = 0
    while run < lines {
      var changes: [SprinklerChange] = []
      while changes.count < 5000, run < lines {
        run += 1
        let zone = ZoneID(index: Int(run % 16))
        changes.append(
          .log(
            WateringRecord(
              run: run, zone: zone, zoneName: "Zone \(zone), behind the house", program: Int(run % 20),
              programName: "Mornings",
              isScheduled: true, start: Self.start + Int64(run) * 600, askedSeconds: 600, ranSeconds: 599.75,
              outcome: .completed, caller: run % 7 == 0 ? "phone@192.168.1.20" : nil)))
      }
      try store.apply(changes)
    }
  }

  private func measure(
    _ what: String, _ clock: ContinuousClock, _ work: () throws(StoreError) -> Void
  ) throws(StoreError) {
    let began = clock.now
    try work()
    print("\(what): \((clock.now - began) / .milliseconds(1)) ms")
  }
}
