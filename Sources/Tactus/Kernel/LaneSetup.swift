import CTactus

/// Gives the calling thread the scheduling and the CPUs that a lane declares, and reports which of them are in effect.
enum LaneSetup {
  static func apply(
    lane: String, scheduling: Scheduling, cpus: CPUSet?, group: ControlGroup = ControlGroup()
  ) -> LaneReport {
    var findings: [LaneReport.Finding] = []
    _ = tactus_thread_set_name(lane)
    _ = tactus_thread_set_timer_slack(1)  // ignored for real-time threads, which have none

    let effectiveCPUs = cpus.flatMap { setCPUs($0, group, &findings) }
    var effective = scheduling
    switch scheduling {
    case .normal:
      if let share = group.share {
        findings.append(
          .init(
            isRefusal: false,
            description:
              "the control group gives all its ordinary threads together \(share) (cpu.max): a lane that has "
              + "used that up is stopped until the next. Give the service more (CPUQuota=), or the lane SCHED_FIFO"))
      }
    case .fifo(let priority):
      let result = tactus_thread_set_fifo(Int32(priority))
      if result < 0 {
        effective = .normal
        findings.append(
          .init(isRefusal: true, description: "SCHED_FIFO \(priority) refused: \(fifoReason(-result, group))"))
      } else {
        findings += fifoWarnings(priority, group)
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
      lane: lane, requested: scheduling, effective: effective, requestedCPUs: cpus, effectiveCPUs: effectiveCPUs,
      findings: findings)
  }

  /// Returns the report of a thread whose present state cannot be read. Such a thread keeps the scheduling and the CPUs that it has.
  static func decline(lane: String, scheduling: Scheduling, cpus: CPUSet?, errno: Int32) -> LaneReport {
    let asks = scheduling != .normal || cpus != nil
    let finding = LaneReport.Finding(
      isRefusal: true,
      description: "scheduling and CPU left alone: the thread's own could not be read to be restored (errno \(errno))")
    return LaneReport(
      lane: lane, requested: scheduling, effective: .normal, requestedCPUs: cpus, effectiveCPUs: nil,
      findings: asks ? [finding] : [])
  }

  /// Restricts the calling thread to the CPUs of `cpus` that it may use. Returns these CPUs, or `nil` if the thread may use none of them.
  private static func setCPUs(
    _ cpus: CPUSet, _ group: ControlGroup, _ findings: inout [LaneReport.Finding]
  ) -> CPUSet? {
    func refuse(_ refused: CPUSet, _ reason: String) {
      let allowed = group.cpus.map { ", the control group has \($0) (cpuset.cpus.effective)" } ?? ""
      findings.append(
        .init(
          isRefusal: true,
          description: "CPU \(refused) refused: \(reason)\(allowed). "
            + "Name others, or give the service these (AllowedCPUs=)"))
    }
    let result = tactus_thread_set_cpus(cpus.words)
    guard result == 0 else {
      refuse(cpus, result == -22 ? "this process has no such CPU" : "errno \(-result)")
      return nil
    }
    var words = cpus.words
    guard tactus_thread_cpus(&words) == 0 else { return cpus }
    let effective = CPUSet(words: words)
    let missing = cpus.subtracting(effective)
    if !missing.isEmpty { refuse(missing, "offline, or not this process's; the lane runs on \(effective)") }
    return effective
  }

  private static func fifoReason(_ errno: Int32, _ group: ControlGroup) -> String {
    guard errno == 1 else { return "errno \(errno)" }
    if let share = group.realTimeShare, share.runtime == 0 {
      return "the control group gives real-time threads no time (cpu.rt_runtime_us is 0). Write some there"
    }
    let limit = tactus_limit_rtprio()
    return "no privilege (RLIMIT_RTPRIO is \(limit)). Give the service LimitRTPRIO=99, the user rtprio 99 in "
      + "/etc/security/limits.conf, or the program CAP_SYS_NICE"
  }

  private static func deadlineReason(_ errno: Int32) -> String {
    switch errno {
    case 1: "no privilege, or the process may not run on every CPU. Give the program CAP_SYS_NICE and all CPUs"
    case 16: "the CPUs have not that much time left (EBUSY); ask for less runtime"
    default: "errno \(errno)"
    }
  }

  private static func fifoWarnings(_ priority: Int, _ group: ControlGroup) -> [LaneReport.Finding] {
    var warnings: [LaneReport.Finding] = []
    if let share = group.realTimeShare, share.runtime < share.period {
      warnings.append(
        .init(
          isRefusal: false,
          description: "the control group gives all its real-time threads together \(share) (cpu.rt_runtime_us): a "
            + "lane that is busy for longer is stopped. That is enough for lanes that wait; for more write it there"))
    }
    let runtime = tactus_rt_runtime_us()
    let period = tactus_rt_period_us()
    if runtime >= 0, period > 0 {
      warnings.append(
        .init(
          isRefusal: false,
          description: "the kernel holds real-time threads to \(runtime) µs of every \(period) µs together "
            + "(kernel.sched_rt_runtime_us): a lane that is busy for longer is stopped until the next. Leave it: it keeps "
            + "the machine usable while a lane hangs"))
    }
    let limit = tactus_limit_rttime()
    if limit >= 0 {
      warnings.append(
        .init(
          isRefusal: false,
          description: "RLIMIT_RTTIME is \(limit) µs: a tick that computes longer without a wait gets SIGXCPU. "
            + "Give the service LimitRTTIME=infinity"))
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
            + "\"\(example)\" of process \(process): they run first. Give the lane a higher one, or them a lower (chrt -p)"
        ))
    }
    return warnings
  }
}
