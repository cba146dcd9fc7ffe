import CTactus
import Dispatch
import Foundation
import TestSupport
import Testing

@testable import Tactus

/// Rings when it is in its safe state; counts its ticks.
struct Bell: ControlLoop {
  let ticked: DoorbellButton
  let safe: DoorbellButton
  var descriptorToClear: Int32 = -1

  @_noLocks @_noAllocation
  mutating func tick(_ tick: Tick) {
    if descriptorToClear >= 0 { tactus_eventfd_clear(descriptorToClear) }
    ticked.ring()
  }

  @_noLocks @_noAllocation
  mutating func safeState(_ tick: Tick, cause: SafeStateCause) { safe.ring() }
}

func entries(of directory: String) -> Int {
  (try? FileManager.default.contentsOfDirectory(atPath: directory).count) ?? -1
}

/// The descriptors of this process that are of the kinds a runtime opens. Of the others some come and go at any time: on a
/// loaded machine Dispatch reads files of /proc to see what its threads do.
func runtimeDescriptors() -> Int {
  let files = FileManager.default
  let names = (try? files.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
  let targets = names.compactMap { try? files.destinationOfSymbolicLink(atPath: "/proc/self/fd/" + $0) }
  return targets.count { ["anon_inode:[eventfd]", "anon_inode:[timerfd]", "/dev/cpu_dma_latency"].contains($0) }
}

/// Makes Dispatch open the eventfd and the timerfd that it keeps, so that they are not taken for a runtime's later.
func warmDispatchUp() {
  let fired = DispatchSemaphore(value: 0)
  let timer = DispatchSource.makeTimerSource()
  timer.setEventHandler { fired.signal() }
  timer.schedule(deadline: .now())
  timer.resume()
  fired.wait()
  timer.cancel()
}

let mayUseFIFO: Bool = {
  // On a thread of its own, so that none of the test's is left with the policy.
  let done = DispatchSemaphore(value: 0)
  nonisolated(unsafe) var allowed = false
  DispatchQueue(label: "probe").async {
    var before = tactus_thread_state()
    tactus_thread_save(&before)
    allowed = tactus_thread_set_fifo(1) == 0
    tactus_thread_restore(&before)
    done.signal()
  }
  done.wait()
  return allowed
}()

/// Starts and stops two runtimes so many times and traps when anything is left behind.
func startAndStop(_ rounds: Int) throws {
  warmDispatchUp()
  let ticked = try Doorbell()
  let safe = try Doorbell()
  let scheduling: Scheduling = mayUseFIFO ? .fifo(10) : .normal
  var before = (threads: 0, descriptors: 0)
  for round in 0..<rounds {
    let runtimes = try (0..<2).map { number in
      try Runtime {
        Lane("l\(number)", scheduling: scheduling, cpu: 0) {
          Loop("a", every: .hertz(1000)) { Bell(ticked: ticked.button, safe: safe.button) }
        }
        Lane("m\(number)") {
          Loop("b", every: .hertz(1), inputs: [.descriptor(ticked.descriptor)]) {
            Bell(ticked: safe.button, safe: safe.button)
          }
        }
      }
    }
    for runtime in runtimes { try runtime.start() }
    precondition(ticked.wait(limit: .seconds(60)), "round \(round): no tick within 60 s")
    safe.clear()
    for runtime in runtimes { runtime.stop() }
    precondition(safe.wait(limit: .seconds(60)), "round \(round): no safe state at stop")
    if round == rounds / 20 { before = (entries(of: "/proc/self/task"), runtimeDescriptors()) }
  }
  precondition(runtimeDescriptors() <= before.descriptors, "descriptors leak")
  // Dispatch keeps a few threads of its own, whatever their number of the moment.
  precondition(entries(of: "/proc/self/task") <= before.threads + 4, "threads leak")
  precondition(policiesOfAllThreads().allSatisfy { $0 == 0 }, "a thread kept its policy")
}

/// Scheduling policy of every thread of this process, or of those of one name: field 41 of its stat file.
func policiesOfAllThreads(called name: String? = nil) -> [Int] {
  let tasks = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
  return tasks.compactMap { task in
    guard let stat = try? String(contentsOfFile: "/proc/self/task/\(task)/stat", encoding: .utf8) else { return nil }
    let end = stat.lastIndex(of: ")")!
    if let name, stat[..<end].split(separator: "(", maxSplits: 1).last.map(String.init) != name { return nil }
    return Int(stat[end...].split(separator: " ")[39])
  }
}

/// Starts a runtime of many lanes with room for `megabytes` more, which is not enough; then, with memory again, that one and
/// another. Traps when one hangs or leaves something behind, or when the error takes longer than `limit`.
func startWithoutThreads(_ scheduling: Scheduling, megabytes: Int, within limit: Nanoseconds = .seconds(3600)) throws {
  warmDispatchUp()
  let bell = try Doorbell()
  func runtime(_ lanes: Int) throws -> Runtime {
    try Runtime {
      for lane in 0..<lanes {
        Lane("l\(lane)", scheduling: scheduling) {
          Loop("a\(lane)", every: .hertz(100)) { Bell(ticked: bell.button, safe: bell.button) }
        }
      }
    }
  }
  let few = try runtime(2)
  let many = try runtime(60)
  let before = runtimeDescriptors()
  let pages = Int(try String(contentsOfFile: "/proc/self/statm", encoding: .utf8).prefix { $0 != " " })!
  var memory = rlimit(rlim_cur: rlim_t(pages * sysconf(Int32(_SC_PAGESIZE)) + megabytes << 20), rlim_max: .max)
  precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &memory) == 0)
  let began = MonotonicClock.now
  do throws(RuntimeError) {
    try many.start()
    preconditionFailure("60 lanes have a thread each")
  } catch {
    guard case .noThread = error else { preconditionFailure("\(error)") }
  }
  precondition(MonotonicClock.now - began < limit, "the error took longer than \(limit)")
  precondition(runtimeDescriptors() <= before, "descriptors leak")
  precondition(many.statistics.loops.allSatisfy { $0.counters.ran == 0 }, "a lane has run")
  memory.rlim_cur = .max
  precondition(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &memory) == 0)
  for runtime in [few, many] {
    bell.clear()
    try runtime.start()
    precondition(bell.wait(limit: .seconds(60)), "no tick within 60 s")
    runtime.stop()
  }
  precondition(runtimeDescriptors() <= before, "descriptors leak")
}

