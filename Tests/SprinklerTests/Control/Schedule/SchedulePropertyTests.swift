import Foundation
import Sprinkler
import Tactus
import TestSupport
import Testing
import WallTime

/// Whatever programs people write, whatever the weather, the clock and the power do.
///
/// `TACTUS_PROGRAM_YEARS=10000` makes it the number of years of programs of the requirement; without it, as many as a test
/// run can wait for. `TACTUS_SEED` begins at another seed, to look at one that failed.
@Suite("Properties of the schedule", .ownThread)
struct SchedulePropertyTests {
  static let environment = ProcessInfo.processInfo.environment

  @Test("random programs in random years: every property holds, every second is accounted for")
  func randomYears() throws {
    let wanted = Self.environment["TACTUS_PROGRAM_YEARS"].flatMap(Double.init) ?? 10
    var seed = Self.environment["TACTUS_SEED"].flatMap(UInt64.init) ?? 1
    var years = 0.0
    var looks = 0
    var runs = 0
    while years < wanted {
      var world = RandomYear(seed: seed)
      let result = try world.play()
      years += result.programYears
      looks += result.looks
      runs += result.runs
      #expect(result.failures.isEmpty, "TACTUS_SEED=\(seed): \(result.failures.prefix(5).joined(separator: "; "))")
      guard result.failures.isEmpty else { return }
      seed += 1
    }
    print("\(Int(years)) years of programs, \(runs) lines of the log, \(looks) looks; the next seed is \(seed)")
    #expect(runs > 0 && looks > runs)
  }
}

/// One random set of programs, and what happens to it in some weeks around the changes of the clock.
struct RandomYear {
  struct Result {
    var programYears: Double
    var looks: Int
    var runs: Int
    var failures: [String]
  }
  private static let zoneNames = [
    "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "America/Sao_Paulo", "Asia/Kathmandu", "UTC",
    "Africa/Casablanca",
  ]
  private static let rules = zoneNames.map { name in
    (try? ZoneRules(identifier: name, years: 2015...2035)) ?? .utc
  }
  private var random: SplitMix64

  init(seed: UInt64) { random = SplitMix64(seed: seed) }

  private mutating func pick(_ range: ClosedRange<Int>) -> Int {
    range.lowerBound + Int(random.below(UInt64(range.count)))
  }
  private mutating func chance(_ percent: Int) -> Bool { random.chance(perMille: percent * 10) }

  mutating func play() throws -> Result {
    let zoneCount = pick(1...16)
    let isSingle = chance(50)
    let groups = isSingle ? [:] : [0: pick(1...3), 1: pick(1...2), 2: 1]
    let hasMaster = chance(40)
    let irrigation = try IrrigationSettings(
      lineCount: 17,
      master: hasMaster
        ? try MasterValve(line: 16, lead: .seconds(Int64(pick(-5...10))), lag: .seconds(Int64(pick(-5...10)))) : nil,
      stationDelay: .seconds(Int64(chance(50) ? 0 : pick(1...30))), maximumOpen: isSingle ? 1 : pick(1...4),
      groups: groups)
    let settings = SchedulerSettings(
      zone: Self.rules[pick(0...Self.rules.count - 1)], pins: Array(0...16), masterPin: hasMaster ? 16 : nil,
      place: GeographicPlace(latitude: Double(pick(-70...70)), longitude: Double(pick(-180...180))),
      catchUpSeconds: chance(20) ? pick(0...30) : 300, rainEndsOpenRuns: chance(50),
      manualInRain: [.allow, .warn, .deny][pick(0...2)], afterPowerCut: chance(60) ? .resume : .close)
    var records = SprinklerRecords()
    for number in 1...zoneCount {
      let longest = chance(20) ? pick(60...600) : 7_200
      records.zones.append(
        Zone(
          id: ZoneID(index: number - 1), name: "zone \(number)", gpioPin: number - 1, isEnabled: !chance(10),
          defaultSeconds: min(600, longest), maximumSeconds: longest,
          maximumSecondsPerDay: chance(30) ? pick(60...5_000) : nil, group: isSingle || chance(50) ? nil : pick(1...2),
          ignoresRain: chance(15)))
    }
    let programs = pick(1...20)
    for id in 1...programs {
      records.programs.append(RandomPrograms.program(&random, id: id, zones: zoneCount, hasSun: true))
    }
    records.nextProgram = programs + 1
    records.levels.seasonalPercent = chance(40) ? pick(0...250) : 100
    if chance(30) { records.levels.monthlyPercent = (0..<12).map { _ in pick(0...250) } }

    // A few weeks, half of them over a change of the clock.
    let days = pick(10...40)
    var start = WallInstant(secondsSince1970: 1_500_000_000 + Int64(random.below(400_000_000)))
    let later = settings.zone.transitions.filter { $0.at > start }
    if chance(50), !later.isEmpty {
      start = later[pick(0...min(1, later.count - 1))].at - Int64(pick(1...days) * 86_400)
    }
    var world = ScheduleSimulation(records, settings: settings, irrigation: irrigation, start: start)
    let end = world.now + .seconds(Int64(days) * 86_400)
    while world.now < end {
      world.run(for: .seconds(Int64(random.below(chance(30) ? 1_800 : 100_000))))
      disturb(&world, zones: zoneCount)
    }
    world.run(for: .seconds(Int64(1)))
    world.settle()
    return Result(
      programYears: Double(programs * days) / 365, looks: world.checks.looks, runs: world.log.count,
      failures: world.checks.failures)
  }

