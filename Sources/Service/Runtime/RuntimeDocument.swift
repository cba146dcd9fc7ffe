import Tactus

/// `GET /api/runtime`: every loop and lane as it is now. Times are nanoseconds; null is unknown.
public struct RuntimeDocument: Codable, Sendable {
  public var ok = true
  /// Of the program.
  public var version: String
  /// This instant, and that of the loops' phase 0, on CLOCK_MONOTONIC.
  public var monotonicNs: Int64
  public var epochNs: Int64
  public var memoryLock: MemoryLock
  public var lanes: [LaneDocument]
  public var loops: [LoopDocument]
  public var planner: [PlannerDocument]

  public struct MemoryLock: Codable, Sendable {
    /// `notRequested`, `locked` or `refused`.
    public var state: String
    /// Why it was refused.
    @OrNull public var errno: Int32?
  }

  /// - Parameters:
  ///   - histograms: adds the loops' buckets.
  ///   - now: on the runtime's clock.
  public init(_ runtime: Runtime, version: String, histograms: Bool, now: TickInstant) {
    self.version = version
    monotonicNs = now.nanoseconds
    epochNs = runtime.epoch.nanoseconds
    memoryLock =
      switch runtime.memoryLock {
      case .notRequested: MemoryLock(state: "notRequested", errno: nil)
      case .locked: MemoryLock(state: "locked", errno: nil)
      case .refused(let errno): MemoryLock(state: "refused", errno: errno)
      }
    lanes = runtime.reports.map(LaneDocument.init)
    loops = runtime.statistics.loops.map { LoopDocument($0, histograms: histograms) }
    planner = runtime.analysis().map(PlannerDocument.init)
  }
}

/// What a lane asked of the kernel and what it got.
public struct LaneDocument: Codable, Sendable {
  public var name: String
  /// `normal`, `fifo 80`, `deadline 2 ms / 5 ms / 5 ms`.
  public var requested: String
  public var effective: String
  @OrNull public var requestedCPU: Int?
  @OrNull public var effectiveCPU: Int?
  public var isAsRequested: Bool
  public var findings: [Finding]

  public struct Finding: Codable, Sendable {
    /// True: something requested was refused; false: a warning.
    public var isRefusal: Bool
    public var description: String
  }

  init(_ report: LaneReport) {
    name = report.lane
    requested = "\(report.requested)"
    effective = "\(report.effective)"
    _requestedCPU = OrNull(wrappedValue: report.requestedCPU)
    _effectiveCPU = OrNull(wrappedValue: report.effectiveCPU)
    isAsRequested = report.isAsRequested
    findings = report.findings.map { Finding(isRefusal: $0.isRefusal, description: $0.description) }
  }
}

/// Whether a loop can meet its deadline beside the others of its lane.
public struct PlannerDocument: Codable, Sendable {
  public var loop: String
  public var lane: String
  /// As declared, else the longest measured.
  public var executionTimeNs: Int64
  public var isMeasured: Bool
  public var deadlineNs: Int64
  /// null: the lane is overloaded.
  @OrNull public var responseTimeNs: Int64?
  public var meetsDeadline: Bool

  init(_ analysis: LoopAnalysis) {
    loop = analysis.loop
    lane = analysis.lane
    executionTimeNs = analysis.executionTime.count
    isMeasured = analysis.isMeasured
    deadlineNs = analysis.deadline.count
    _responseTimeNs = OrNull(wrappedValue: analysis.responseTime?.count)
    meetsDeadline = analysis.meetsDeadline
  }
}
