import CTactus
import Dispatch
import Foundation
import Synchronization
import TestSupport
import Testing

@testable import Tactus

/// A root folder with the kernel's files as a test wants them; gone with this object.
private final class MadeUpRoot {
  let path = FileManager.default.temporaryDirectory.appendingPathComponent("tactus-root-\(UUID().uuidString)").path

  init(_ files: [String: String]) throws {
    for (name, text) in files {
      let file = URL(fileURLWithPath: path + name)
      try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
      try text.write(to: file, atomically: true, encoding: .utf8)
    }
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  var latencyDevice: String { path + "/dev/cpu_dma_latency" }

  /// Descriptors of this process on the latency device.
  var holders: Int {
    let names = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
    let targets = names.compactMap { try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
    return targets.count { $0 == latencyDevice }
  }
}

private func lane(_ name: String = "a", scheduling: Scheduling = .normal) -> Lane {
  Lane(name, scheduling: scheduling) { Loop("l", every: .hertz(10), eachRun: { Idle() }) }
}

@Suite("Wake-up latency", .serialized, .ownThread)
struct WakeUpLatencyTests {
  @Test("held from start to stop, by each of two runtimes for itself; the device is told the µs in four bytes")
  func held() throws {
    let root = try MadeUpRoot(["/dev/cpu_dma_latency": "????"])
    let runtimes = try [Nanoseconds.zero, .microseconds(300)].map { limit in
      try Runtime(strict: true, wakeUpLatency: .held(limit), root: root.path) { lane() }
    }
    for _ in 0..<3 {
      try runtimes[1].start()
      #expect(runtimes[1].wakeUpHold == .held(requested: .microseconds(300), effective: .microseconds(300)))
      #expect(try Data(contentsOf: URL(fileURLWithPath: root.latencyDevice)) == Data([44, 1, 0, 0]))
      try runtimes[0].start()
      #expect(runtimes[0].wakeUpHold == .held(requested: .zero, effective: .zero) && root.holders == 2)
      runtimes[0].stop()
      #expect(root.holders == 1)
      runtimes[1].stop()
      #expect(root.holders == 0 && runtimes[1].findings.allSatisfy { !$0.isRefusal })
    }
  }

  @Test("by default held at 0 for a real-time lane alone; not for an ordinary one, nor when it is left to the kernel")
  func byDefault() throws {
    let root = try MadeUpRoot(["/dev/cpu_dma_latency": "????"])
    func hold(_ latency: WakeUpLatency?, _ scheduling: Scheduling) throws -> WakeUpHold {
      let runtime = try Runtime(strict: false, lockMemory: false, wakeUpLatency: latency, root: root.path) {
        lane(scheduling: scheduling)
      }
      try runtime.start()
      runtime.stop()
      return runtime.wakeUpHold
    }
    // Whether the lane gets its priority does not matter.
    #expect(try hold(nil, .fifo(1)) == .held(requested: .zero, effective: .zero))
    #expect(try hold(.asTheKernelLikes, .fifo(1)) == .notRequested)
    #expect(try hold(nil, .normal) == .notRequested)
  }

  @Test("no such device: told with the reason; strict mode refuses if it was asked for, and nothing is left open")
  func missing() throws {
    let root = try MadeUpRoot([:])
    let text =
      "the CPUs' wake-up latency is not held, /dev/cpu_dma_latency: this kernel or container has no such device"
    let lenient = try Runtime(strict: false, wakeUpLatency: .held(.zero), root: root.path) { lane() }
    try lenient.start()
    lenient.stop()
    #expect(lenient.wakeUpHold == .refused(errno: ENOENT))
    #expect(lenient.findings == [.init(isRefusal: true, description: text)])
    let strict = try Runtime(strict: true, wakeUpLatency: .held(.zero), root: root.path) { lane() }
    let error = #expect(throws: RuntimeError.self) { try strict.start() }
    #expect(error?.description == "strict real time refused: lane \"*\": \(text)")
  }

  @Test(
    "strict mode does not insist on what nobody asked for",
    .enabled(if: mayUseFIFO, "needs CAP_SYS_NICE or RLIMIT_RTPRIO"))
  func notInsisted() throws {
    let root = try MadeUpRoot([:])
    let runtime = try Runtime(strict: true, lockMemory: false, wakeUpLatency: nil, root: root.path) {
      lane(scheduling: .fifo(1))
    }
    try runtime.start()
    runtime.stop()
    #expect(runtime.wakeUpHold == .refused(errno: ENOENT))
  }

  @Test("refused for want of a privilege: says what to do")
  func texts() {
    #expect(WakeUpHold.refused(errno: EACCES).refusal?.contains("udev rule") == true)
    #expect(WakeUpHold.refused(errno: EIO).refusal?.contains("errno 5") == true)
    #expect(WakeUpHold.notRequested.refusal == nil)
  }

  @Test(
    "the kernel's own device: it says that it holds itself to what was asked for, or to less",
    .enabled(if: access("/dev/cpu_dma_latency", R_OK | W_OK) == 0, "needs /dev/cpu_dma_latency, and to be root"))
  func device() throws {
    let runtime = try Runtime(strict: true, wakeUpLatency: .held(.microseconds(50))) { lane() }
    try runtime.start()
    defer { runtime.stop() }
    guard case .held(.microseconds(50), let effective?) = runtime.wakeUpHold else {
      return #expect(Bool(false), "\(runtime.wakeUpHold)")
    }
    #expect(effective <= .microseconds(50))
  }
}

@Suite("Sets of CPUs", .ownThread)
struct CPUSetTests {
  @Test("the kernel's text and back, for random sets")
  func text() {
    for seed in UInt64(1)...200 {
      var random = SplitMix64(seed: seed)
      let set = CPUSet((0..<random.below(20)).map { _ in Int(random.below(seed % 2 == 0 ? 12 : 1024)) } + [3])
      #expect(CPUSet(set.description) == set && CPUSet(words: set.words) == set, "seed \(seed)")
    }
    #expect(CPUSet([3, 0, 1, 1]).description == "0-1,3" && CPUSet("0-1,3") == [0, 1, 3])
    for text in [
      "", ",", "1,", "-1", "1-", "2-1", "a", "1 ", "1024", "0-1024", "+1", "1-+2", "99999999999999999999", "1-2-3",
    ] {
      #expect(CPUSet(text) == nil, "\(text)")
    }
  }

  @Test("a lane on CPU 0 and one that this machine does not have: it runs on 0, and the report says what it has not")
  func partly() throws {
    let runtime = try Runtime { Lane("a", cpus: [0, 1023]) { Loop("l", every: .hertz(10)) { Idle() } } }
    try runtime.start()
    runtime.stop()
    let report = try #require(runtime.reports.first)
    #expect(report.requestedCPUs == [0, 1023] && report.effectiveCPUs == [0] && !report.isAsRequested)
    #expect(report.requestedCPU == nil && report.effectiveCPU == 0)
    #expect(
      report.findings.contains {
        $0.description.hasPrefix("CPU 1023 refused: offline, or not this process's")
          && $0.description.hasSuffix("Name others, or give the service these (AllowedCPUs=)")
      })
  }

  @Test("no CPU at all and CPUs out of range are refused, as are CPUs for SCHED_DEADLINE")
  func refusals() {
    func refusal(_ cpus: CPUSet, _ scheduling: Scheduling = .normal) -> String {
      do throws(RuntimeError) {
        _ = try Runtime { Lane("a", scheduling: scheduling, cpus: cpus) { Loop("l", every: .hertz(10)) { Idle() } } }
      } catch { return error.description }
      return "none"
    }
    #expect(refusal([]) == "lane \"a\": a set of CPUs has one at least")
    #expect(refusal([0, -1]) == "lane \"a\": a CPU is 0…1023, got -1")
    #expect(refusal([1024]) == "lane \"a\": a CPU is 0…1023, got 1024")
    let deadline = Scheduling.deadline(runtime: .milliseconds(1), deadline: .milliseconds(5), period: .milliseconds(5))
    #expect(refusal([0], deadline) == "lane \"a\": SCHED_DEADLINE and a choice of CPUs exclude each other")
  }
}

@Suite("Control groups", .ownThread)
struct ControlGroupTests {
  @Test("version 2: of each limit the tightest one on the way to the root")
  func two() throws {
    let root = try MadeUpRoot([
      "/proc/self/cgroup": "0::/system.slice/tactus.service\n",
      "/sys/fs/cgroup/system.slice/tactus.service/cpu.max": "max 100000\n",
      "/sys/fs/cgroup/system.slice/cpu.max": "50000 100000\n",
      "/sys/fs/cgroup/system.slice/tactus.service/memory.max": "268435456\n",
      "/sys/fs/cgroup/system.slice/memory.max": "536870912\n",
      "/sys/fs/cgroup/memory.max": "max\n",
      "/sys/fs/cgroup/system.slice/tactus.service/cpuset.cpus.effective": "0-2\n",
      "/sys/fs/cgroup/cpuset.cpus.effective": "0-3\n",
    ])
    let group = ControlGroup(root: root.path)
    #expect(group.share == .init(runtime: 50_000, period: 100_000) && group.realTimeShare == nil)
    #expect(group.cpus == [0, 1, 2] && group.memory == 268_435_456)
  }

