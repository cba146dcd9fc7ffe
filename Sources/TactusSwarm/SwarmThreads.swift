import Dispatch
import Synchronization
import Tactus

/// Plays seeds on several threads. The result is the same for any number of threads: the lowest seed that fails, and
/// the checks of all seeds up to the end of its block.
struct SwarmThreads {
  /// The number of seeds that are played before the results are examined for a failure.
  private static let block: UInt64 = 256

  let count: Int

  /// Plays seeds up to the end of the first block with a failure.
  ///
  /// - Parameter report: called after each block in which every invariant held, with the block's last seed and the simulated time so far.
  /// - Returns: the numbers of checks, and the seeds that failed, the lowest first.
  func play(
    _ seeds: ClosedRange<UInt64>, _ swarm: SwarmRun, report: (UInt64, Nanoseconds) -> Void = { _, _ in }
  ) throws -> (SwarmTally, [SwarmRun.Finding]) {
    var tally = SwarmTally()
    var first = seeds.lowerBound
    while true {
      let last = min(
        seeds.upperBound, first.addingReportingOverflow(Self.block - 1).overflow ? .max : first + Self.block - 1)
      let results = Mutex<[Result<(SwarmTally, [SwarmRun.Finding]), any Error>]>([])
      let (count, start) = (count, first)
      DispatchQueue.concurrentPerform(iterations: count) { job in
        let result = Result { try Self.play(start...last, every: count, from: job, swarm) }
        results.withLock { $0.append(result) }
      }
      var findings: [SwarmRun.Finding] = []
      for result in results.withLock({ $0 }) {
        let (looked, found) = try result.get()
        tally.add(looked)
        findings += found
      }
      if !findings.isEmpty || last == seeds.upperBound {
        return (tally, findings.sorted { $0.history.seed < $1.history.seed })
      }
      report(last, tally.time)
      first = last + 1
    }
  }

  private static func play(
    _ seeds: ClosedRange<UInt64>, every count: Int, from job: Int, _ swarm: SwarmRun
  ) throws -> (SwarmTally, [SwarmRun.Finding]) {
    var swarm = swarm
    var findings: [SwarmRun.Finding] = []
    for seed in stride(from: seeds.lowerBound + UInt64(clamping: job), through: seeds.upperBound, by: count) {
      if let finding = try swarm.play(seed: seed) { findings.append(finding) }
    }
    return (swarm.tally, findings)
  }
}
