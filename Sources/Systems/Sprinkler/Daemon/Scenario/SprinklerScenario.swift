import Service
import Sprinkler
import Tactus
import WallTime

/// A sprinkler, its programs, and what happens to it over some days.
struct SprinklerScenario {
  struct Event: Equatable {
    /// By a clock that is always right.
    var at: WallInstant
    var action: Action
  }

  enum Action: Equatable {
    case command(SprinklerCommand)
    /// So many mm are expected; no watering for so many hours.
    case forecast(hours: Double, millimetres: Double)
    /// With a clock that stands still meanwhile, and is set right a minute later.
    case powerCut(Nanoseconds, clockStands: Bool)
    /// The program ends in an orderly way and begins anew.
    case restart(Nanoseconds)
    case clockStep(Int64)
    case emergencyStop
    case reset
  }

  /// How many of each happen besides, at instants that the seed chooses.
  struct Chance: Equatable {
    var rainDelays = 0
    var powerCuts = 0
    var clockSteps = 0
    var runsByHand = 0
  }

  var name: String
  var seed: UInt64
  var from: LocalDate
  var days: Int
  var settings: SchedulerSettings
  var irrigation: IrrigationSettings
  /// Zones, programs and levels.
  var records: SprinklerRecords
  /// By time.
  var events: [Event]
  var chance: Chance

  var start: WallInstant { settings.zone.instant(of: from, second: 0) }
  var end: WallInstant { settings.zone.instant(of: from + days, second: 0) }

  /// The file's events and those of chance, by time.
  var allEvents: [Event] {
    var random = SplitMix64(seed: seed)
    let seconds = UInt64(clamping: max(1, end - start))
    func event(_ action: Action) -> Event { Event(at: start + Int64(clamping: random.below(seconds)), action: action) }
    var all = events
    for _ in 0..<chance.rainDelays {
      let hours = 12 + Int(clamping: random.below(5)) * 12
      all.append(event(.command(.setRainDelay(seconds: hours * 3_600))))
    }
    for _ in 0..<chance.powerCuts {
      let minutes = 1 + Int64(clamping: random.below(random.below(4) == 0 ? 600 : 30))
      all.append(event(.powerCut(.seconds(minutes * 60), clockStands: random.below(3) == 0)))
    }
    for _ in 0..<chance.clockSteps { all.append(event(.clockStep(Int64(clamping: random.below(7_200)) - 3_600))) }
    for _ in 0..<chance.runsByHand where !records.zones.isEmpty {
      let zone = records.zones[Int(clamping: random.below(UInt64(clamping: records.zones.count)))]
      let longest = min(1_200, zone.maximumSeconds)
      all.append(event(.command(.zoneOn(zone.id, seconds: 1 + Int(clamping: random.below(UInt64(clamping: longest)))))))
    }
    return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }
}
