import Tactus

/// `GET /api/runtime`: every loop and lane as it is now. Times are nanoseconds; null is unknown.
public struct RuntimeDocument: Codable, Sendable {
  /// Always true: a failed request is answered with another document.
  public var ok = true
  /// Of the program.
  public var version: String
  /// This instant, on CLOCK_MONOTONIC.
  public var monotonicNs: Int64
  /// The instant of the loops' phase 0, on CLOCK_MONOTONIC; 0 before the first start.
  public var epochNs: Int64
  /// Whether the process's memory is locked, as of the last start.
  public var memoryLock: MemoryLock
  /// How deep the CPUs may sleep while the loops run, as of the last start.
  public var wakeUpLatency: WakeUpLatency
  /// Of the whole process.
  public var findings: [LaneDocument.Finding]
  /// Every lane, in the order of declaration, and the watchdog's last; empty before the first start.
  public var lanes: [LaneDocument]
  /// The loops of all lanes but the watchdog's, lane by lane as declared, the most urgent of a lane first.
  public var loops: [LoopDocument]
  /// One for each of `loops`, in the same order.
  public var planner: [PlannerDocument]

  /// What became of locking the process's memory (`mlockall`).
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
    /// How long a CPU may take to wake up, as the runtime asked; null unless `state` is `held`.
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
  /// Unique in the runtime; the watchdog's is `watchdog`.
  public var name: String
  /// `normal`, `fifo 80`, `deadline 2 ms / 5 ms / 5 ms`.
  public var requested: String
  /// As `requested`; `normal` if the kernel refused that.
  public var effective: String
  /// The one CPU that the lane declares; null for any, and for more than one.
  @OrNull public var requestedCPU: Int?
  /// The one CPU that the lane's thread stays on; null for any, and for more than one.
  @OrNull public var effectiveCPU: Int?
  /// Sets as the kernel writes them: `0-1,3`.
  @OrNull public var requestedCPUs: String?
  /// Those of `requestedCPUs` that the thread stays on; null if none were requested, or none of them granted.
  @OrNull public var effectiveCPUs: String?
  /// Whether nothing was refused. Warnings do not count.
  public var isAsRequested: Bool
  /// Of a SCHED_DEADLINE lane; null for others.
  @OrNull public var budgetsUsedUp: Int64?
  /// Empty if everything requested is in effect and nothing may weaken it.
  public var findings: [Finding]

  /// Something that is not as requested, or that may weaken what is.
  public struct Finding: Codable, Sendable {
    /// True: something requested was refused; false: a warning.
    public var isRefusal: Bool
    /// One sentence for people, with what to do about it.
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
  /// The name of the loop.
  public var loop: String
  /// The name of the lane that runs the loop.
  public var lane: String
  /// As declared, else the longest measured.
  public var executionTimeNs: Int64
  /// Whether the loop declares no execution time. `executionTimeNs` is then measured, and 0 before a tick has ended.
  public var isMeasured: Bool
  /// After a release, by when its tick has to end.
  public var deadlineNs: Int64
  /// null: the lane is overloaded.
  @OrNull public var responseTimeNs: Int64?
  /// Whether `responseTimeNs` is at most `deadlineNs`; false if the lane is overloaded.
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
