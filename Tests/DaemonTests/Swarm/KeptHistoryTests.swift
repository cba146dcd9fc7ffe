import Tactus
import Testing

@testable import LegDaemon
@testable import PumpDaemon
@testable import SprinklerDaemon
@testable import TactusDaemon
@testable import VideoDaemon

/// Histories that showed a fault of the product, each as short as the swarm could make it.
@Suite struct KeptHistoryTests {
  /// A seed's history, and the parts that it needs.
  struct Kept: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let make: SwarmRun.MakeParts
    let history: String
  }

  private static let all = [
    Kept(
      testDescription: "a loop that hangs while the guard closes its valve: noted is what the loop last said",
      make: { [try SprinklerSwarm(seed: $0), PumpSwarm(seed: $0)] },
      history: """
        seed 32417
        end 11.543000000
        1.440000000 sprinkler zone-on 4 10
        7.377000000 pump output-gone 1
        7.381000000 daemon freeze 2262
        9.522000000 sprinkler crash-in-write 1
        """),
    Kept(
      testDescription: "a start with a full store closes the valve: the run is logged until then, and no longer",
      make: { [try SprinklerSwarm(seed: $0), PumpSwarm(seed: $0)] },
      history: """
        seed 290563
        end 58.558000000
        51.219000000 pump output-gone 1
        55.121000000 sprinkler run-once 3 10 3 12
        55.433000000 sprinkler disk-full 1
        55.572000000 daemon kill-both 1386
        58.507000000 sprinkler disk-full 0
        """),
    Kept(
      testDescription: "a run begun and paused while the disk was full: the pause is not logged as watered",
      make: { [try SprinklerSwarm(seed: $0)] },
      history: """
        seed 458178
        end 40.780000000
        27.575000000 sprinkler zone-on 1 3
        28.121000000 sprinkler run-once 3 4 4 4
        30.361000000 sprinkler disk-full 1
        31.746000000 sprinkler pause 10
        34.696000000 sprinkler disk-full 0
        39.229000000 daemon kill 551
        """),
    Kept(
      testDescription: "a silent guard that somebody else killed: its successor is not taken for silent, too",
      make: { [try SprinklerSwarm(seed: $0)] },
      history: """
        seed 352202
        end 1.725000000
        0.011000000 sprinkler zone-extend 4 6
        0.505000000 daemon guard-hang
        1.219000000 daemon guard-kill
        1.321000000 daemon freeze 948
        1.525000000 daemon kill 2961
        """),
    Kept(
      testDescription: "a daemon that stood still just after it had replaced a silent guard leaves the successor alone",
      make: { [LegSwarm(seed: $0)] },
      history: """
        seed 85439
        end 10.000000000
        5.955000000 daemon guard-hang
        6.765000000 daemon freeze 1920
        7.270000000 leg disarm 1
        7.314000000 leg arm 1
        7.449000000 leg set 1 1429
        8.709000000 daemon kill 698
        """),
    Kept(
      testDescription: "a camera without frames after the last viewer has gone does not count as running",
      make: { [VideoSwarm(seed: $0)] },
      history: """
        seed 364840
        end 39.000000000
        0.102000000 video join 0
        27.689000000 video camera 0
        31.375000000 video leave 1
        34.933000000 video hang
        """),
  ]

  @Test("every invariant holds", arguments: all)
  func holds(_ kept: Kept) throws {
    let history = try SwarmHistory(text: kept.history + "\n")
    var run = SwarmRun(end: history.end, kept.make)
    #expect(try run.play(history) == nil)
  }
}
