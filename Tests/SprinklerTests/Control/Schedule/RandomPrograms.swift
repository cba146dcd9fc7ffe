import Sprinkler
import Tactus
import WallTime

/// Programs as nobody would write them.
enum RandomPrograms {
  static func program(_ random: inout SplitMix64, id: Int, zones: Int, hasSun: Bool) -> Program {
    var starts: [StartTime] = []
    for _ in 0...random.below(4) {
      let minute = Int(random.below(1_440))
      let start: StartTime =
        switch random.below(hasSun ? 6 : 3) {
        // The hours around the changes of the clock, more often than others.
        case 0: .clock(minute: minute % 240)
        case 1, 2: .clock(minute: minute / 15 * 15)
        case 3: .clock(minute: minute)
        case 4: .sunrise(offsetMinutes: minute - 720)
        default: .sunset(offsetMinutes: minute - 720)
        }
      if !starts.contains(start) { starts.append(start) }
    }
    let steps = (0...random.below(UInt64(zones))).map { _ in
      Program.Step(
        zone: ZoneID(index: Int(random.below(UInt64(zones)))),
        seconds: 1 + Int(random.below(random.below(8) == 0 ? 9_000 : 1_200)))
    }
    let days: DayRule =
      switch random.below(5) {
      case 0, 1: .weekdays(UInt8(1 + random.below(127)))
      case 2:
        .interval(days: 1 + Int(random.below(9)), from: LocalDate(daysSince1970: 10_000 + Int(random.below(3_000))))
      case 3: .odd
      default: .even
      }
    func monthDay() -> MonthDay { MonthDay(month: 1 + Int(random.below(12)), day: 1 + Int(random.below(28))) }
    let season: Season? = random.below(3) == 0 ? Season(from: monthDay(), to: monthDay()) : nil
    let cycle: Program.CycleAndSoak? =
      random.below(3) == 0
      ? Program.CycleAndSoak(cycleSeconds: 60 + Int(random.below(600)), soakSeconds: Int(random.below(1_800))) : nil
    return Program(
      id: id, name: "program \(id)", isEnabled: random.below(10) > 0, days: days, season: season, starts: starts,
      steps: steps, cycleAndSoak: cycle, followsSeason: random.below(3) > 0, skipsInRain: random.below(4) > 0,
      priority: Int(random.below(5)) - 2)
  }
}