/// VmLck of this process, in kB.
func lockedMemory() throws -> Int {
  let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
  let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmLck:") })
  return try #require(Int(line.split { $0 == " " || $0 == "\t" }[1]))
}

@Suite("Real time", .serialized, .ownThread)
struct RealTimeTests {
  @Test(
    "1,000 starts and stops of two runtimes: every loop reaches its safe state; no thread, descriptor or policy leaks")
  func startStop() async {
    // In a process of its own: other tests open descriptors and start threads meanwhile.
    await #expect(processExitsWith: .success) { try startAndStop(1000) }
  }

  @Test("no memory for another thread: an error that names the lane, and nothing is left; with memory again it starts")
  func noThread() async {
    // A stack has 8 MB: without room for one, and with room for the one from which Dispatch is then asked for another.
    await #expect(processExitsWith: .success) { try startWithoutThreads(.normal, megabytes: 6) }
    await #expect(processExitsWith: .success) { try startWithoutThreads(.normal, megabytes: 10) }
    await #expect(processExitsWith: .success) { try startWithoutThreads(.fifo(10), megabytes: 6) }
    await #expect(processExitsWith: .success) { try startWithoutThreads(.fifo(10), megabytes: 10) }
  }

  @Test("no memory for another thread: the error comes within 30 s", .realTime)
  func noThreadSoon() async {
    await #expect(processExitsWith: .success) { try startWithoutThreads(.normal, megabytes: 6, within: .seconds(30)) }
    await #expect(processExitsWith: .success) {
      try startWithoutThreads(.fifo(10), megabytes: 10, within: .seconds(30))
    }
  }

  @Test("a change of rate while running: taken within the period it changes, and an hour's period does not delay it")
  func change() throws {
    let ticked = try Doorbell()
    let runtime = try Runtime {
      Lane("a") {
        Loop("l", every: .period(.seconds(3600)), phase: .zero) { Bell(ticked: ticked.button, safe: ticked.button) }
      }
    }
    try runtime.start()
    #expect(ticked.wait(limit: .seconds(60)))
    try runtime.setRates(["l": .hertz(500)])
    for _ in 0..<5 { #expect(ticked.wait(limit: .seconds(60))) }
    runtime.stop()
    #expect(try #require(runtime.statistics["l"]).counters.ran >= 2)
  }

  @Test("without the privilege strict mode refuses to start and says how to get it; nothing is left behind")
  func strict() throws {
    let runtime = try Runtime(strict: true) {
      Lane("a", scheduling: .fifo(50), cpu: 1023) { Loop("l", every: .hertz(10)) { Idle() } }
    }
    let error = #expect(throws: RuntimeError.self) { try runtime.start() }
    #expect(error?.description.contains("CPU 1023 refused: this process has no such CPU") == true)
    #expect(throws: RuntimeError.self) { try runtime.start() }
  }

  @Test(
    "SCHED_FIFO on one CPU: what is requested is in effect",
    .enabled(if: mayUseFIFO, "needs CAP_SYS_NICE or RLIMIT_RTPRIO"))
  func fifo() throws {
    let runtime = try Runtime(strict: true) {
      Lane("a", scheduling: .fifo(50), cpu: 0) { Loop("l", every: .hertz(10)) { Idle() } }
    }
    try runtime.start()
    defer { runtime.stop() }
    let report = try #require(runtime.reports.first)
    #expect(report.effective == .fifo(50) && report.effectiveCPU == 0 && report.isAsRequested)
    #expect(policiesOfAllThreads().contains(1))
  }

  @Test("SCHED_DEADLINE: in effect, or refused with the reason")
  func deadline() throws {
    let runtime = try Runtime {
      Lane(
        "deadline lane",
        scheduling: .deadline(runtime: .milliseconds(1), deadline: .milliseconds(5), period: .milliseconds(10))
      ) { Loop("l", every: .hertz(100)) { Idle() } }
    }
    try runtime.start()
    let report = try #require(runtime.reports.first)
    // Another suite has such lanes, too, at the same time.
    if report.isAsRequested {
      #expect(policiesOfAllThreads(called: "deadline lane") == [6])
    } else {
      #expect(
        report.effective == .normal && report.findings.first?.description.contains("SCHED_DEADLINE refused") == true)
    }
    runtime.stop()
    #expect(!policiesOfAllThreads(called: "deadline lane").contains(6))
  }

  @Test("a runtime that runs cannot be started again nor simulated; after stop it can")
  func phases() throws {
    let runtime = try Runtime { Lane("a") { Loop("l", every: .hertz(10), eachRun: { Idle() }) } }
    try runtime.start()
    #expect(throws: RuntimeError.alreadyRunning) { try runtime.start() }
    #expect(throws: RuntimeError.alreadyRunning) { try runtime.simulate(for: .seconds(1)) }
    runtime.stop()
    runtime.stop()
    try runtime.simulate(for: .seconds(1))
    try runtime.start()
    runtime.stop()
  }

  /// Rings when it goes away.
  struct Owner: ~Copyable, ControlLoop, NoOutput {
    let gone: DoorbellButton

    mutating func tick(_ tick: Tick) {}

    deinit { gone.ring() }
  }

  // In a process of its own: other suites open descriptors meanwhile.
  @Test("a runtime that is stopped and let go: its loops and descriptors are gone when that returns, not later")
  func nothingLingers() async {
    await #expect(processExitsWith: .success) {
      warmDispatchUp()
      let gone = try Doorbell()
      for _ in 0..<200 {
        var runtime: Runtime? = try Runtime {
          Lane("a") { Loop("l", every: .hertz(1000)) { Owner(gone: gone.button) } }
        }
        let before = runtimeDescriptors()
        try runtime?.start()
        runtime?.stop()
        precondition(runtimeDescriptors() <= before, "descriptors linger")
        runtime = nil
        precondition(gone.wait(limit: .zero), "the loop lingers")
      }
    }
  }

  // In a process of its own: other suites lock this one's memory meanwhile.
  @Test("two runtimes lock the memory: it stays locked until the second stops")
  func memoryLock() async {
    await #expect(processExitsWith: .success) {
      let runtimes = try (0..<2).map { number in
        try Runtime(lockMemory: true) { Lane("a") { Loop("l\(number)", every: .hertz(10)) { Idle() } } }
      }
      for runtime in runtimes { try runtime.start() }
      let areLocked = runtimes.allSatisfy { $0.memoryLock == .locked }
      let ofBoth = try lockedMemory()
      precondition(!areLocked || ofBoth > 0, "both run")
      runtimes[0].stop()
      let ofOne = try lockedMemory()
      precondition(!areLocked || ofOne > 0, "one runs")
      runtimes[1].stop()
      let ofNone = try lockedMemory()
      precondition(ofNone == 0, "none runs")
    }
  }

  @Test("a lane that waits an hour stops at once; started again it keeps neither the stop nor the wait")
  func stopWhileWaiting() throws {
    let ticked = try Doorbell()
    let safe = try Doorbell()
    let runtime = try Runtime {
      Lane("a") {
        Loop(
          "l", every: .period(.seconds(3600)), phase: .zero,
          eachRun: { Bell(ticked: ticked.button, safe: safe.button) })
      }
    }
    for _ in 0..<3 {
      try runtime.start()
      #expect(ticked.wait(limit: .seconds(60)))
      runtime.stop()
      #expect(safe.wait(limit: .zero))
      let counters = try #require(runtime.statistics["l"]).counters
      #expect(counters.ran == 1 && counters.released == 1)
    }
  }

  @Test("the calling thread set up as a lane and restored: policy, CPUs, slack and name are what they were")
  func restored() {
    let done = DispatchSemaphore(value: 0)
    nonisolated(unsafe) var before = tactus_thread_state()
    nonisolated(unsafe) var during = tactus_thread_state()
    nonisolated(unsafe) var after = tactus_thread_state()
    // A new thread, so that no other test has had it before.
    Thread {
      tactus_thread_save(&before)
      _ = LaneSetup.apply(lane: "a lane of many letters", scheduling: .fifo(1), cpus: [0])
      tactus_thread_save(&during)
      tactus_thread_restore(&before)
      tactus_thread_save(&after)
      done.signal()
    }.start()
    done.wait()
    func bytes(_ state: tactus_thread_state, _ field: KeyPath<tactus_thread_state, some Any>) -> [UInt8] {
      withUnsafeBytes(of: state[keyPath: field]) { Array($0) }
    }
    #expect(bytes(during, \.name) == Array("a lane of many ".utf8) + [0])
    #expect(bytes(after, \.name) == bytes(before, \.name))
    #expect(bytes(after, \.cpus) == bytes(before, \.cpus))
    #expect(after.policy == before.policy && after.priority == before.priority && after.nice == before.nice)
    #expect(after.timer_slack == before.timer_slack)
    if mayUseFIFO { #expect(Int(during.policy) == TACTUS_SCHED_FIFO && during.priority == 1) }
    // Without CAP_SYS_NICE the kernel does not let go of reset-on-fork.
    #expect(after.flags == before.flags || (geteuid() != 0 && after.flags == before.flags | 1))
  }
}
