/// The kernel settings that a lane requested, and those that are in effect.
public struct LaneReport: Sendable, Hashable {
  /// The name of the lane, or `*` in an error that concerns the whole process.
  public let lane: String
  /// The scheduling that the lane declares.
  public let requested: Scheduling
  /// The scheduling that is in effect: the requested one, or `.normal` where the kernel refused it.
  public let effective: Scheduling
  /// The CPUs that the lane declares, or `nil` if it may run on any.
  public let requestedCPUs: CPUSet?
  /// The declared CPUs that the thread is restricted to, or `nil` if none were declared or none could be granted.
  public let effectiveCPUs: CPUSet?
  /// The reasons why something requested is not in effect or may not hold, one sentence each with a remedy.
  public let findings: [Finding]

  /// The CPU that the lane declares, or `nil` if it declares none or several.
  public var requestedCPU: Int? { requestedCPUs?.cpus.count == 1 ? requestedCPUs?.cpus[0] : nil }
  /// The CPU that the thread is restricted to, or `nil` if there is no restriction or several CPUs are allowed.
  public var effectiveCPU: Int? { effectiveCPUs?.cpus.count == 1 ? effectiveCPUs?.cpus[0] : nil }

  /// Whether everything requested is in effect. Warnings are not considered.
  public var isAsRequested: Bool { !findings.contains { $0.isRefusal } }

  /// A requested setting that is not in effect, or a condition that may weaken one that is.
  public struct Finding: Sendable, Hashable, CustomStringConvertible {
    /// Whether something requested was refused. The result is `false` if it is in effect and something on the machine may weaken it.
    public let isRefusal: Bool
    /// One sentence for people, with a remedy.
    public let description: String
  }
}

/// The reason why a runtime cannot be built, started, changed or stopped. When one of these errors is thrown nothing has changed,
/// except for `.hangs` of `stop(within:)`.
public enum RuntimeError: Error, Sendable, Hashable, CustomStringConvertible {
  /// The runtime was declared without a lane.
  case nothingToRun
  /// Two lanes have this name. A runtime with a watchdog has a lane named "watchdog".
  case duplicateLane(String)
  /// Two loops of the runtime have this name.
  case duplicateLoop(String)
  /// The lane was declared without a loop.
  case noLoops(lane: String)
  /// The loop declares this negative phase.
  case negativePhase(loop: String, Nanoseconds)
  /// A rate, a time or a number in a loop's declaration is out of range.
  case invalidLoop(loop: String, reason: String)
  /// A loop cannot run after those that it is declared to run after.
  case invalidOrder(loop: String, reason: String)
  /// The bodies of these loops were made for a single run, which has taken place.
  case ranAlready(loops: [String])
  /// Some lanes did not end, or did not take a change, within the limit.
  case hangs([LaneHang])
  /// The scheduling or the CPUs of the lane are out of range or contradict each other.
  case invalidScheduling(lane: String, reason: String)
  /// The lane's loops cannot all meet their deadlines.
  case infeasible(lane: String, misses: [String])
  /// The loops of the lane have more inputs together than one lane can wait for.
  case tooManyInputs(lane: String, count: Int, limit: Int)
  /// The runtime is running, or a lane that hung during `stop(within:)` has not ended yet.
  case alreadyRunning
  /// A `Simulation` of the runtime still exists.
  case simulating
  /// No loop has this name.
  case unknownLoop(String)
  /// A recording is one of other lanes, or its entries make no sense.
  case invalidRecording(String)
  /// A system call failed to create a file descriptor because the process or the machine has too many open.
  case system(call: String, errno: Int32)
  /// The thread of the lane could not be created because a limit is reached.
  case noThread(lane: String)
  /// Strict mode is on and something requested is not in effect.
  case notRealTime([LaneReport])

  /// One sentence for people, which names the expected value.
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
    case .invalidRecording(let reason): "the recording cannot be replayed: \(reason)"
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
