import Service
import Tactus

/// What `top` shows of a daemon: the newest answer, and of each loop what happened between the last two.
struct TopModel {
  /// The newest answer, or `nil` if none has come yet, or the daemon is gone.
  private(set) var newest: TopSample?
  private(set) var rows: [TopRow] = []
  /// Of all loops, in their order.
  private(set) var ages: [TopAge] = []
  /// Why there is none.
  private(set) var trouble: String?
  /// How long no answer has come, and how many questions were due since.
  private var silence = (span: Nanoseconds.zero, questions: 0)

  static let historyLength = 30

  /// An answer. What is measured between two answers starts anew when the runtime has.
  mutating func take(_ sample: TopSample) {
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

  /// It is time for the next question, an interval after the last.
  mutating func ask(after interval: Nanoseconds) {
    silence = (Nanoseconds(silence.span.count + interval.count), silence.questions + 1)
  }

  /// The age of what is shown, if two answers or more are missing and 2 s have passed, or `nil` if it is current.
  var age: Nanoseconds? { silence.questions >= 2 && silence.span >= .seconds(2) ? silence.span : nil }

  /// No answer, and why. What was known is forgotten: it could be mistaken for the present.
  mutating func lose(_ reason: String) {
    self = TopModel()
    trouble = reason
  }
}

/// One loop between two answers; since the start of its runtime when there is only one.
struct TopRow: Equatable {
  let name: String
  /// Periodic releases that ran in a second; nil when no time has passed.
  let hertz: Double?
  let latency: IntervalDistribution
  let execution: IntervalDistribution
  /// Since the start.
  let skipped: Int64
  let overruns: Int64
  let deadlineMisses: Int64
  /// `nil` before the second tick.
  let longestGap: Int64?
  /// How long the present tick has run, if that is past its deadline, or `nil` if it is not.
  let hangsFor: Int64?
  /// The latencies' 99th percentile in each of the last intervals, oldest first; `nil` for an interval in which nothing ran.
  let jitter: [Int64?]

  /// `instant`: of the newer answer; `nanoseconds`: between the two.
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
    // The first answer covers the whole past: no interval like the others.
    jitter = old == nil ? history : Array((history + [latency.percentile(0.99)]).suffix(TopModel.historyLength))
  }
}

/// How old the data is that a loop acts on, since the start: commands are too rare for a second. `nil` is unknown.
struct TopAge: Equatable {
  /// `command: robot.motors`, `tilt: imu → balance`.
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

/// The values that came between two answers, from the difference of their buckets: within 6.25 %, never too small.
struct IntervalDistribution: Equatable {
  /// Ascending: a bucket's largest value, and how many values are in it.
  private let buckets: [(largest: Int64, count: Int64)]
  /// No value is above.
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

  /// nil while there is no value. 1 is the largest value.
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
