import WallTime

/// The number, minimum, mean and maximum of the values that one quantity had in a span of time.
struct PumpSpread: Sendable, Hashable {
  /// The number of values, at least 1.
  var count: Int64
  var least: Double
  var mean: Double
  var highest: Double

  init(count: Int64, least: Double, mean: Double, highest: Double) {
    (self.count, self.least, self.mean, self.highest) = (count, least, mean, highest)
  }

  init(_ value: Double) { self.init(count: 1, least: value, mean: value, highest: value) }

  /// Adds the values of another spread.
  mutating func add(_ other: PumpSpread) {
    count += other.count
    mean += (other.mean - mean) * Double(other.count) / Double(count)
    least = min(least, other.least)
    highest = max(highest, other.highest)
  }

  /// Returns the values of both spreads, of which each is `nil` if it has no value.
  static func joined(_ one: PumpSpread?, _ other: PumpSpread?) -> PumpSpread? {
    guard var joined = one else { return other }
    if let other { joined.add(other) }
    return joined
  }
}

/// The pump's values in a span of time. The store has one for each minute in which something was known of the pump; charts merge them to longer ones.
struct PumpSpan: Sendable, Hashable {
  /// The length of the spans in the store, in seconds. They begin at multiples of it.
  static let storedSeconds: Int64 = 60
  /// The number of days after which spans are deleted.
  static let keptDays: Int64 = 30
  /// The largest number of stored spans, independent of the clock: twice as many as the days have minutes.
  static let mostStored = 2 * 30 * 1_440

  var start: WallInstant
  /// The number of samples, at least 1.
  var samples: Int64
  /// The number of samples in which the pump was on.
  var running: Int64
  /// The speed in per cent while the pump was on, or `nil` if it is not known.
  var speed: PumpSpread?
  /// The water's temperature in °C, or `nil` if it is not known.
  var water: PumpSpread?
  /// The skin's temperature in °C, or `nil` if it is not known.
  var skin: PumpSpread?

  init(
    start: WallInstant, samples: Int64, running: Int64, speed: PumpSpread? = nil, water: PumpSpread? = nil,
    skin: PumpSpread? = nil
  ) {
    (self.start, self.samples, self.running) = (start, samples, running)
    (self.speed, self.water, self.skin) = (speed, water, skin)
  }

  /// Returns the start of the stored span that contains an instant.
  static func start(of instant: WallInstant) -> WallInstant {
    let seconds = instant.secondsSince1970
    return WallInstant(secondsSince1970: seconds.flooredQuotient(storedSeconds) * storedSeconds)
  }

  /// Adds the values of another span and keeps the start.
  mutating func add(_ other: PumpSpan) {
    samples += other.samples
    running += other.running
    speed = PumpSpread.joined(speed, other.speed)
    water = PumpSpread.joined(water, other.water)
    skin = PumpSpread.joined(skin, other.skin)
  }
}

/// The spans of equal length into which a chart's time is divided.
struct PumpRaster: Sendable, Hashable {
  /// The start of the first span, a multiple of a minute.
  let start: WallInstant
  /// The end, which is not part of the last span.
  let end: WallInstant
  /// The length of each span in seconds, a multiple of a minute.
  let seconds: Int64

  /// Divides the time from `start`, rounded down to a minute, to `end` into spans that are as short as possible.
  ///
  /// - Parameter points: the largest number of spans, at least 1.
  init(from start: WallInstant, until end: WallInstant, points: Int64) {
    self.start = PumpSpan.start(of: start)
    self.end = end
    let length: Int64 = end - self.start
    let minutes = max(1, (length + PumpSpan.storedSeconds - 1) / PumpSpan.storedSeconds)
    seconds = (minutes + points - 1) / points * PumpSpan.storedSeconds
  }

  /// Returns the start of the raster's span that contains an instant, which is not before the raster's start.
  func start(of instant: WallInstant) -> WallInstant {
    let since: Int64 = instant - start
    return start + since.flooredQuotient(seconds) * seconds
  }
}