  @Test("version 1: each controller in its own tree; in a container only its root is seen")
  func one() throws {
    let root = try MadeUpRoot([
      "/proc/self/cgroup": "4:memory:/docker/x\n3:cpuset:/docker/x\n2:cpu,cpuacct:/docker/x\n1:name=systemd:/\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_quota_us": "-1\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.cfs_period_us": "100000\n",
      "/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.rt_runtime_us": "0\n",
      "/sys/fs/cgroup/cpu,cpuacct/docker/x/cpu.rt_period_us": "1000000\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.rt_runtime_us": "950000\n",
      "/sys/fs/cgroup/cpu,cpuacct/cpu.rt_period_us": "1000000\n",
      "/sys/fs/cgroup/memory/memory.limit_in_bytes": "9223372036854771712\n",
      "/sys/fs/cgroup/cpuset/cpuset.effective_cpus": "1\n",
    ])
    let group = ControlGroup(root: root.path)
    #expect(group.share == nil && group.realTimeShare == .init(runtime: 0, period: 1_000_000))
    #expect(group.cpus == [1] && group.memory == nil)
  }

  @Test("version 1 with each controller under its own name; version 2 beside version 1, as systemd mounts both")
  func otherMounts() throws {
    let separate = try MadeUpRoot([
      "/proc/self/cgroup": "2:cpu,cpuacct:/x\n",
      "/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us": "30000\n", "/sys/fs/cgroup/cpu/x/cpu.cfs_period_us": "100000\n",
    ])
    #expect(ControlGroup(root: separate.path).share == .init(runtime: 30_000, period: 100_000))
    let hybrid = try MadeUpRoot([
      "/proc/self/cgroup": "1:name=systemd:/x\n0::/x\n", "/sys/fs/cgroup/unified/x/cpu.max": "40000 100000\n",
    ])
    #expect(ControlGroup(root: hybrid.path).share == .init(runtime: 40_000, period: 100_000))
  }

