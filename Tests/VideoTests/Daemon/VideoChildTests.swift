import DaemonSupport
import Foundation
import Logging
import Synchronization
import Tactus
import TestSupport
import Testing
import Video

@testable import Service
@testable import TactusDaemon
@testable import VideoDaemon

#if Video
  private let isThere = FileManager.default.isExecutableFile(atPath: DaemonProgram.beside("tactus-video"))
#else
  private let isThere = false
#endif

/// The video process under the daemon's eye, beside a control loop of 1 kHz.
@Suite("video process under supervision", .ownThread, .serialized, .enabled(if: isThere, "needs the trait Video"))
struct VideoChildTests {
  /// What the child's thread told, for a test to wait for.
  private final class Witness: Sendable {
    let processes = Mutex<[ChildReport]>([])
    let reports = Mutex<[VideoReport]>([])
    let bell: Doorbell

    init() throws { bell = try Doorbell() }

    func child(_ settings: VideoSettings, program: String = "tactus-video") throws -> Child<VideoTalk> {
      try Child(
        ChildProgram(
          program, ["serve", "--descriptor", "3"], called: "the video process",
          silence: SupervisionMachine.silenceLimit),
        settings: .settings(settings), logger: Logger(label: "video") { _ in SwiftLogNoOpLogHandler() },
        heard: { [self] report in
          if case .fragment = report { return }
          reports.withLock { $0.append(report) }
          bell.button.ring()
        },
        changed: { [self] process in
          processes.withLock { $0.append(process) }
          bell.button.ring()
        })
    }

    /// Waits until there is one; nil: it did not come.
    func process(limit: Nanoseconds = .seconds(60), _ condition: (ChildReport) -> Bool) -> ChildReport? {
      let until = MonotonicClock.now + limit
      while true {
        if let found = processes.withLock({ $0.last(where: condition) }) { return found }
        guard MonotonicClock.now < until else { return nil }
        bell.wait(limit: .seconds(1))
      }
    }

    func report(_ condition: (VideoReport) -> Bool) -> Bool {
      wait { reports.withLock { $0.contains(where: condition) } }
    }

    func wait(_ condition: () -> Bool) -> Bool {
      let until = MonotonicClock.now + .seconds(60)
      while !condition() {
        guard MonotonicClock.now < until else { return false }
        bell.wait(limit: .seconds(1))
      }
      return true
    }
  }

  private struct Beat: ~Copyable, ControlLoop, NoOutput {
    @_noLocks @_noAllocation
    mutating func tick(_ tick: Tick) {}
  }

  private var settings: VideoSettings {
    var settings = VideoSettings()
    settings.source = .test
    settings.port = 0
    return settings
  }

  /// Kills the process, then stops it, beside a loop of 1 kHz; returns the loop's account.
  private func killAndStop() throws -> LoopStatistics {
    let runtime = try Runtime {
      Lane("beat", scheduling: .fifo(80)) { Loop("beat", every: .hertz(1000), late: .skip) { Beat() } }
    }
    try runtime.start()
    defer { runtime.stop() }
    let witness = try Witness()
    let child = try witness.child(settings)
    child.start()
    defer { child.stop() }
    let first = try #require(witness.process { $0.process != nil })
    child.send(.want(fragments: true, pictures: true))
    #expect(witness.report { if case .initialisation = $0 { true } else { false } })

    kill(first.process!, SIGKILL)
    let ended = try #require(witness.process { $0.ends == 1 })
    #expect(ended.cause?.contains("signal 9") == true && ended.process == nil)
    let second = try #require(witness.process { $0.starts == 2 && $0.process != nil })
    witness.reports.withLock { $0 = [] }
    child.send(.want(fragments: true, pictures: false))
    #expect(witness.report { if case .initialisation = $0 { true } else { false } })

    kill(second.process!, SIGSTOP)
    let hung = try #require(witness.process { $0.ends == 2 })
    #expect(hung.cause?.contains("said nothing") == true)
    let third = try #require(witness.process { $0.starts == 3 && $0.process != nil })
    #expect(third.process != second.process)

    // It was seconds; a loaded machine may have given up most ticks.
    #expect(witness.wait { (runtime.counters(of: "beat")?.ran ?? 0) > 1000 })
    let beat = try #require(runtime.statistics["beat"])
    print(beat)
    return beat
  }

  @Test(
    "killed, then stopped: replaced both times, the frames come back, and a 1 kHz loop beside it loses no tick's account"
  )
  func killedAndStopped() throws {
    let beat = try killAndStop()
    #expect(beat.counters.released == beat.counters.ran + beat.counters.skipped + beat.counters.pending)
    #expect(beat.counters.ran > 1000)
  }

  @Test("killed, then stopped: half of the ticks of a 1 kHz loop beside it, or more, are on time", .realTime)
  func killedAndStoppedInTime() throws {
    // A shared machine pauses; half of a millisecond loop's ticks are on time all the same.
    #expect(try #require(killAndStop().latency.percentile(0.5)) < .milliseconds(1))
  }

  @Test("a recording whose file cannot be made: why; the next, elsewhere, is made")
  func recording() throws {
    let folder = try TemporaryFolder()
    let path = folder.path("a.mp4")
    try Data().write(to: URL(filePath: path))
    let witness = try Witness()
    let child = try witness.child(settings)
    child.start()
    defer { child.stop() }
    _ = try #require(witness.process { $0.process != nil })
    let orders = VideoOrders()
    orders.child = child
    let desk = VideoDesk(VideoDescription(), order: { _ in }, fileName: { "" })
    orders.desk = desk
    orders.send(.record(path: path, limitBytes: 1_000_000))
    #expect(
      witness.wait {
        desk.told.recording.map { $0.phase == .failed && $0.cause.contains("exists") } ?? false
      })
    orders.send(.record(path: folder.path("b.mp4"), limitBytes: 1_000_000))
    orders.send(.stopRecording)
    #expect(witness.report { if case .recording(let recording) = $0 { recording.phase == .stopped } else { false } })
    #expect(FileManager.default.fileExists(atPath: folder.path("b.mp4")))
  }

  @Test("no such program: said with its path, tried again ever more seldom, and stop returns at once")
  func missing() throws {
    let witness = try Witness()
    let child = try witness.child(settings, program: "/nonexistent/tactus-video")
    child.start()
    let report = try #require(witness.process { $0.starts == 3 })
    #expect(report.process == nil && report.cause?.contains("/nonexistent/tactus-video") == true)
    #expect(report.nextStart != nil)
    child.stop()
  }

  @Test("stop: the process is gone when it returns")
  func stop() throws {
    let witness = try Witness()
    let child = try witness.child(settings)
    child.start()
    let process = try #require(witness.process { $0.process != nil }?.process)
    child.stop()
    #expect(kill(process, 0) == -1 && errno == ESRCH)
  }
}
