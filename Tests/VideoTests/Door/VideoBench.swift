import Foundation
import Synchronization
import Tactus
import TestSupport
import Testing
import Video

@testable import Service
@testable import TactusDaemon
@testable import VideoDaemon

/// A desk and its door with a video process that the test plays, at a time that the test sets.
final class VideoBench: Sendable {
  let orders = Mutex<[VideoOrder]>([])
  private let clock = Atomic<Int64>(1_000_000_000)
  private let made = Mutex<(desk: VideoDesk, door: HostedDoor<Video>)?>(nil)
  var desk: VideoDesk { made.withLock { $0!.desk } }
  /// The desk as the service sees it.
  var door: HostedDoor<Video> { made.withLock { $0!.door } }
  var now: TickInstant { TickInstant(nanoseconds: clock.load(ordering: .relaxed)) }

  init(viewers: UInt16 = 2, folder: String? = "/recordings", detects: Bool = false) {
    var settings = VideoSettings()
    if detects { settings.detector.command = ["detector"] }
    settings.viewerLimit = viewers
    let desk = VideoDesk(
      VideoDescription(settings, recordFolder: folder, recordLimitBytes: 1_000_000),
      order: { [unowned self] order in orders.withLock { $0.append(order) } }, now: { [unowned self] in now },
      fileName: { "a.mp4" })
    let door = try! HostedDoor(desk, now: { [unowned self] in now })
    made.withLock { $0 = (desk, door) }
    var process = ChildReport()
    (process.process, process.starts) = (42, 1)
    desk.receive(process)
    orders.withLock { $0 = [] }
  }

  func pass(seconds: Double) {
    clock.add(Int64(seconds * 1e9), ordering: .relaxed)
  }

  /// Answers orders as soon as they come, until the work is done.
  func playing<Result: Sendable>(
    _ reports: @escaping @Sendable (VideoOrder) -> [VideoReport], _ work: () throws -> Result
  ) throws -> Result {
    let isOver = Mutex(false)
    let player = Thread { [self] in
      var seen = 0
      while !isOver.withLock({ $0 }) {
        let new = orders.withLock { $0.dropFirst(seen) }
        seen += new.count
        for order in new { for report in reports(order) { desk.receive(report) } }
        sched_yield()
      }
    }
    player.start()
    defer { isOver.withLock { $0 = true } }
    return try work()
  }
}
