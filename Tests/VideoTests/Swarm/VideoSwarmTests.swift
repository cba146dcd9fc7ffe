import Tactus
import Testing

@testable import TactusSwarm
@testable import VideoSwarm

/// The video under the swarm: everything holds, and what is taken away is found.
@Suite struct VideoSwarmTests {
  private static let minute = TickInstant.zero + .seconds(60)

  /// What the first seed that fails has failed in; `nil` if `most` do not.
  private func finding(most: UInt64, _ settings: VideoSwarm.Settings) throws -> String? {
    var run = SwarmRun(end: Self.minute) { [VideoSwarm(seed: $0, settings)] }
    for seed in 1...most {
      if let finding = try run.play(seed: seed) { return finding.failure.failure.invariant }
    }
    return nil
  }

  @Test("a hundred seeds of video: everything holds, and everything was looked at")
  func holds() throws {
    var run = SwarmRun(end: Self.minute) { [VideoSwarm(seed: $0)] }
    for seed in UInt64(1)...100 {
      let finding = try run.play(seed: seed)
      #expect(finding == nil, "\(finding.map { SwarmCommand.failureText(seed, $0.failure) } ?? "")")
    }
    #expect(run.tally.rows.map(\.invariant) == VideoOracle.names)
    for row in run.tally.rows { #expect(row.looks > 0, "\(row.invariant)") }
  }

  @Test("a kill that does not reach a process that hangs is found")
  func withoutKills() throws {
    var settings = VideoSwarm.Settings()
    settings.kills = false
    #expect(try finding(most: 100, settings) == VideoOracle.names[1])
  }

  @Test("an orderly stop that leaves its process alone is found")
  func unstopped() throws {
    var settings = VideoSwarm.Settings()
    settings.stops = false
    let found = try finding(most: 100, settings)
    #expect(found == VideoOracle.names[7])
  }

  @Test("a desk that is not told of its process is found")
  func untold() throws {
    var settings = VideoSwarm.Settings()
    settings.tells = false
    #expect(try finding(most: 20, settings) == VideoOracle.names[3])
  }
}
