import CTactus

/// Gives the calling thread what a lane asks for and reports what it got.
enum LaneSetup {
  static func apply(lane: String, scheduling: Scheduling, cpu: Int?) -> LaneReport {
    var findings: [LaneReport.Finding] = []
    _ = tactus_thread_set_name(lane)
    _ = tactus_thread_set_timer_slack(1)  // ignored for real-time threads, which have none

    var effectiveCPU = cpu
    if let cpu, case let result = tactus_thread_set_cpu(Int32(cpu)), result < 0 {
      effectiveCPU = nil
      findings.append(.init(isRefusal: true, description: "CPU \(cpu) refused: \(cpuReason(-result))"))
    }
    var effective = scheduling
    switch scheduling {
    case .normal: break
    case .fifo(let priority):
      let result = tactus_thread_set_fifo(Int32(priority))
      if result < 0 {
        effective = .normal
        findings.append(.init(isRefusal: true, description: "SCHED_FIFO \(priority) refused: \(fifoReason(-result))"))
      } else {
        findings += fifoWarnings(priority)
      }
    case .deadline(let runtime, let deadline, let period):
      let result = tactus_thread_set_deadline(
        UInt64(runtime.count), UInt64(deadline.count), UInt64(period.count))
      if result < 0 {
        effective = .normal
        findings.append(.init(isRefusal: true, description: "SCHED_DEADLINE refused: \(deadlineReason(-result))"))
      }
    }
    return LaneReport(
      lane: lane, requested: scheduling, effective: effective, requestedCPU: cpu, effectiveCPU: effectiveCPU,
      findings: findings)
  }

  /// The report of a thread whose own state cannot be read, and which therefore stays as it is.
  static func decline(lane: String, scheduling: Scheduling, cpu: Int?, errno: Int32) -> LaneReport {
    let asks = scheduling != .normal || cpu != nil
    let finding = LaneReport.Finding(
      isRefusal: true,
      description: "scheduling and CPU left alone: the thread's own could not be read to be restored (errno \(errno))")
    return LaneReport(
      lane: lane, requested: scheduling, effective: .normal, requestedCPU: cpu, effectiveCPU: nil,
      findings: asks ? [finding] : [])
  }

  private static func fifoReason(_ errno: Int32) -> String {
    guard errno == 1 else { return "errno \(errno)" }
    let limit = tactus_limit_rtprio()
    return "no privilege (RLIMIT_RTPRIO is \(limit)). Give the service LimitRTPRIO=99, the user rtprio 99 in "
      + "/etc/security/limits.conf, or the program CAP_SYS_NICE"
  }

  private static func deadlineReason(_ errno: Int32) -> String {
    switch errno {
    case 1: "no privilege (needs CAP_SYS_NICE), or the process may not run on every CPU"
    case 16: "the CPUs have not that much time left (EBUSY); ask for less runtime"
    default: "errno \(errno)"
    }
  }

  private static func cpuReason(_ errno: Int32) -> String {
    errno == 22 ? "this process has no such CPU" : "errno \(errno)"
  }

  private static func fifoWarnings(_ priority: Int) -> [LaneReport.Finding] {
    var warnings: [LaneReport.Finding] = []
    let runtime = tactus_rt_runtime_us()
    let period = tactus_rt_period_us()
    if runtime >= 0, period > 0 {
      warnings.append(
        .init(
          isRefusal: false,
          description: "the kernel holds real-time threads to \(runtime) µs of every \(period) µs together "
            + "(kernel.sched_rt_runtime_us): a lane that is busy for longer is stopped until the next"))
    }
    let limit = tactus_limit_rttime()
    if limit >= 0 {
      warnings.append(
        .init(
          isRefusal: false,
          description: "RLIMIT_RTTIME is \(limit) µs: a tick that computes longer without a wait gets SIGXCPU"))
    }
    var name:
      (CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar, CChar) =
        (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)
    var process: Int32 = 0
    let rivals = withUnsafeMutableBytes(of: &name) {
      tactus_rival_threads(Int32(priority), $0.baseAddress!.assumingMemoryBound(to: CChar.self), &process)
    }
    if rivals > 0 {
      let example = withUnsafeBytes(of: &name) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
      warnings.append(
        .init(
          isRefusal: false,
          description: "\(rivals) threads of other processes have a higher priority than \(priority), among them "
            + "\"\(example)\" of process \(process): they run first"))
    }
    return warnings
  }
}
