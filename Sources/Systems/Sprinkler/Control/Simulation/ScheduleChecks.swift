@_spi(FromOutside) import Conversions
import Tactus

/// Checks invariants of watering from outside, by the lines, the machine's notices and the changes for the store.
public struct ScheduleChecks: Sendable {
  /// The violations found, in words; the first hundred.
  public private(set) var failures: [String] = []
  /// The number of checks made.
  public private(set) var looks = 0
  /// The total time for which each zone's line was active.
  public private(set) var flowed: [ZoneID: Nanoseconds] = [:]
  /// The total time that the log shows for each zone, in seconds.
  public private(set) var logged: [ZoneID: Double] = [:]
  /// The difference between the time for which interrupted runs were really open and the time charged, in seconds, by zone; never
  /// more than 0.
  public private(set) var lost: [ZoneID: Double] = [:]

  private let irrigation: IrrigationSettings
  private let pins: [Int]
  private var zones: [ZoneID: Zone] = [:]
  private var zoneByLine: [Int: ZoneID] = [:]
  private var lines: UInt64 = 0
  private var linesSince = TickInstant.zero
  private var started: Set<StartKey> = []
  /// The keys in `started` whose starts made a run.
  private var watered: Set<StartKey> = []
  /// The runs that have opened and not ended, each with the total time for which its zone had been open before.
  private var runs: [UInt64: (run: ZoneRun, before: Nanoseconds)] = [:]
  /// The runs that a power cut or a kill interrupted, with the time for which each had been open, in seconds.
  private var interrupted: [UInt64: Double] = [:]
  /// The runs that the log shows as over or as never begun.
  private var closed: Set<UInt64> = []

  init(_ irrigation: IrrigationSettings, _ settings: SchedulerSettings) {
    self.irrigation = irrigation
    pins = settings.pins
  }

  private mutating func check(_ holds: Bool, _ failure: @autoclosure () -> String) {
    looks += 1
    if !holds, failures.count < 100 { failures.append(failure()) }
  }

  // MARK: the store

  mutating func record(_ change: SprinklerChange, at now: TickInstant) {
    switch change {
    case .started(let key):
      let isNew = started.insert(key).inserted
      check(isNew, "program \(key.program) starts twice for \(key.date), \(key.start)")
      watered.insert(key)
    case .suppressed(let start): watered.remove(start.key)
    case .takenBack(let start):
      started.remove(start.key)
      check(
        !watered.contains(start.key),
        "program \(start.key.program) watered for \(start.key.date), and is to start again")
    case .log(let record):
      logged[record.zone, default: 0] += record.ranSeconds
      let isNew = closed.insert(record.run).inserted
      check(isNew, "run \(record.run) has two lines in the log")
      if let ran = interrupted.removeValue(forKey: record.run) {
        lost[record.zone, default: 0] += ran - record.ranSeconds
        check(
          ran <= record.ranSeconds + 0.001 && record.ranSeconds <= Double(record.askedSeconds) + 0.001,
          "run \(record.run) was open for \(ran) s when it was interrupted, and is charged with \(record.ranSeconds) s")
      }
    case .zones(let list): know(list, at: now)
    case .everything(let records): know(records.zones, at: now)
    default: break
    }
  }

  // MARK: the machine

  mutating func know(_ list: [Zone], at now: TickInstant) {
    account(until: now)
    zones = Dictionary(uniqueKeysWithValues: list.map { ($0.id, $0) })
    zoneByLine = [:]
    for zone in list {
      if let line = pins.firstIndex(of: zone.gpioPin) { zoneByLine[line] = zone.id }
    }
  }

  mutating func opened(_ run: ZoneRun, rain: Bool, at now: TickInstant) {
    let isOver = closed.contains(run.id)
    check(!isOver, "run \(run.id) opens zone \(run.zone) after it was logged as suppressed or over")
    check(!(rain && run.followsRain), "run \(run.id) opens zone \(run.zone) during a rain delay")
    let isFirst = runs[run.id] == nil
    check(isFirst, "run \(run.id) opens twice")
    account(until: now)
    runs[run.id] = (run, flowed[run.zone] ?? .zero)
  }

  mutating func ended(_ run: EndedRun) {
    let limit = Nanoseconds.seconds(Int64(zones[run.run.zone]?.maximumSeconds ?? 86_400))
    check(run.ran <= limit, "run \(run.run.id) of zone \(run.run.zone): \(run.ran), its limit is \(limit)")
    check(
      run.ran <= .seconds(Int64(run.run.seconds)),
      "run \(run.run.id) of zone \(run.run.zone): \(run.ran), asked were \(run.run.seconds) s")
    runs[run.run.id] = nil
  }

  mutating func record(lines new: UInt64, at now: TickInstant) {
    account(until: now)
    lines = new
    var open: [Int: Int] = [:]
    var count = 0
    for line in 0..<irrigation.lineCount where new >> UInt64(clamping: line) & 1 != 0 && !isMaster(line) {
      // A zone that was just given another line is about to close and has no line here.
      if let zone = zoneByLine[line] { open[zones[zone]?.group ?? 0, default: 0] += 1 }
      count += 1
    }
    let most = irrigation.maximumOpen
    check(count <= most, "\(count) valves are open at \(now), \(most) may be")
    for (group, count) in open {
      let most = Int(irrigation.maximumOpenInGroup[group])
      check(count <= most, "\(count) valves of group \(group) are open at \(now), \(most) may be")
    }
  }

  private func isMaster(_ line: Int) -> Bool { irrigation.master.map { Int($0.line) == line } ?? false }

  private mutating func account(until now: TickInstant) {
    for line in 0..<irrigation.lineCount where lines >> UInt64(clamping: line) & 1 != 0 {
      guard let zone = zoneByLine[line] else { continue }
      flowed[zone] = (flowed[zone] ?? .zero) + (now - linesSince)
    }
    linesSince = now
  }

  /// Records that all lines fell without notices, as at a power cut.
  mutating func valvesFell(at now: TickInstant) {
    account(until: now)
    lines = 0
    for item in progress(at: now) { interrupted[item.run] = item.ranSeconds }
    runs = [:]
  }

  /// Returns the progress of the runs that have not ended, pauses not counted.
  mutating func progress(at now: TickInstant) -> [RunProgress] {
    account(until: now)
    let open = Set(zoneByLine.filter { lines >> UInt64(clamping: $0.key) & 1 != 0 }.values)
    return runs.values.sorted { $0.run.id < $1.run.id }
      .map {
        RunProgress(
          run: $0.run.id, ranSeconds: ((flowed[$0.run.zone] ?? .zero) - $0.before).inSeconds,
          isOpen: open.contains($0.run.zone))
      }
  }

  /// Checks, at the end, that the log accounts for the water of each zone to the millisecond.
  mutating func settle(at now: TickInstant) {
    account(until: now)
    var open: [ZoneID: Double] = [:]
    for item in progress(at: now) { open[runs[item.run]!.run.zone, default: 0] += item.ranSeconds }
    for zone in Set(flowed.keys).union(logged.keys).sorted() {
      let water = (flowed[zone] ?? .zero).inSeconds
      let known = (logged[zone] ?? 0) + (lost[zone] ?? 0) + (open[zone] ?? 0)
      check(abs(water - known) < 0.001, "zone \(zone): water flowed for \(water) s, \(known) s are accounted for")
    }
  }
}
