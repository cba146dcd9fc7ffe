import Glibc
import Plants
import PlantsDaemon
import PumpDaemon
import Sprinkler
import SprinklerDaemon
import Store
import WallTime

/// Writes to a store until it is killed, or until it cannot, for tests: every transaction that was acknowledged is a line of
/// standard output. Or tells how long a store with so many lines in its log takes.
///
///     store-probe PATH [plants | pump]
///     store-probe --time PATH LINES
@main
struct StoreProbe {
  static func main() {
    do throws(StoreError) {
      let arguments = CommandLine.arguments
      if arguments.count == 4, arguments[1] == "--time", let lines = UInt64(arguments[3]) {
        try StoreTimes(path: arguments[2], lines: lines).tell()
      } else {
        let path = arguments[1]
        switch arguments.dropFirst(2).first {
        case "pump": try keepSessions(in: path)
        case .some: try PlantWriter.write(to: path)
        case nil: try write(to: path)
        }
      }
    } catch {
      say("stopped: \(error)")
    }
  }

  /// Transaction n belongs to run n: it comes into the queue, the one before leaves it and is logged.
  private static func write(to path: String) throws(StoreError) {
    let policy = SnapshotPolicy(seconds: 0, routineSeconds: 7, recent: 3, days: 1)
    let (file, report) = try StoreFile.open(
      path, systems: [.sprinkler, .plants, .pump], policy: policy, at: WallInstant(secondsSince1970: 1_790_000_000))
    for line in report.lines { say("# \(line)") }
    let store = SprinklerStore(file)
    var run = try store.records().nextRun
    while true {
      let now = WallInstant(secondsSince1970: 1_790_000_000 + Int64(run))
      try store.apply(transaction(run, now))
      say("\(run)")
      _ = try file.snapshotIfDue(at: now)
      if run % 16 == 0 { try store.pruneLog(before: now - 50) }
      run += 1
    }
  }

  /// Session n is begun, noted and ended; its number is said when it is kept for the first time.
  private static func keepSessions(in path: String) throws(StoreError) {
    let policy = SnapshotPolicy(seconds: 0, routineSeconds: 7, recent: 3, days: 1)
    let (file, report) = try StoreFile.open(
      path, systems: [.sprinkler, .plants, .pump], policy: policy, at: WallInstant(secondsSince1970: 1_790_000_000))
    for line in report.lines { say("# \(line)") }
    let store = PumpStore(file)
    var next = (try store.sessions(limit: 1).sessions.first?.number ?? 0) + 1
    while true {
      let now = WallInstant(secondsSince1970: 1_790_000_000 + next)
      var session = PumpSession(
        start: now, seconds: Double(next), startedBy: "app", skin: .init(first: 36, last: Double(next)))
      session.number = try store.keep(session)
      say("\(session.number)")
      session.speedPercent = 70
      try store.keep(session)
      session.end = "off"
      try store.keep(session)
      _ = try file.snapshotIfDue(at: now)
      next += 1
    }
  }

  private static func transaction(_ run: UInt64, _ now: WallInstant) -> [SprinklerChange] {
    let zone = ZoneID(index: Int(run % 64))
    let pending = PendingRun(
      run: run, zone: zone, program: Int(run), isScheduled: true, askedSeconds: 60, soakSeconds: 0, ignoresRain: false,
      queued: now)
    let record = WateringRecord(
      run: run, zone: zone, zoneName: "Zone \(run)", program: Int(run), programName: nil, isScheduled: true, start: now,
      askedSeconds: 60, ranSeconds: Double(run), outcome: .completed)
    return [
      .pendingRemoved(run: run - 1), .pending(pending), .log(record),
      .ran(zone, seconds: Double(run), day: LocalDate(year: 2026, month: 11, day: 21)),
      .levels(SprinklerLevels(seasonalPercent: Int(run % 250))), .counters(nextRun: run + 1, nextProgram: Int(run)),
    ]
  }

  /// One write, so that a line is whole or missing.
  static func say(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    guard Glibc.write(1, bytes, bytes.count) == bytes.count else { exit(1) }
  }
}
