import Tactus

/// outage RATE FIFO CPU: runs until its input ends, then prints what the runtime knows of the worst that happened meanwhile.
enum Outage {
  static func run(_ arguments: Arguments) throws {
    let runtime = try Runtime(strict: true) {
      Lane("bench", scheduling: .fifo(arguments.int(1)), cpu: arguments.int(2)) {
        Loop("beat", every: .hertz(Double(arguments.int(0)))) { Counting() }
      }
    }
    try runtime.start()
    while readLine() != nil {}
    runtime.stop()
    let loop = runtime.statistics["beat"]!
    let counters = loop.counters
    print(
      "{\"latest_ns\": \(loop.latency.maximum?.count ?? 0), \"gap_ns\": \(loop.longestGap?.length.count ?? 0), "
        + "\"late\": \(late(loop.latency)), \"skipped\": \(counters.skipped), "
        + "\"all\": \(loop.latency.count == UInt64(counters.ran + counters.skipped))}")
  }

  /// Releases that were 10 ms late or more.
  private static func late(_ histogram: HistogramSnapshot) -> UInt64 {
    histogram.counts.indices.reduce(0) { sum, index in
      HistogramSnapshot.bounds(ofBucket: index).lowerBound < 10_000_000 ? sum : sum + histogram.counts[index]
    }
  }
}
