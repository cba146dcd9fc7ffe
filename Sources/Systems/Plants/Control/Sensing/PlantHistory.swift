/// One reading, for the history.
public struct PlantHistorySample: Sendable, Hashable {
  public var sensor: PlantSensorID
  public var at: PlantInstant
  /// 0…100 %.
  public var moisturePercent: Double
  public var celsius: Double?

  public init(sensor: PlantSensorID, at: PlantInstant, moisturePercent: Double, celsius: Double? = nil) {
    self.sensor = sensor
    self.at = at
    self.moisturePercent = moisturePercent
    self.celsius = celsius
  }
}

/// What a sensor said in one span of time: least, mean and greatest.
public struct PlantHistoryRow: Sendable, Hashable, Codable {
  public var sensor: PlantSensorID
  /// A multiple of `spanSeconds`.
  public var start: PlantInstant
  public var spanSeconds: Int64
  /// Samples of moisture, 1….
  public var count: Int
  public var leastPercent: Double
  public var meanPercent: Double
  public var greatestPercent: Double
  /// Samples that had a temperature.
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

  /// A row as a store has kept it.
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

  /// The start of the span that `instant` is in, before 1970, too.
  static func start(of instant: PlantInstant, spanSeconds: Int64) -> PlantInstant {
    let rest = instant.secondsSince1970 % spanSeconds
    return instant - (rest < 0 ? rest + spanSeconds : rest)
  }

  /// With another row of the same sensor and span in it.
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

/// How fine the history is, and for how long.
public struct PlantHistoryTier: Sendable, Hashable {
  public let spanSeconds: Int64
  public let keptSeconds: Int64

  public init(spanSeconds: Int64, keptSeconds: Int64) {
    precondition(spanSeconds > 0 && keptSeconds >= spanSeconds, "a tier keeps at least one of its spans")
    self.spanSeconds = spanSeconds
    self.keptSeconds = keptSeconds
  }

  /// A minute for two days, a quarter of an hour for a month, six hours for three years.
  public static let standard = [
    Self(spanSeconds: 60, keptSeconds: 2 * 86_400), Self(spanSeconds: 900, keptSeconds: 31 * 86_400),
    Self(spanSeconds: 21_600, keptSeconds: 3 * 366 * 86_400),
  ]
}

/// Gathers samples into rows of every tier, and says what a store may forget. Holds one open row a sensor and tier.
public struct PlantHistory: Sendable, Hashable {
  private struct Key: Hashable {
    var sensor: PlantSensorID
    var tier: Int
  }
  /// Finest first.
  public let tiers: [PlantHistoryTier]
  private var open: [Key: PlantHistoryRow] = [:]

  public init(tiers: [PlantHistoryTier] = PlantHistoryTier.standard) {
    precondition(!tiers.isEmpty, "a history has a tier")
    self.tiers = tiers.sorted { $0.spanSeconds < $1.spanSeconds }
  }

  /// The rows that this sample ends: to be stored, in place of one of the same sensor, start and span or merged with it. A wall
  /// clock that jumps, forward or back, ends them, too.
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

  /// What has been gathered and not ended: to be stored at shutdown, and shown with what is stored.
  public var openRows: [PlantHistoryRow] {
    open.sorted { ($0.key.tier, $0.key.sensor) < ($1.key.tier, $1.key.sensor) }.map(\.value)
  }

  /// The same, and they begin anew: for a store that merges what it is given, so that a crash loses little of a long span.
  public mutating func takeOpenRows() -> [PlantHistoryRow] {
    defer { open = [:] }
    return openRows
  }

  /// Before which start a store may delete the rows of each span.
  public func expiries(at now: PlantInstant) -> [(spanSeconds: Int64, before: PlantInstant)] {
    tiers.map { ($0.spanSeconds, now - $0.keptSeconds) }
  }

  /// The finest tier that still holds `from` and gives at most `points` rows of one sensor up to `now`; the coarsest if none does.
  public func tier(from: PlantInstant, to now: PlantInstant, points: Int) -> PlantHistoryTier {
    let length = max(0, now - from)
    return tiers.first { $0.keptSeconds >= length && length / $0.spanSeconds <= Int64(points) }
      ?? tiers[tiers.count - 1]
  }

  /// `rows` of one sensor, oldest first, in at most `points` rows: neighbours are merged, means weighted by their samples.
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