  private mutating func disturb(_ world: inout ScheduleSimulation, zones: Int) {
    let zone = ZoneID(index: pick(0...zones - 1))
    let steps = (0..<pick(1...4)).map { _ in
      Program.Step(zone: ZoneID(index: pick(0...zones - 1)), seconds: pick(1...900))
    }
    let program = world.scheduler.records.programs.randomElement(using: &random)
    switch pick(0...26) {
    case 0, 1: world.powerCut(for: .seconds(Int64(pick(1...(chance(50) ? 600 : 90_000)))))
    case 2:
      // A machine without a clock of its own: it goes on where it was, and is set right later.
      let behind = Int64(pick(10...40_000))
      world.powerCut(for: .seconds(behind), clockLoss: behind)
      world.run(for: .seconds(Int64(pick(1...600))))
      world.stepClock(by: behind)
    case 3, 4: world.stepClock(by: Int64(pick(-7_200...7_200)))
    case 5:
      // Set wrong, and right again.
      let wrong = Int64(pick(-400_000...400_000))
      world.stepClock(by: wrong)
      world.run(for: .seconds(Int64(pick(1...4_000))))
      world.stepClock(by: -wrong)
    case 6:
      let pause = Nanoseconds.seconds(Int64(pick(1...4_000)))
      if chance(50) { world.kill(for: pause) } else { world.restart(after: pause, isReboot: chance(50)) }
    case 7, 8: world.ask(.setRainDelay(seconds: pick(1...172_800)))
    case 9: world.ask(.cancelRainDelay)
    case 10: world.forecast(.rain(seconds: pick(0...90_000), reason: "9 mm"))
    case 11: world.forecast(.dry)
    case 12, 13: world.ask(.zoneOn(zone, seconds: chance(50) ? nil : pick(1...900)))
    case 14: world.ask(.zoneExtend(zone, seconds: pick(1...900)))
    case 15: world.ask(.zoneOff(zone))
    case 16: world.ask(.runOnce(steps))
    case 17: world.ask(.runNext(steps))
    case 18: world.ask(.skip)
    case 19: world.ask(chance(50) ? .clearQueue : .stopAll)
    case 20: world.ask(chance(50) ? .pause(seconds: pick(1...4_000)) : .resume)
    case 21: if let program { world.ask(.runProgram(id: program.id)) }
    case 22: if let program { world.ask(.enableProgram(id: program.id, !program.isEnabled)) }
    case 23:
      if var program {
        let other = RandomPrograms.program(&random, id: program.id, zones: zones, hasSun: true)
        program.starts = other.starts
        program.days = other.days
        world.ask(.replaceProgram(program))
      }
    case 24:
      if let program, chance(30) { world.ask(.removeProgram(id: program.id)) }
      world.ask(.addProgram(RandomPrograms.program(&random, id: 0, zones: zones, hasSun: true)))
    case 25:
      world.emergencyStop()
      world.run(for: .seconds(Int64(pick(1...100))))
      world.reset()
    default:
      var list = world.scheduler.records.zones
      let place = pick(0...list.count - 1)
      let other = pick(0...list.count - 1)
      list[place].isEnabled.toggle()
      (list[place].gpioPin, list[other].gpioPin) = (list[other].gpioPin, list[place].gpioPin)
      world.ask(.setZones(list))
    }
  }
}
