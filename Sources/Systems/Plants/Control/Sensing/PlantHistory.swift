@_spi(FromOutside) import Conversions

/// One reading for the history.
public struct PlantHistorySample: Sendable, Hashable {
  public var sensor: PlantSensorID
  public var at: PlantInstant
  /// The moisture, 0…100 %.
  public var moisturePercent: Double
  public var celsius: Double?

  public init(sensor: PlantSensorID, at: PlantInstant, moisturePercent: Double, celsius: Double? = nil) {
    self.sensor = sensor
    self.at = at
    self.moisturePercent = moisturePercent
    self.celsius = celsius
  }
}

/// The minimum, mean and maximum of a sensor's readings in one span of time.
public struct PlantHistoryRow: Sendable, Hashable, Codable {
  public var sensor: PlantSensorID
  /// The start of the span, a multiple of `spanSeconds`.
  public var start: PlantInstant
  public var spanSeconds: Int64
  /// The number of moisture samples, at least 1.
  public var count: Int
  public var leastPercent: Double
  public var meanPercent: Double
  public var greatestPercent: Double
  /// The number of samples that had a temperature.
  public var celsiusCount: Int
  public var meanCelsius: Double?

  public init(_ sample: PlantHistorySample, spanSeconds: Int64) {
    sensor = sample.sensor
    start = Self.start(of: sample.at, spanSeconds: spanSeconds)
    self.spanSeconds = spanSeconds
    count = 1
    leastPercent = sample.moisturePercent
    meanPercent = sample.moisturePercent
    greatestPercent = sample.moisturePercent
    celsiusCount = sample.celsius == nil ? 0 : 1
    meanCelsius = sample.celsius
  }

  /// Creates a row from the values that a store has kept.
  public init(
    sensor: PlantSensorID, start: PlantInstant, spanSeconds: Int64, count: Int, leastPercent: Double,
    meanPercent: Double,
    greatestPercent: Double, celsiusCount: Int, meanCelsius: Double?
  ) {
    self.sensor = sensor
    self.start = start
    self.spanSeconds = spanSeconds
    self.count = count
    self.leastPercent = leastPercent
    self.meanPercent = meanPercent
    self.greatestPercent = greatestPercent
    self.celsiusCount = celsiusCount
    self.meanCelsius = meanCelsius
  }

  /// Returns the start of the span that contains `instant`, also before 1970.
  static func start(of instant: PlantInstant, spanSeconds: Int64) -> PlantInstant {
    let rest = instant.secondsSince1970 % spanSeconds
    return instant - (rest < 0 ? rest + spanSeconds : rest)
  }

  /// Merges another row of the same sensor and span into this one.
  public mutating func add(_ other: Self) {
    let total = count + other.count
    meanPercent += (other.meanPercent - meanPercent) * Double(other.count) / Double(total)
    count = total
    leastPercent = min(leastPercent, other.leastPercent)
    greatestPercent = max(greatestPercent, other.greatestPercent)
    guard let celsius = other.meanCelsius else { return }
    let warm = celsiusCount + other.celsiusCount
    let mean = meanCelsius ?? celsius
    meanCelsius = mean + (celsius - mean) * Double(other.celsiusCount) / Double(warm)
    celsiusCount = warm
  }
}

/// A resolution of the history and how long its rows are kept.
public struct PlantHistoryTier: Sendable, Hashable {
  public let spanSeconds: Int64
  public let keptSeconds: Int64

  public init(spanSeconds: Int64, keptSeconds: Int64) {
    precondition(spanSeconds > 0 && keptSeconds >= spanSeconds, "a tier keeps at least one of its spans")
    self.spanSeconds = spanSeconds
    self.keptSeconds = keptSeconds
  }

  /// The standard tiers: one minute for two days, a quarter of an hour for a month, six hours for three years.
  public static let standard = [
    Self(spanSeconds: 60, keptSeconds: 2 * 86_400), Self(spanSeconds: 900, keptSeconds: 31 * 86_400),
    Self(spanSeconds: 21_600, keptSeconds: 3 * 366 * 86_400),
  ]
}

/// Collects samples into rows of every tier, and decides which rows a store may delete. Holds one open row for each sensor and tier.
public struct PlantHistory: Sendable, Hashable {
  private struct Key: Hashable {
    var sensor: PlantSensorID
    var tier: Int
  }
  /// The tiers, the finest first.
  public let tiers: [PlantHistoryTier]
  private var open: [Key: PlantHistoryRow] = [:]

  public init(tiers: [PlantHistoryTier] = PlantHistoryTier.standard) {
    precondition(!tiers.isEmpty, "a history has a tier")
    self.tiers = tiers.sorted { $0.spanSeconds < $1.spanSeconds }
  }

  /// Adds a sample. Returns the rows that the sample ends: each is to be stored, replacing or merged with one of the same sensor, start and span. A
  /// jump of the wall clock in either direction also ends rows.
  public mutating func add(_ sample: PlantHistorySample) -> [PlantHistoryRow] {
    var ended: [PlantHistoryRow] = []
    for (index, tier) in tiers.enumerated() {
      let key = Key(sensor: sample.sensor, tier: index)
      let row = PlantHistoryRow(sample, spanSeconds: tier.spanSeconds)
      if var current = open[key], current.start == row.start {
        current.add(row)
        open[key] = current
      } else {
        if let current = open[key] { ended.append(current) }
        open[key] = row
      }
    }
    return ended
  }

  /// The rows that have not ended yet. They are stored at shutdown and shown together with the stored rows.
  public var openRows: [PlantHistoryRow] {
    open.sorted { ($0.key.tier, $0.key.sensor) < ($1.key.tier, $1.key.sensor) }.map(\.value)
  }

  /// Returns the open rows and begins new ones. It is called for a store that merges rows, so that a crash loses little of a long span.
  public mutating func takeOpenRows() -> [PlantHistoryRow] {
    defer { open = [:] }
    return openRows
  }

  /// Returns for each span the instant before which a store may delete the rows.
  public func expiries(at now: PlantInstant) -> [(spanSeconds: Int64, before: PlantInstant)] {
    tiers.map { ($0.spanSeconds, now - $0.keptSeconds) }
  }

  /// Returns the finest tier that still covers `from` and has at most `points` rows of one sensor up to `now`, or the coarsest tier if none does.
  public func tier(from: PlantInstant, to now: PlantInstant, points: Int) -> PlantHistoryTier {
    let length = max(0, now - from)
    return tiers.first { $0.keptSeconds >= length && length / $0.spanSeconds <= Int64(points) }
      ?? tiers[tiers.count - 1]
  }

  /// Returns `rows` of one sensor, oldest first, reduced to at most `points` rows: neighbours are merged, means weighted by their samples.
  public static func downSampled(_ rows: [PlantHistoryRow], to points: Int) -> [PlantHistoryRow] {
    precondition(points > 0, "a chart has a point")
    guard rows.count > points else { return rows }
    let size = (rows.count + points - 1) / points
    return stride(from: 0, to: rows.count, by: size).map { first in
      var merged = rows[first]
      let last = min(first + size, rows.count) - 1
      for index in first..<last { merged.add(rows[index + 1]) }
      merged.spanSeconds = rows[last].start - merged.start + rows[last].spanSeconds
      return merged
    }
  }
}
