import Tactus

extension Route {
  /// Returns the route `GET /api/runtime`; `?histograms=1` adds the buckets of the loops' distributions.
  ///
  /// The document is made for each request, because every tick changes it and requests are rare: `tactus top` sends one a second.
  /// - Throws: 422 for another value of `histograms` than 0 and 1.
  public static func runtime(
    _ runtime: Runtime, version: String, now: @escaping @Sendable () -> TickInstant
  ) -> Route {
    Route(.get, "/api/runtime") { request in
      let histograms = request.query["histograms"] ?? "0"
      guard histograms == "0" || histograms == "1" else {
        throw APIError.validation("histograms", expected: "0 or 1", got: histograms)
      }
      return .json(RuntimeDocument(runtime, version: version, histograms: histograms == "1", now: now()))
    }
  }
}

/// The document of `GET /api/runtime`: the present state of every loop and lane. Times are nanoseconds; null means unknown.
public struct RuntimeDocument: Codable, Sendable {
  /// Always true; a failed request is answered with another document.
  public var ok = true
  /// The version of the program.
  public var version: String
  /// The present instant, on CLOCK_MONOTONIC.
  public var monotonicNs: Int64
  /// The instant of the loops' phase 0, on CLOCK_MONOTONIC; 0 before the first start.
  public var epochNs: Int64
  /// Whether the process's memory is locked, as of the last start.
  public var memoryLock: MemoryLock
  /// The depth to which the CPUs may sleep while the loops run, as of the last start.
  public var wakeUpLatency: WakeUpLatency
  /// The findings that concern the whole process.
  public var findings: [LaneDocument.Finding]
  /// Every lane in the order of declaration, the watchdog's lane last; empty before the first start.
  public var lanes: [LaneDocument]
  /// The loops of all lanes except the watchdog's, lane by lane as declared, the most urgent loop of a lane first.
  public var loops: [LoopDocument]
  /// The planner's results, one for each of `loops` in the same order.
  public var planner: [PlannerDocument]

  /// The result of locking the process's memory (`mlockall`).
  public struct MemoryLock: Codable, Sendable {
    /// The result in one word: `notRequested`, `locked` or `refused`.
    public var state: String
    /// The error number of the refusal, or null unless `state` is `refused`.
    @OrNull public var errno: Int32?
  }

  /// The state of `/dev/cpu_dma_latency`.
  public struct WakeUpLatency: Codable, Sendable {
    /// The state in one word: `notRequested`, `held` or `refused`.
    public var state: String
    /// The wake-up latency that the runtime requested, or null unless `state` is `held`.
    @OrNull public var requestedNs: Int64?
    /// The wake-up latency that the kernel keeps, which is the lowest that any program requests, or null if the kernel does not report it.
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

  /// Makes the document of the present state.
  ///
  /// - Parameters:
  ///   - histograms: whether the buckets of the loops' distributions are included.
  ///   - now: the present instant on the runtime's clock.
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

/// The settings that a lane requested of the kernel and those that are in effect.
public struct LaneDocument: Codable, Sendable {
  /// The name of the lane, unique in the runtime; the watchdog's lane is `watchdog`.
  public var name: String
  /// The requested scheduling: `normal`, `fifo 80`, `deadline 2 ms / 5 ms / 5 ms`.
  public var requested: String
  /// The scheduling in effect, in the form of `requested`; `normal` if the kernel refused the request.
  public var effective: String
  /// The CPU that the lane declares, or null if it declares none or several.
  @OrNull public var requestedCPU: Int?
  /// The CPU to which the lane's thread is bound, or null if it may run on any or on several.
  @OrNull public var effectiveCPU: Int?
  /// The CPUs that the lane declares, written as the kernel writes sets: `0-1,3`; null if it declares none.
  @OrNull public var requestedCPUs: String?
  /// The CPUs of `requestedCPUs` to which the thread is bound, or null if none were requested or none granted.
  @OrNull public var effectiveCPUs: String?
  /// Whether no request was refused. Warnings do not count.
  public var isAsRequested: Bool
  /// The number of periods in which a SCHED_DEADLINE lane used up its budget, or null for other lanes.
  @OrNull public var budgetsUsedUp: Int64?
  /// The refusals and warnings of this lane; empty if everything requested is in effect and nothing may weaken it.
  public var findings: [Finding]

  /// A request that is not in effect, or a condition that may weaken one that is.
  public struct Finding: Codable, Sendable {
    /// Whether a request was refused; if not, the finding is a warning.
    public var isRefusal: Bool
    /// One sentence for people, with a remedy.
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

/// The planner's result for one loop: whether it can meet its deadline beside the other loops of its lane.
public struct PlannerDocument: Codable, Sendable {
  /// The name of the loop.
  public var loop: String
  /// The name of the lane that runs the loop.
  public var lane: String
  /// The declared execution time, or the longest measured one if none is declared, in nanoseconds.
  public var executionTimeNs: Int64
  /// Whether the loop declares no execution time. `executionTimeNs` is then measured, and 0 until a tick has ended.
  public var isMeasured: Bool
  /// The time after a release by which its tick must end, in nanoseconds.
  public var deadlineNs: Int64
  /// The longest time from a release to the end of its tick, in nanoseconds, or null if the lane is overloaded.
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
