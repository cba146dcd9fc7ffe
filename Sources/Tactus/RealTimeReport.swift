/// What a lane asked of the kernel and what it got.
public struct LaneReport: Sendable, Hashable {
  public let lane: String
  public let requested: Scheduling
  public let effective: Scheduling
  /// The CPUs that the lane is to stay on, and those that it does; `nil` for any.
  public let requestedCPUs: CPUSet?
  public let effectiveCPUs: CPUSet?
  /// Why something requested is not in effect, or may not hold: one sentence each, with the way out.
  public let findings: [Finding]

  /// The CPU that the lane is to stay on, and the one that it does; `nil` for any, and for more than one.
  public var requestedCPU: Int? { requestedCPUs?.cpus.count == 1 ? requestedCPUs?.cpus[0] : nil }
  public var effectiveCPU: Int? { effectiveCPUs?.cpus.count == 1 ? effectiveCPUs?.cpus[0] : nil }

  /// Whether everything requested is in effect. Warnings do not count.
  public var isAsRequested: Bool { !findings.contains { $0.isRefusal } }

  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// True: something requested was refused. False: it is in effect, but something on this machine may weaken it.
    public let isRefusal: Bool
    public let description: String
  }
}

/// Why a runtime cannot be built, started, changed or stopped. Nothing has happened when one of these is thrown, but for
/// `.hangs` of `stop(within:)`.
public enum RuntimeError: Error, Sendable, Hashable, CustomStringConvertible {
  case nothingToRun
  case duplicateLane(String)
  case duplicateLoop(String)
  case noLoops(lane: String)
  case negativePhase(loop: String, Nanoseconds)
  /// A rate, a time or a number in a loop's declaration is out of range.
  case invalidLoop(loop: String, reason: String)
  /// A loop cannot run after those that it is declared to run after.
  case invalidOrder(loop: String, reason: String)
  /// The bodies of these loops were made for one run, and that has been.
  case ranAlready(loops: [String])
  /// Some lanes did not come to the end of what they do within the limit.
  case hangs([LaneHang])
  case invalidScheduling(lane: String, reason: String)
  /// The lane's loops cannot all meet their deadlines.
  case infeasible(lane: String, misses: [String])
  case tooManyInputs(lane: String, count: Int, limit: Int)
  case alreadyRunning
  case simulating
  case unknownLoop(String)
  /// A descriptor could not be made: the process or the machine has too many open.
  case system(call: String, errno: Int32)
  /// The lane cannot have a thread: a limit is reached.
  case noThread(lane: String)
  /// Strict mode: what was requested is not in effect.
  case notRealTime([LaneReport])

  public var description: String {
    switch self {
    case .nothingToRun: "a runtime needs at least one lane"
    case .duplicateLane(let name): "two lanes are named \"\(name)\""
    case .duplicateLoop(let name): "two loops are named \"\(name)\""
    case .noLoops(let lane): "lane \"\(lane)\" has no loops"
    case .negativePhase(let loop, let phase): "loop \"\(loop)\": a phase is 0 or more, got \(phase)"
    case .invalidLoop(let loop, let reason), .invalidOrder(let loop, let reason): "loop \"\(loop)\": \(reason)"
    case .ranAlready(let loops):
      "made for one run, which has been: \(loops.map { "loop \"\($0)\"" }.joined(separator: ", ")); declare what runs again "
        + "with Loop(…, eachRun: { … }), or make another runtime"
    case .hangs(let lanes): lanes.map(\.description).joined(separator: "; ")
    case .invalidScheduling(let lane, let reason): "lane \"\(lane)\": \(reason)"
    case .infeasible(let lane, let misses):
      "lane \"\(lane)\" cannot meet its deadlines: \(misses.joined(separator: "; "))"
    case .tooManyInputs(let lane, let count, let limit):
      "lane \"\(lane)\" has \(count) loops with inputs, at most \(limit) are possible"
    case .alreadyRunning: "the runtime runs already"
    case .simulating: "the runtime is being simulated"
    case .unknownLoop(let name): "no loop is named \"\(name)\""
    case .system(let call, let errno): "\(call) failed with errno \(errno)"
    case .noThread(let lane):
      "lane \"\(lane)\": expected a thread of its own, got none: a limit of threads (ulimit -u, TasksMax, Dispatch's own "
        + "255) or of memory (ulimit -v, MemoryMax) is reached"
    case .notRealTime(let reports):
      "strict real time refused: "
        + reports.flatMap { report in
          report.findings.filter(\.isRefusal).map { "lane \"\(report.lane)\": \($0.description)" }
        }.joined(separator: "; ")
    }
  }
}
