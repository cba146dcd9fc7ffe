import Tactus
import TactusDaemon
import Testing
import Video

@testable import VideoDaemon

@Suite("video supervision")
struct VideoSupervisionTests {
  private let start = TickInstant.zero + .seconds(1)

  @Test("being killed: told as no process, with the reason, until it has ended; replaced: it is told for a second")
  func killing() {
    for (event, cause) in [
      (SupervisionMachine.Event.time, "it said nothing for"), (.nonsense("x"), "it was killed for what it said: x"),
    ] {
      var supervision = ChildSupervision<VideoTalk>(at: start)
      #expect(supervision.step(.time, at: start) == .spawn)
      #expect(supervision.report(process: 7).process == 7)
      let later = start + SupervisionMachine.silenceLimit
      #expect(supervision.step(event, at: later) == .kill)
      let report = supervision.report(process: 7)
      #expect(report.process == nil && report.nextStart == nil && report.starts == 1 && report.ends == 0)
      #expect(report.cause?.hasPrefix(cause) == true)
      #expect(supervision.ended("signal 9", at: later + .seconds(60))?.hasPrefix(cause) == true)
      #expect(supervision.report(process: nil).nextStart == later + .seconds(60) + SupervisionMachine.shortestPause)
    }
    var replaced = ChildSupervision<VideoTalk>(at: start)
    _ = replaced.step(.time, at: start)
    #expect(replaced.step(.replace, at: start) == .kill && replaced.report(process: 7).process == 7)
    #expect(replaced.step(.time, at: start + SupervisionMachine.endLimit) == .tell)
    let report = replaced.report(process: 7)
    #expect(report.process == nil && report.cause?.hasSuffix("has not ended") == true)
    #expect(replaced.ended("signal 9", at: start + .seconds(20)) == nil)
  }

  @Test("bytes: whole reports are handed on, nonsense is told; the next process begins anew; a cause is told once")
  func bytes() {
    var supervision = ChildSupervision<VideoTalk>(at: start)
    var reports: [VideoReport] = []
    _ = supervision.step(.time, at: start)
    let hello = VideoReport.hello.bytes
    #expect(supervision.hear(Array(hello.prefix(3)), at: start) { reports.append($0) } == nil)
    #expect(supervision.hear(Array(hello.dropFirst(3)), at: start) { reports.append($0) } == nil)
    #expect(reports == [.hello])
    let nonsense = supervision.hear([0xFF, 0xFF, 0xFF, 0xFF], at: start) { reports.append($0) }
    guard case .nonsense = nonsense else { return #expect(Bool(false), "\(String(describing: nonsense))") }
    #expect(supervision.ended("signal 11", at: start) == "signal 11")
    let again = start + SupervisionMachine.shortestPause
    #expect(supervision.step(.time, at: again) == .spawn)
    #expect(supervision.hear(hello, at: again) { reports.append($0) } == nil && reports.count == 2)
    #expect(supervision.ended("signal 11", at: again) == nil)
  }
}
