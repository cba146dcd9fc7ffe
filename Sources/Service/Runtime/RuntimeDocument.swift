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
  public var wakeUpLatency: WakeUpLatency
  /// Of the whole process.
  public var findings: [LaneDocument.Finding]
  public var lanes: [LaneDocument]
  public var loops: [LoopDocument]
  public var planner: [PlannerDocument]

  public struct MemoryLock: Codable, Sendable {
    /// `notRequested`, `locked` or `refused`.
    public var state: String
    /// Why it was refused.
    @OrNull public var errno: Int32?
  }

  /// `/dev/cpu_dma_latency`.
  public struct WakeUpLatency: Codable, Sendable {
    /// `notRequested`, `held` or `refused`.
    public var state: String
    @OrNull public var requestedNs: Int64?
    /// What all programs together hold the kernel to; null: it does not say.
    @OrNull public var effectiveNs: Int64?

    init(_ hold: WakeUpHold) {
      switch hold {
      case .notRequested: state = "notRequested"
      case .held: state = "held"
      case .refused: state = "refused"
      }
      if case .held(let requested, let effective) = hold {
        _requestedNs = OrNull(wrappedValue: requested.count)
        _effectiveNs = OrNull(wrappedValue: effective?.count)
      } else {
        _requestedNs = OrNull(wrappedValue: nil)
        _effectiveNs = OrNull(wrappedValue: nil)
      }
    }
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
    wakeUpLatency = WakeUpLatency(runtime.wakeUpHold)
    findings = runtime.findings.map(LaneDocument.Finding.init)
    let statistics = runtime.statistics
    lanes = runtime.reports.map { report in
      LaneDocument(report, statistics.lanes.first { $0.name == report.lane })
    }
    loops = statistics.loops.map { LoopDocument($0, histograms: histograms) }
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
  /// Sets as the kernel writes them: `0-1,3`.
  @OrNull public var requestedCPUs: String?
  @OrNull public var effectiveCPUs: String?
  public var isAsRequested: Bool
  /// Of a SCHED_DEADLINE lane; null for others.
  @OrNull public var budgetsUsedUp: Int64?
  public var findings: [Finding]

  public struct Finding: Codable, Sendable {
    /// True: something requested was refused; false: a warning.
    public var isRefusal: Bool
    public var description: String

    init(_ finding: LaneReport.Finding) {
      isRefusal = finding.isRefusal
      description = finding.description
    }
  }

  init(_ report: LaneReport, _ statistics: LaneStatistics?) {
    name = report.lane
    requested = "\(report.requested)"
    effective = "\(report.effective)"
    _requestedCPU = OrNull(wrappedValue: report.requestedCPU)
    _effectiveCPU = OrNull(wrappedValue: report.effectiveCPU)
    _requestedCPUs = OrNull(wrappedValue: report.requestedCPUs?.description)
    _effectiveCPUs = OrNull(wrappedValue: report.effectiveCPUs?.description)
    isAsRequested = report.isAsRequested
    _budgetsUsedUp = OrNull(wrappedValue: statistics?.budgetsUsedUp)
    findings = report.findings.map(Finding.init)
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
