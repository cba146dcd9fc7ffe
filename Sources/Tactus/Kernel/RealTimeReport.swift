/// What a lane asked of the kernel and what it got.
public struct LaneReport: Sendable, Hashable {
  /// The name of the lane; `*` in an error that concerns the whole process.
  public let lane: String
  /// The scheduling that the lane declares.
  public let requested: Scheduling
  /// The scheduling that is in effect: the requested one, or `.normal` where the kernel refused it.
  public let effective: Scheduling
  /// The CPUs that the lane declares; `nil` for any.
  public let requestedCPUs: CPUSet?
  /// Those of them that the thread stays on, or `nil` if none were declared, or none of them granted.
  public let effectiveCPUs: CPUSet?
  /// Why something requested is not in effect, or may not hold: one sentence each, with the way out.
  public let findings: [Finding]

  /// The one CPU that the lane declares; `nil` for any, and for more than one.
  public var requestedCPU: Int? { requestedCPUs?.cpus.count == 1 ? requestedCPUs?.cpus[0] : nil }
  /// The one CPU that the thread stays on; `nil` for any, and for more than one.
  public var effectiveCPU: Int? { effectiveCPUs?.cpus.count == 1 ? effectiveCPUs?.cpus[0] : nil }

  /// Whether everything requested is in effect. Warnings do not count.
  public var isAsRequested: Bool { !findings.contains { $0.isRefusal } }

  /// Something that is not as requested, or that may weaken what is.
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// True: something requested was refused. False: it is in effect, but something on the machine may weaken it.
    public let isRefusal: Bool
    /// One sentence for people, with what to do about it.
    public let description: String
  }
}

/// Why a runtime cannot be built, started, changed or stopped. Nothing has happened when one of these is thrown, but for
/// `.hangs` of `stop(within:)`.
public enum RuntimeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The runtime was declared without a lane.
  case nothingToRun
  /// Two lanes have this name. A runtime with a watchdog has a lane named "watchdog".
  case duplicateLane(String)
  /// Two loops of the runtime have this name.
  case duplicateLoop(String)
  /// The lane was declared without a loop.
  case noLoops(lane: String)
  /// The loop declares this phase, which is less than 0.
  case negativePhase(loop: String, Nanoseconds)
  /// A rate, a time or a number in a loop's declaration is out of range.
  case invalidLoop(loop: String, reason: String)
  /// A loop cannot run after those that it is declared to run after.
  case invalidOrder(loop: String, reason: String)
  /// The bodies of these loops were made for one run, and that has been.
  case ranAlready(loops: [String])
  /// Some lanes did not come to the end of what they do within the limit.
  case hangs([LaneHang])
  /// The lane's scheduling, or its CPU, is out of range or contradicts itself.
  case invalidScheduling(lane: String, reason: String)
  /// The lane's loops cannot all meet their deadlines.
  case infeasible(lane: String, misses: [String])
  /// The loops of the lane have more inputs together than one lane can wait for.
  case tooManyInputs(lane: String, count: Int, limit: Int)
  /// The runtime runs, or one of its lanes hangs and has not ended since `stop(within:)`.
  case alreadyRunning
  /// A `Simulation` of the runtime is alive.
  case simulating
  /// No loop has this name.
  case unknownLoop(String)
  /// A descriptor could not be made: the process or the machine has too many open.
  case system(call: String, errno: Int32)
  /// The lane cannot have a thread: a limit is reached.
  case noThread(lane: String)
  /// Strict mode: what was requested is not in effect.
  case notRealTime([LaneReport])

  /// One sentence for people, which names what was expected.
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
