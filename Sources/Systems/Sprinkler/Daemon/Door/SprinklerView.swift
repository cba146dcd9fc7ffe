import Sprinkler
import Store
import WallTime

/// What the desk last said of schedules and store: for documents, which never wait for the disk.
struct SprinklerView: Sendable {
  /// Another one whenever something here is.
  var version: UInt64 = 0
  /// Whether the store could be read: until then `records` are empty because they are unknown.
  var isLoaded: Bool
  var records: SprinklerRecords
  /// Of the schedules, or `nil` if none is to come.
  var next: UpcomingStart?
  /// When each enabled schedule next opens a zone, by its number; one that never does is absent.
  var nextRuns: [Int: WallInstant] = [:]
  /// The last change that the store refused, or `nil` if all have been taken since.
  var storeFailure: String?
  var weather: WeatherReport?
}

/// What the weather provider said last.
struct WeatherReport: Sendable, Hashable {
  /// When it was asked.
  var asked: WallInstant
  /// When it last answered, or `nil` for never.
  var answered: WallInstant?
  /// Of the days that are added up, as far as they are known, or `nil` if there is none.
  var millimetres: Double?
  /// Whether some of these days are unknown, so that it may be more.
  var isLowerBound = false
  /// Why the last question has no answer, or `nil` if it has one.
  var failure: String?

  init(asked: WallInstant, answered: WallInstant? = nil, millimetres: Double? = nil, failure: String? = nil) {
    self.asked = asked
    self.answered = answered
    self.millimetres = millimetres
    self.failure = failure
  }
}
