import Sprinkler
import Tactus
import WallTime

/// Changes of every kind, from a seed.
struct RandomChanges {
  var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  mutating func list() -> [SprinklerChange] { (0..<Int.random(in: 1...6, using: &random)).map { _ in next() } }

  mutating func next() -> SprinklerChange {
    switch Int.random(in: 0..<34, using: &random) {
    case 0...1: .zones(zones())
    case 2...6: .program(program())
    case 7: .programRemoved(id: id())
    case 8: .programOrder((0..<Int.random(in: 0...12, using: &random)).map { _ in id() })
    case 9: .levels(levels())
    case 10: .rainDelay(Bool.random(using: &random) ? delay() : nil)
    case 11...13: .started(key())
    case 14: .startKeysForgotten(before: date())
    case 15...17: .pending(pending())
    case 18...19: .pendingRemoved(run: UInt64(id()))
    case 20...23: .log(record())
    case 24...25:
      .ran(zone(), seconds: seconds(), day: LocalDate(year: 2026, month: 3, day: .random(in: 1...3, using: &random)))
    case 26:
      .counters(nextRun: .random(in: 1...(.max / 2), using: &random), nextProgram: .random(in: 1...100, using: &random))
    case 27: .seen(instant())
    case 28: .pendingOrder((0..<Int.random(in: 0...12, using: &random)).map { _ in UInt64(id()) })
    case 29: .suppressed(SuppressedStart(key(), due: instant(), why: .missed))
    case 30: .takenBack(SuppressedStart(key(), due: instant(), why: .missed))
    case 32: .forecast(isOn: .random(using: &random))
    case 31: .rainDelayNoted(Bool.random(using: &random) ? delay() : nil)
    default: Int.random(in: 0..<3, using: &random) == 0 ? .everything(everything()) : .levels(levels())
    }
  }

  private mutating func id() -> Int { Int.random(in: 1...9, using: &random) }
  private mutating func zone() -> ZoneID { ZoneID(index: Int.random(in: 0..<64, using: &random)) }
  private mutating func seconds() -> Double { Double(Int.random(in: 0...1_000_000, using: &random)) / 7 }

  private mutating func text() -> String {
    let pieces = ["Lawn", "Beet", "\"", ",", "\r\n", "'", "ä", "🌧", "\0", " ", "%", "\u{301}", "1"]
    return (0..<Int.random(in: 1...8, using: &random)).map { _ in pieces.randomElement(using: &random)! }.joined()
  }

  private mutating func date() -> LocalDate {
    LocalDate(
      year: .random(in: 1999...2101, using: &random), month: .random(in: 1...12, using: &random),
      day: .random(in: 1...28, using: &random))
  }

  private mutating func instant() -> WallInstant {
    WallInstant(secondsSince1970: .random(in: -100...4_000_000_000, using: &random))
  }

  mutating func zones() -> [Zone] {
    var ids = Set((0..<Int.random(in: 0...8, using: &random)).map { _ in zone() })
    return (0..<ids.count).map { pin in
      let id = ids.randomElement(using: &random)!
      ids.remove(id)
      return Zone(
        id: id, name: text(), gpioPin: pin, isEnabled: .random(using: &random), defaultSeconds: 60 + pin,
        maximumSecondsPerDay: Bool.random(using: &random) ? 3_600 : nil,
        group: Bool.random(using: &random) ? pin : nil, ignoresRain: .random(using: &random))
    }
  }

  mutating func program() -> Program {
    let rules: [DayRule] = [.weekdays(0b101_0101), .interval(days: 3, from: date()), .odd, .even]
    return Program(
      id: id(), name: text(), isEnabled: .random(using: &random), days: rules.randomElement(using: &random)!,
      season: Bool.random(using: &random)
        ? Season(from: MonthDay(month: 11, day: 3), to: MonthDay(month: 2, day: id())) : nil,
      starts: [.clock(minute: 1_439), .sunrise(offsetMinutes: -id()), .sunset(offsetMinutes: id())],
      steps: (0..<id()).map { _ in Program.Step(zone: zone(), seconds: 60 * id()) },
      cycleAndSoak: Bool.random(using: &random) ? .init(cycleSeconds: 120, soakSeconds: 600) : nil, priority: -id(),
      alias: Bool.random(using: &random) ? text() : nil)
  }

  private mutating func levels() -> SprinklerLevels {
    SprinklerLevels(
      seasonalPercent: .random(in: 0...250, using: &random),
      monthlyPercent: Bool.random(using: &random) ? (0..<12).map { _ in 10 * id() } : [])
  }

  private mutating func delay() -> RainDelay {
    let reason = [RainDelay.Reason.manual, .weather(text()), .sensor(text())].randomElement(using: &random)!
    if Bool.random(using: &random) { return RainDelay(until: instant(), reason: reason) }
    return RainDelay(
      seconds: id() * 3_600, reason: reason,
      at: WallReading(
        microseconds: instant().secondsSince1970 * 1_000_000, bootTime: .zero + .seconds(Int64(id())),
        boot: BootID("1"),
        isSynchronised: .random(using: &random), steady: .zero))
  }

  private mutating func key() -> StartKey {
    let starts: [StartTime] = [
      .clock(minute: id()), .sunrise(offsetMinutes: id() - 5), .sunset(offsetMinutes: id() - 5),
    ]
    return StartKey(program: id(), start: starts.randomElement(using: &random)!, date: date())
  }

  private mutating func pending() -> PendingRun {
    PendingRun(
      run: UInt64(id()), zone: zone(), program: Bool.random(using: &random) ? id() : nil,
      isScheduled: .random(using: &random), askedSeconds: 60, soakSeconds: id(), ignoresRain: .random(using: &random),
      queued: instant(), opened: Bool.random(using: &random) ? instant() : nil, ranSeconds: seconds(),
      caller: Bool.random(using: &random) ? text() : nil)
  }

  mutating func record() -> WateringRecord {
    let isScheduled = Bool.random(using: &random)
    return WateringRecord(
      run: Bool.random(using: &random) ? UInt64(id()) : .random(in: 1...UInt64.max / 2, using: &random), zone: zone(),
      zoneName: text(), program: isScheduled ? id() : nil, programName: isScheduled ? text() : nil,
      isScheduled: isScheduled, start: instant(), askedSeconds: 60 * id(), ranSeconds: seconds(),
      outcome: RunOutcome(rawValue: .random(in: 0...17, using: &random))!,
      caller: Bool.random(using: &random) ? text() : nil, why: Bool.random(using: &random) ? text() : nil)
  }

  private mutating func everything() -> SprinklerRecords {
    var model = ModelStore()
    for _ in 0..<12 {
      let change = next()
      if case .everything = change { continue }
      model.make(change)
    }
    return model.records
  }
}
