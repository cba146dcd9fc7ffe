import Sprinkler
import WallTime

/// The configuration's settings of the sprinkler that the door needs.
struct SprinklerDescription: Sendable {
  struct Line: Sendable, Hashable {
    let pin: Int
    let isActiveLow: Bool
  }

  /// The GPIO backend: `gpio` or `sim`.
  let backend: String
  /// The lines in the order of the request: bit k of the loop's masks is line k. The master valve's line is the last.
  let lines: [Line]
  let hasMaster: Bool
  var deniedPins: [Int] = []
  /// The duration of a rain delay for which no duration is given, hours.
  var rainDelayHours = 24
  /// The treatment of runs by hand during a rain delay: `allow`, `warn` or `deny`.
  var manualInRain = "warn"
  var stopsInRain = true
  var hasLegacyRoutes = false
  let timeZone: ZoneRules
  /// The place for which sunrise and sunset are computed, or `nil` if the configuration names no place.
  var place: GeographicPlace?
  /// The greatest number of valves open at the same time.
  var maximumOpen = 1
  /// The greatest number of valves open at the same time in each group, from group 1 on.
  var groups: [Int] = []
  var stationDelaySeconds = 0
  /// The weather provider, such as `open-meteo`, or `nil` if none is configured.
  var weather: String?

  /// The flow sensor's pulses per litre, or `nil` if there is no sensor.
  var pulsesPerLitre: Double?

  /// The lines that zones may use.
  var zoneLines: ArraySlice<Line> { hasMaster ? lines.dropLast() : lines[...] }

  /// Returns the index of a pin's line among those that zones may use, or `nil` if zones may not use the pin.
  func line(_ pin: Int) -> Int? { zoneLines.firstIndex { $0.pin == pin } }
}