  @Test("no control groups, and files that say nothing: no limits")
  func none() throws {
    #expect(ControlGroup(root: try MadeUpRoot([:]).path) == ControlGroup())
    let odd = try MadeUpRoot([
      "/proc/self/cgroup": "0::/\nnonsense\n", "/sys/fs/cgroup/cpu.max": "max\n", "/sys/fs/cgroup/memory.max": "",
      "/sys/fs/cgroup/cpuset.cpus.effective": "\n",
    ])
    #expect(ControlGroup(root: odd.path) == ControlGroup())
    let timeless = try MadeUpRoot(["/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "1000 0\n"])
    #expect(ControlGroup(root: timeless.path) == ControlGroup())
  }

  @Test("an ordinary lane in a group with a quota, locked memory in one with a limit: findings that are no refusals")
  func findings() throws {
    let root = try MadeUpRoot([
      "/proc/self/cgroup": "0::/\n", "/sys/fs/cgroup/cpu.max": "20000 100000\n",
      "/sys/fs/cgroup/memory.max": "1073741824\n",
    ])
    let runtime = try Runtime(strict: false, lockMemory: true, wakeUpLatency: nil, root: root.path) { lane() }
    try runtime.start()
    runtime.stop()
    let report = try #require(runtime.reports.first)
    #expect(report.isAsRequested && report.findings.first?.description.contains("20000 µs of every 100000 µs") == true)
    #expect(report.findings.first?.description.contains("(CPUQuota=)") == true)
    let isLocked = runtime.memoryLock == .locked
    #expect(runtime.findings.contains { $0.description.contains("1073741824 bytes") && !$0.isRefusal } == isLocked)
  }
}

/// Computes for `length` of its thread's processor time, once.
private struct Busy: ControlLoop, NoOutput {
  let length: Int64
  let done: DoorbellButton
  var isDone = false

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    if !isDone {
      let begin = tactus_thread_processor_time()
      while tactus_thread_processor_time() &- begin < length {}
      isDone = true
      return
    }
    done.ring()
  }
}

@Suite("Processor time of SCHED_DEADLINE", .ownThread)
struct ProcessorBudgetTests {
  @Test("charged tick by tick: each time the budget is exceeded counts once; a sleep begins a new one")
  func charge() {
    let lane = LaneBudget()
    var budget = ProcessorBudget(runtime: 100, usedUp: lane.usedUp)
    budget.begin(at: 1_000_000)
    var now: Int64 = 1_000_000
    func charge(_ used: Int64, _ sleeps: Bool = false) -> Int64 {
      now += used
      budget.charge(until: now, thenSleeps: sleeps)
      return lane.count
    }
    #expect(charge(100) == 0, "to its last nanosecond")
    #expect(charge(1) == 1)
    #expect(charge(99) == 1)
    #expect(charge(1) == 2)
    #expect(charge(350, true) == 5)
    #expect(charge(60, true) == 5 && charge(60, true) == 5, "two releases are not put together")
    #expect(charge(60) == 5 && charge(60, true) == 6)
    #expect(charge(200, true) == 7, "the second to its last nanosecond")
  }

