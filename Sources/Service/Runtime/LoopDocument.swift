import Tactus

/// One loop of `GET /api/runtime`. `released == ran + skipped + pending`, always.
public struct LoopDocument: Codable, Sendable {
  public var name: String
  public var lane: String
  public var rateHz: Double
  public var periodNs: Int64
  public var phaseNs: Int64
  public var released: Int64
  public var ran: Int64
  public var skipped: Int64
  public var pending: Int64
  public var overdue: Int64
  /// Null while none runs.
  @OrNull public var running: Running?
  /// Null before the second tick.
  @OrNull public var longestGap: Gap?
  public var byDeadline: Int64
  public var byInput: Int64
  public var overruns: Int64
  public var oversleeps: Int64
  public var deadlineMisses: Int64
  public var safeStates: Int64
  public var latencyNs: Distribution
  public var executionNs: Distribution
  public var ages: [Age]

  init(_ loop: LoopStatistics, histograms: Bool) {
    name = loop.name
    lane = loop.lane
    rateHz = Rate.period(loop.period).hertz
    periodNs = loop.period.count
    phaseNs = loop.phase.count
    let counters = loop.counters
    released = counters.released
    ran = counters.ran
    skipped = counters.skipped
    pending = counters.pending
    overdue = loop.overdue
    _running = OrNull(wrappedValue: loop.running.map(Running.init))
    _longestGap = OrNull(wrappedValue: loop.longestGap.map(Gap.init))
    byDeadline = counters.byDeadline
    byInput = counters.byInput
    overruns = counters.overruns
    oversleeps = counters.oversleeps
    deadlineMisses = counters.deadlineMisses
    safeStates = counters.safeStates
    latencyNs = Distribution(loop.latency, buckets: histograms)
    executionNs = Distribution(loop.execution, buckets: histograms)
    ages = loop.ages.map { Age($0, histograms: histograms) }
  }

  /// A tick, or the loop's safe state, that has begun and not ended.
  public struct Running: Codable, Sendable {
    /// On the clock of `monotonicNs`.
    public var sinceNs: Int64
    public var isSafeState: Bool

    init(_ tick: RunningTick) {
      sinceNs = tick.since.nanoseconds
      isSafeState = tick.isSafeState
    }
  }

  /// The longest time between the starts of two ticks in a row, since the start.
  public struct Gap: Codable, Sendable {
    public var lengthNs: Int64
    /// On the clock of `monotonicNs`.
    public var sinceNs: Int64

    init(_ gap: TickGap) {
      lengthNs = gap.length.count
      sinceNs = gap.since.nanoseconds
    }
  }

  /// How old the data is that the loop acts on. Null is unknown: nothing was used yet, or there is no bound.
  public struct Age: Codable, Sendable {
    public var name: String
    /// The loops that the data passes, this one last.
    public var path: [String]
    /// How data that no loop measures comes to the loop; null if the first loop of the path measures it.
    @OrNull public var arrival: String?
    /// At the end of each tick that used measured data.
    public var ageNs: Distribution
    @OrNull public var lastNs: Int64?
    /// Of what was used last, by now: grows while nothing is used.
    @OrNull public var nowNs: Int64?
    /// Ticks that used data which had never been measured.
    public var unsampled: Int64
    @OrNull public var boundNs: Int64?
    /// Whether the bound rests on measured execution times.
    public var isBoundMeasured: Bool

    init(_ age: AgeStatistics, histograms: Bool) {
      name = age.name
      path = age.path
      _arrival = OrNull(wrappedValue: age.arrival.map { "\($0)" })
      ageNs = Distribution(age.age, buckets: histograms)
      _lastNs = OrNull(wrappedValue: age.last?.count)
      _nowNs = OrNull(wrappedValue: age.now?.count)
      unsampled = age.unsampled
      _boundNs = OrNull(wrappedValue: age.bound?.count)
      isBoundMeasured = age.isBoundMeasured
    }
  }

  /// Values since the start; percentiles within 6.25 %. All null while there is none.
  public struct Distribution: Codable, Sendable {
    @OrNull public var p50: Int64?
    @OrNull public var p90: Int64?
    @OrNull public var p99: Int64?
    @OrNull public var p999: Int64?
    @OrNull public var min: Int64?
    @OrNull public var max: Int64?
    /// Only with `?histograms=1`: buckets that are not empty, ascending, each `[its largest value, how many values]`.
    /// Differences between two documents are the distribution of the time between them.
    public var buckets: [[Int64]]?

    init(_ histogram: HistogramSnapshot, buckets withBuckets: Bool) {
      _p50 = OrNull(wrappedValue: histogram.percentile(0.5)?.count)
      _p90 = OrNull(wrappedValue: histogram.percentile(0.9)?.count)
      _p99 = OrNull(wrappedValue: histogram.percentile(0.99)?.count)
      _p999 = OrNull(wrappedValue: histogram.percentile(0.999)?.count)
      _min = OrNull(wrappedValue: histogram.minimum?.count)
      _max = OrNull(wrappedValue: histogram.maximum?.count)
      guard withBuckets else { return }
      buckets = histogram.counts.enumerated().filter { $0.element > 0 }.map { index, count in
        [HistogramSnapshot.bounds(ofBucket: index).upperBound - 1, Int64(count)]
      }
    }
  }
}
