import Sprinkler

/// What a store must hold after some changes, kept in memory and written without a look at the store's code.
struct ModelStore {
  var records = SprinklerRecords()
  var log: [WateringRecord] = []

  mutating func make(_ change: SprinklerChange) {
    switch change {
    case .zones(let zones): records.zones = zones
    case .program(let program):
      if let place = records.programs.firstIndex(where: { $0.id == program.id }) {
        records.programs[place] = program
      } else {
        records.programs.append(program)
      }
    case .programRemoved(let id): records.programs.removeAll { $0.id == id }
    case .programOrder(let ids):
      var rest = records.programs
      var sorted: [Program] = []
      for id in ids {
        guard let place = rest.firstIndex(where: { $0.id == id }) else { continue }
        sorted.append(rest.remove(at: place))
      }
      records.programs = sorted + rest
    case .levels(let levels): records.levels = levels
    case .rainDelay(let delay), .rainDelayNoted(let delay): records.rainDelay = delay
    case .forecast(let isOn): records.isForecastOn = isOn
    case .started(let key): if !records.startKeys.contains(key) { records.startKeys.append(key) }
    case .startKeysForgotten(let date):
      records.startKeys.removeAll { $0.date < date }
      records.suppressed.removeAll { $0.key.date < date }
    case .suppressed(let start):
      records.suppressed.removeAll { $0.key == start.key }
      records.suppressed.append(start)
    case .takenBack(let start):
      records.startKeys.removeAll { $0 == start.key }
      records.suppressed.removeAll { $0.key == start.key }
      for index in log.indices where log[index].isOf(start) { log[index].outcome = .wrongClock }
    case .pending(let run):
      if let place = records.pending.firstIndex(where: { $0.run == run.run }) {
        records.pending[place] = run
      } else {
        records.pending.append(run)
      }
    case .pendingRemoved(let run): records.pending.removeAll { $0.run == run }
    case .pendingOrder(let runs):
      var rest = records.pending
      var sorted: [PendingRun] = []
      for run in runs {
        guard let place = rest.firstIndex(where: { $0.run == run }) else { continue }
        sorted.append(rest.remove(at: place))
      }
      records.pending = sorted + rest
    case .log(let record):
      log.removeAll { $0.start == record.start && $0.run == record.run }
      log.append(Self.withoutNull(record))
    case .ran(let zone, let seconds, let day):
      if records.day != day { records.ranToday = [:] }
      records.day = day
      records.ranToday[zone] = seconds
    case .counters(let nextRun, let nextProgram):
      records.nextRun = nextRun
      records.nextProgram = nextProgram
    case .deficits(let deficits): records.deficits = deficits
    case .flows(let flows): records.flows = flows
    case .seen(let instant): records.seen = instant
    case .everything(let all):
      let before = records
      records = all
      records.nextRun = max(before.nextRun, all.nextRun)
      records.nextProgram = max(before.nextProgram, all.nextProgram)
    }
  }

  /// SQLite's texts end at U+0000; the log keeps U+FFFD in its place.
  static func withoutNull(_ record: WateringRecord) -> WateringRecord {
    func replaced(_ text: String) -> String {
      String(String.UnicodeScalarView(text.unicodeScalars.map { $0 == "\0" ? "\u{FFFD}" : $0 }))
    }
    var record = record
    record.zoneName = replaced(record.zoneName)
    record.programName = record.programName.map(replaced)
    record.caller = record.caller.map(replaced)
    record.why = record.why.map(replaced)
    return record
  }

  /// As the store gives them: start keys have no order of their own.
  static func comparable(_ records: SprinklerRecords) -> SprinklerRecords {
    var records = records
    records.startKeys.sort { String(describing: $0) < String(describing: $1) }
    records.suppressed.sort { String(describing: $0) < String(describing: $1) }
    return records
  }

  func sortedLog(newestFirst: Bool = false) -> [WateringRecord] {
    let sorted = log.sorted { ($0.start, $0.run) < ($1.start, $1.run) }
    return newestFirst ? sorted.reversed() : sorted
  }
}
