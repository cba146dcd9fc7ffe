@_spi(FromOutside) import Conversions
import Service
import Tactus

/// The data that `top` shows of a daemon: the newest answer, and the changes of each loop between the last two answers.
struct TopModel {
  /// The newest answer, or `nil` if none has arrived or the daemon is unreachable.
  private(set) var newest: TopSample?
  private(set) var rows: [TopRow] = []
  /// The ages of all loops, in the order of the loops.
  private(set) var ages: [TopAge] = []
  /// The reason why there is no answer, or `nil` if there is an answer or the reason is unknown.
  private(set) var trouble: String?
  /// The time without an answer, and the number of requests that were due in it.
  private var silence = (span: Nanoseconds.zero, questions: 0)

  static let historyLength = 30

  /// Adds an answer. Measurements between two answers start again if the runtime has restarted.
  mutating func add(_ sample: TopSample) {
    let before = newest?.runtime
    let isContinued = before.map { $0.epochNs == sample.runtime.epochNs } ?? false
    let histories = Dictionary(rows.map { ($0.name, $0.jitter) }, uniquingKeysWith: { first, _ in first })
    rows = sample.runtime.loops.map { loop in
      let old = isContinued ? before?.loops.first { $0.name == loop.name } : nil
      let from = old == nil ? sample.runtime.epochNs : before!.monotonicNs
      return TopRow(
        loop, since: old, at: sample.runtime.monotonicNs, nanoseconds: sample.runtime.monotonicNs &- from,
        history: isContinued ? histories[loop.name] ?? [] : [])
    }
    ages = sample.runtime.loops.flatMap { $0.ages.map(TopAge.init) }
    newest = sample
    trouble = nil
    silence = (.zero, 0)
  }

  /// Notes that the next request is due, an interval after the last.
  mutating func ask(after interval: Nanoseconds) {
    silence = (Nanoseconds(silence.span.count + interval.count), silence.questions + 1)
  }

  /// The age of the data shown, or `nil` if fewer than two answers are missing or less than 2 s have passed.
  var age: Nanoseconds? { silence.questions >= 2 && silence.span >= .seconds(2) ? silence.span : nil }

  /// Notes that there is no answer, and why. All earlier data is discarded, because it could be mistaken for the present state.
  mutating func lose(_ reason: String) {
    self = TopModel()
    trouble = reason
  }
}

/// The measurements of one loop between two answers, or since the start of its runtime after the first answer.
struct TopRow: Equatable {
  let name: String
  /// The number of periodic releases that ran in a second, or `nil` if no time has passed.
  let hertz: Double?
  let latency: IntervalDistribution
  let execution: IntervalDistribution
  /// The number of releases given up since the start.
  let skipped: Int64
  let overruns: Int64
  let deadlineMisses: Int64
  /// The longest gap between two ticks in nanoseconds, or `nil` before the second tick.
  let longestGap: Int64?
  /// The duration of the present tick in nanoseconds, or `nil` if its deadline has not passed.
  let hangsFor: Int64?
  /// The 99th percentile of the latencies in each of the last intervals, oldest first; `nil` for an interval without a release.
  let jitter: [Int64?]

  /// Makes the row. `instant` is that of the newer answer; `nanoseconds` is the time between the two answers.
  init(_ loop: LoopDocument, since old: LoopDocument?, at instant: Int64, nanoseconds: Int64, history: [Int64?]) {
    name = loop.name
    hertz = nanoseconds > 0 ? Double(loop.ran &- (old?.ran ?? 0)) / (Double(nanoseconds) / 1e9) : nil
    latency = IntervalDistribution(loop.latencyNs, since: old?.latencyNs)
    execution = IntervalDistribution(loop.executionNs, since: old?.executionNs)
    skipped = loop.skipped
    overruns = loop.overruns
    deadlineMisses = loop.deadlineMisses
    longestGap = loop.longestGap?.lengthNs
    hangsFor = loop.overdue > 0 ? loop.running.map { max(0, instant &- $0.sinceNs) } : nil
    // The first answer covers the whole past, so it is not an interval like the others.
    jitter = old == nil ? history : Array((history + [latency.percentile(0.99)]).suffix(TopModel.historyLength))
  }
}

/// The age of the data on which a loop acts, since the start, because commands are too rare to be measured in a second.
/// A value is `nil` if it is unknown.
struct TopAge: Equatable {
  /// The name of the age with the loops that the data passes through: `command: robot.motors`, `tilt: imu → balance`.
  let name: String
  let median: Int64?
  let p99: Int64?
  let maximum: Int64?
  let last: Int64?
  let bound: Int64?

  init(_ age: LoopDocument.Age) {
    name = "\(age.name): \(age.path.joined(separator: " → "))"
    median = age.ageNs.p50
    p99 = age.ageNs.p99
    maximum = age.ageNs.max
    last = age.lastNs
    bound = age.boundNs
  }
}

/// The distribution of the values between two answers, derived from the difference of their buckets: exact within 6.25 %, never too small.
struct IntervalDistribution: Equatable {
  /// The buckets in ascending order, each with its largest value and the number of its values.
  private let buckets: [(largest: Int64, count: Int64)]
  /// An upper bound of all values.
  private let maximum: Int64

  init(_ new: LoopDocument.Distribution, since old: LoopDocument.Distribution?) {
    let before = Dictionary(
      (old?.buckets ?? []).filter { $0.count == 2 }.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
    buckets = (new.buckets ?? []).filter { $0.count == 2 }.compactMap { bucket in
      let count = bucket[1] &- (before[bucket[0]] ?? 0)
      return count > 0 ? (bucket[0], count) : nil
    }
    maximum = new.max ?? .max
  }

  /// Returns the percentile, or `nil` if there is no value. The fraction 1 gives the largest value.
  func percentile(_ fraction: Double) -> Int64? {
    let total = buckets.reduce(Int64(0)) { $0.addingSaturated($1.count) }
    let rank = max(1, Int64(saturating: (fraction * Double(total)).rounded(.up)))
    var seen: Int64 = 0
    for bucket in buckets {
      seen = seen.addingSaturated(bucket.count)
      if seen >= rank { return min(bucket.largest, maximum) }
    }
    return nil
  }

  static func == (one: Self, other: Self) -> Bool {
    one.maximum == other.maximum && one.buckets.elementsEqual(other.buckets, by: ==)
  }
}
