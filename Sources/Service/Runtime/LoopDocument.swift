import Tactus

/// One loop of `GET /api/runtime`. `released == ran + skipped + pending` always holds.
public struct LoopDocument: Codable, Sendable {
  /// The name of the loop, unique in the runtime.
  public var name: String
  /// The name of the lane that runs the loop.
  public var lane: String
  /// The number of periodic releases a second: 10⁹ / `periodNs`.
  public var rateHz: Double
  /// The present time between two periodic releases, in nanoseconds.
  public var periodNs: Int64
  /// The phase in nanoseconds: the first release is due at `epochNs` + `phaseNs`.
  public var phaseNs: Int64
  /// The number of periodic releases that have come due.
  public var released: Int64
  /// The number of periodic releases that ran, including the one that is running.
  public var ran: Int64
  /// The number of periodic releases given up under the late policy.
  public var skipped: Int64
  /// The number of periodic releases that are due and have neither run nor been given up. Grows while a tick hangs.
  public var pending: Int64
  /// The pending and running releases whose deadline has passed. Grows while a tick hangs.
  public var overdue: Int64
  /// The tick or safe state in progress, or null between two ticks.
  @OrNull public var running: Running?
  /// The longest gap between two ticks, or null before the second tick.
  @OrNull public var longestGap: Gap?
  /// The number of ticks released by the loop's own deadline.
  public var byDeadline: Int64
  /// The number of ticks released by an input.
  public var byInput: Int64
  /// The number of ticks whose own work took longer than the period.
  public var overruns: Int64
  /// The number of periodic releases for which the kernel woke the lane late by more than the loop's tolerance.
  public var oversleeps: Int64
  /// The number of periodic releases that ran past their deadline, whatever the cause.
  public var deadlineMisses: Int64
  /// The number of times that the loop was put into its safe state for consecutive misses.
  public var safeStates: Int64
  /// The latency of every release, from its scheduled instant to the start of its tick, or to the instant at which it was given up.
  public var latencyNs: Distribution
  /// The execution time of every completed tick, from its start to its end.
  public var executionNs: Distribution
  /// The ages of the data that the loop uses, one for each age declared; empty if the loop declares none.
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

  /// A tick or a run of the loop's safe state that has begun and not ended.
  public struct Running: Codable, Sendable {
    /// The instant at which the tick or the safe state began, on the clock of `monotonicNs`.
    public var sinceNs: Int64
    /// Whether the loop's safe state is running, rather than a tick.
    public var isSafeState: Bool

    init(_ tick: RunningTick) {
      sinceNs = tick.since.nanoseconds
      isSafeState = tick.isSafeState
    }
  }

  /// The longest time between the starts of two consecutive ticks since the start.
  public struct Gap: Codable, Sendable {
    /// The time in nanoseconds from the start of the first tick to the start of the second.
    public var lengthNs: Int64
    /// The start of the first tick, on the clock of `monotonicNs`.
    public var sinceNs: Int64

    init(_ gap: TickGap) {
      lengthNs = gap.length.count
      sinceNs = gap.since.nanoseconds
    }
  }

  /// The age of the data that the loop acts on. A member is null while it is unknown, because no data was used yet or there is no bound.
  public struct Age: Codable, Sendable {
    /// The name with which the age was declared.
    public var name: String
    /// The loops that the data passes through, this loop last.
    public var path: [String]
    /// The way in which data that no loop measures reaches the loop, or null if the first loop of the path measures it.
    @OrNull public var arrival: String?
    /// The distribution of the age of the data, taken at the end of each tick that used measured data.
    public var ageNs: Distribution
    /// The age at the last use, or null before the first use.
    @OrNull public var lastNs: Int64?
    /// The present age of the data used last, which grows while no data is used; null before the first use.
    @OrNull public var nowNs: Int64?
    /// The number of ticks that used data which had never been measured.
    public var unsampled: Int64
    /// The greatest age that the planner allows for, or null if there is no bound or it is not known yet.
    @OrNull public var boundNs: Int64?
    /// Whether the bound is based on measured execution times.
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

  /// The distribution of time spans since the start, in nanoseconds. Percentiles are exact within 6.25 %. All members
  /// except the buckets are null while there is no value.
  public struct Distribution: Codable, Sendable {
    /// The median, or null while there is no value.
    @OrNull public var p50: Int64?
    /// The value that 90 % of the values do not exceed, or null while there is no value.
    @OrNull public var p90: Int64?
    /// The value that 99 % of the values do not exceed, or null while there is no value.
    @OrNull public var p99: Int64?
    /// The value that 99.9 % of the values do not exceed, or null while there is no value.
    @OrNull public var p999: Int64?
    /// The smallest value, exactly, or null while there is no value.
    @OrNull public var min: Int64?
    /// The largest value, exactly, or null while there is no value.
    @OrNull public var max: Int64?
    /// The buckets that are not empty, in ascending order, each as `[largest value, number of values]`; null without
    /// `?histograms=1`. The differences between two documents are the distribution of the time between them.
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
