import Tactus

/// One loop of `GET /api/runtime`. `released == ran + skipped + pending`, always.
public struct LoopDocument: Codable, Sendable {
  /// Unique in the runtime.
  public var name: String
  /// The name of the lane that runs the loop.
  public var lane: String
  /// Periodic releases a second: 10⁹ / `periodNs`.
  public var rateHz: Double
  /// The time between two periodic releases, as it is now.
  public var periodNs: Int64
  /// The first release is due at `epochNs` + `phaseNs`.
  public var phaseNs: Int64
  /// Periodic releases that have come due.
  public var released: Int64
  /// Periodic releases that ran, the one that runs included.
  public var ran: Int64
  /// Periodic releases given up under the late policy.
  public var skipped: Int64
  /// Periodic releases that are due and have neither run nor been given up. Grows while a tick hangs.
  public var pending: Int64
  /// Of the pending releases and the one that runs, those whose deadline has passed. Grows while a tick hangs.
  public var overdue: Int64
  /// Null while none runs.
  @OrNull public var running: Running?
  /// Null before the second tick.
  @OrNull public var longestGap: Gap?
  /// Ticks released by the loop's own deadline.
  public var byDeadline: Int64
  /// Ticks released by an input.
  public var byInput: Int64
  /// Ticks whose own work took longer than the period.
  public var overruns: Int64
  /// Periodic releases for which the kernel woke the lane late by more than the loop's tolerance.
  public var oversleeps: Int64
  /// Periodic releases that ran past their deadline, whatever the cause.
  public var deadlineMisses: Int64
  /// How often the loop was put into its safe state for consecutive misses.
  public var safeStates: Int64
  /// Release latency of every release: from its scheduled instant to the start of its tick, or to when it was given up.
  public var latencyNs: Distribution
  /// Execution time of every tick that has ended: from its start to its end.
  public var executionNs: Distribution
  /// One for each age that the loop is declared with; empty if it declares none.
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
    /// Whether the loop's safe state runs. If not, a tick does.
    public var isSafeState: Bool

    init(_ tick: RunningTick) {
      sinceNs = tick.since.nanoseconds
      isSafeState = tick.isSafeState
    }
  }

  /// The longest time between the starts of two ticks in a row, since the start.
  public struct Gap: Codable, Sendable {
    /// From the start of the first tick to the start of the second.
    public var lengthNs: Int64
    /// The start of the first tick, on the clock of `monotonicNs`.
    public var sinceNs: Int64

    init(_ gap: TickGap) {
      lengthNs = gap.length.count
      sinceNs = gap.since.nanoseconds
    }
  }

  /// How old the data is that the loop acts on. Null is unknown: nothing was used yet, or there is no bound.
  public struct Age: Codable, Sendable {
    /// The name that the age was declared with.
    public var name: String
    /// The loops that the data passes, this one last.
    public var path: [String]
    /// How data that no loop measures comes to the loop; null if the first loop of the path measures it.
    @OrNull public var arrival: String?
    /// At the end of each tick that used measured data.
    public var ageNs: Distribution
    /// The age at the last use; null before the first.
    @OrNull public var lastNs: Int64?
    /// Of what was used last, by now: grows while nothing is used.
    @OrNull public var nowNs: Int64?
    /// Ticks that used data which had never been measured.
    public var unsampled: Int64
    /// What the planner says that no age exceeds; null if there is no bound, or not yet.
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
    /// The median.
    @OrNull public var p50: Int64?
    /// 90 % of the values do not exceed it.
    @OrNull public var p90: Int64?
    /// 99 % of the values do not exceed it.
    @OrNull public var p99: Int64?
    /// 99.9 % of the values do not exceed it.
    @OrNull public var p999: Int64?
    /// The smallest value, exact.
    @OrNull public var min: Int64?
    /// The largest value, exact.
    @OrNull public var max: Int64?
    /// The buckets that are not empty, in ascending order, each as `[largest value, number of values]`; only with `?histograms=1`.
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
        [HistogramSnapshot.bounds(ofBucket: index).upperBound - 1, Int64(clamping: count)]
      }
    }
  }
}
