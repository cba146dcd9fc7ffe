import Tactus
import Testing

@testable import LegSwarm
@testable import PlantsSwarm
@testable import PumpSwarm
@testable import RobotSwarm
@testable import SprinklerSwarm
@testable import TactusSwarm
@testable import VideoSwarm

/// Histories that showed a fault of the product, or of an oracle, each as short as the swarm could make it.
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

  /// What an oracle once took for a fault, and the faults of the history excuse.
  private static let excused = [
    Kept(
      testDescription: "the guard's note is renewed while another output refuses: a run is logged until then",
      make: { [RobotSwarm(seed: $0), try SprinklerSwarm(seed: $0)] },
      history: """
        seed 569008
        end 38.676000000
        33.061000000 daemon loop-hangs 2365
        34.197000000 robot bus-stuck 403
        34.205000000 sprinkler run-once 4 7 2 4
        34.961000000 daemon kill 2715
        """),
    Kept(
      testDescription: "a line that a dead daemon of the pump had begun is not what its successor says",
      make: { [PumpSwarm(seed: $0), try SprinklerSwarm(seed: $0)] },
      history: """
        seed 102404
        end 22.029000000
        3.429000000 pump op-start
        10.088000000 sprinkler crash-in-write 0
        15.865000000 pump op-off
        15.998000000 sprinkler run-once 2 1 4 3
        16.933000000 pump ask-on
        17.047000000 daemon stop 3682
        """),
    Kept(
      testDescription: "a freeze that waits for stalls comes after one that was asked for later",
      make: { [LegSwarm(seed: $0)] },
      history: """
        seed 666460
        end 41.583000000
        35.908000000 leg stall 0 2315
        36.287000000 leg stall 0 542
        37.849000000 daemon freeze 1003
        38.576000000 leg stall 0 1800
        39.810000000 leg disarm 1
        39.847000000 leg arm 1
        39.899000000 leg set 1 2191
        """),
    Kept(
      testDescription: "the first tick after a freeze is of it",
      make: { [PumpSwarm(seed: $0)] },
      history: """
        seed 872826
        end 38.755000000
        20.419000000 daemon stop 699
        35.039000000 pump ask-on
        36.244000000 pump output-gone 1
        36.468000000 daemon freeze 2237
        38.526000000 pump output-gone 0
        """),
    Kept(
      testDescription: "the limit of messages counts one when its turn has come",
      make: { [PlantSwarm(seed: $0)] },
      history: """
        seed 307229
        end 38.110000000
        3.566000000 plants app-kept 2 2 15
        5.886000000 plants app-rename 0 0 1 1
        7.831000000 plants disk-slow 629
        14.048000000 plants app-rename 1 3 3 1
        14.380000000 plants app-kept 0 2 6
        14.435000000 plants app-data 1 2
        14.470000000 plants app-count 1 3
        14.715000000 plants app-delete 2 0 3
        14.719000000 plants app-add 1 4 3 1
        14.853000000 plants app-add 0 3 7 1
        15.129000000 plants app-data 0 1
        16.333000000 daemon freeze 2377
        36.683000000 plants app-count 2 1
        36.783000000 plants app-count 2 1
        36.883000000 plants app-count 2 1
        36.983000000 plants app-count 2 1
        37.083000000 plants app-count 2 1
        37.183000000 plants app-count 2 1
        37.283000000 plants app-count 2 1
        37.383000000 plants app-count 2 1
        37.483000000 plants app-count 2 1
        37.583000000 plants app-count 2 1
        37.683000000 plants app-count 2 1
        37.783000000 plants app-count 2 1
        37.883000000 plants app-count 2 1
        37.983000000 plants app-count 2 1
        """),
  ]

  @Test("every invariant holds", arguments: all + excused)
  func holds(_ kept: Kept) throws {
    let history = try SwarmHistory(text: kept.history + "\n")
    var run = SwarmRun(end: history.end, kept.make)
    #expect(try run.play(history) == nil)
  }
}
