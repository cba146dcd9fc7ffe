import Sprinkler
import Store
import WallTime

/// The desk's last published state of schedules and store, for documents, which never wait for the disk.
struct SprinklerView: Sendable {
  /// A number that changes with every change of the other properties.
  var version: UInt64 = 0
  /// Whether the store has been read; until then `records` is empty because its contents are unknown.
  var isLoaded: Bool
  var records: SprinklerRecords
  /// The next start of a schedule, or `nil` if none is to come.
  var next: UpcomingStart?
  /// The instant at which each enabled schedule next opens a zone, by the schedule's number; schedules that never do are absent.
  var nextRuns: [Int: WallInstant] = [:]
  /// The reason why the store refused the last change, or `nil` if it accepted it.
  var storeFailure: String?
  var weather: WeatherReport?
  /// The present findings of each soil-moisture rule, in the order of the file.
  var soil: [SoilStatus] = []
  /// The deficits of the zones that have a rule, by zone.
  var deficits: [DeficitStatus] = []
  /// The flow of the zones that have limits of their own, by zone.
  var flows: [ZoneFlowStatus] = []
  /// The status of the rain sensor, or `nil` if there is no such sensor or the schedules have not been read.
  var rainSensor: RainSensorStatus?
}

/// The last result of asking the weather provider.
struct WeatherReport: Sendable, Hashable {
  /// The instant of the last question.
  var asked: WallInstant
  /// The instant of the last answer, or `nil` if the provider has never answered.
  var answered: WallInstant?
  /// The rain on the days that are added up, in mm, as far as they are known, or `nil` if none is.
  var millimetres: Double?
  /// Whether some of these days are unknown, so that more rain is possible.
  var isLowerBound = false
  /// The reason why the last question to the weather provider has no answer, or `nil` if it has one.
  var failure: String?
}