  private final class LaneBudget {
    let usedUp = UnsafeMutablePointer<Atomic<Int64>>.allocate(capacity: 1)
    var count: Int64 { usedUp.pointee.load(ordering: .relaxed) }

    init() { usedUp.initialize(to: Atomic(0)) }

    deinit {
      usedUp.deinitialize(count: 1)
      usedUp.deallocate()
    }
  }

  @Test(
    "a tick that computes for three and a half budgets: counted thrice at least; other lanes have no such count",
    .enabled(if: mayUseDeadline, "needs CAP_SYS_NICE and every CPU"))
  func throttled() throws {
    let done = try Doorbell()
    let scheduling = Scheduling.deadline(
      runtime: .milliseconds(1), deadline: .milliseconds(10), period: .milliseconds(10))
    let runtime = try Runtime {
      Lane("budget", scheduling: scheduling) {
        Loop("l", every: .hertz(100)) { Busy(length: 3_500_000, done: done.button) }
      }
      Lane("other") { Loop("m", every: .hertz(100)) { Idle() } }
    }
    try runtime.start()
    #expect(done.wait(limit: .seconds(60)))
    let lanes = runtime.statistics.lanes
    runtime.stop()
    #expect(lanes.map(\.name) == ["budget", "other"] && lanes[1].budgetsUsedUp == nil)
    #expect(try #require(lanes[0].budgetsUsedUp) >= 3)
  }
}

private let mayUseDeadline: Bool = {
  // On a thread of its own, as of FIFO.
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var allowed = false
  DispatchQueue(label: "probe").async {
    var before = tactus_thread_state()
    tactus_thread_save(&before)
    allowed = tactus_thread_set_deadline(1_000_000, 10_000_000, 10_000_000) == 0
    tactus_thread_restore(&before)
    done.signal()
  }
  done.wait()
  return allowed
}()
