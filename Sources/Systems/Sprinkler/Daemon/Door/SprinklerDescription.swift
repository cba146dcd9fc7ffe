import Sprinkler

/// What the configuration says about the sprinkler, as far as the door needs it.
struct SprinklerDescription: Sendable {
  struct Line: Sendable, Hashable {
    let pin: Int
    let isActiveLow: Bool

    init(pin: Int, isActiveLow: Bool) { (self.pin, self.isActiveLow) = (pin, isActiveLow) }
  }

  /// `gpio`, `sim`
  let backend: String
  /// In the order of the request: bit k of the loop's masks is line k. The master valve's last.
  let lines: [Line]
  let hasMaster: Bool
  let deniedPins: [Int]
  /// Of a rain delay without a given length.
  var rainDelayHours: Int
  /// `allow`, `warn`, `deny`
  var manualInRain: String
  var stopsInRain: Bool
  let hasLegacyRoutes: Bool
  let timeZone: ZoneRules
  /// Where sunrise and sunset are computed for, or `nil` if the configuration names no place.
  let place: GeographicPlace?
  /// Valves open at a time in all, and in each group from group 1.
  let maximumOpen: Int
  let groups: [Int]
  let stationDelaySeconds: Int
  /// `open-meteo`, or `nil` if it is off.
  let weather: String?

  init(
    backend: String, lines: [Line], hasMaster: Bool, deniedPins: [Int] = [], rainDelayHours: Int = 24,
    manualInRain: String = "warn", stopsInRain: Bool = true, hasLegacyRoutes: Bool = false, timeZone: ZoneRules,
    place: GeographicPlace? = nil, maximumOpen: Int = 1, groups: [Int] = [], stationDelaySeconds: Int = 0,
    weather: String? = nil
  ) {
    self.backend = backend
    self.lines = lines
    self.hasMaster = hasMaster
    self.deniedPins = deniedPins
    self.rainDelayHours = rainDelayHours
    self.manualInRain = manualInRain
    self.stopsInRain = stopsInRain
    self.hasLegacyRoutes = hasLegacyRoutes
    self.timeZone = timeZone
    self.place = place
    self.maximumOpen = maximumOpen
    self.groups = groups
    self.stationDelaySeconds = stationDelaySeconds
    self.weather = weather
  }

  /// The lines that zones may use.
  var zoneLines: ArraySlice<Line> { hasMaster ? lines.dropLast() : lines[...] }

  /// Which of the requested lines a zone's pin is, or `nil` if none that zones may use.
  func line(_ pin: Int) -> Int? { zoneLines.firstIndex { $0.pin == pin } }
}
