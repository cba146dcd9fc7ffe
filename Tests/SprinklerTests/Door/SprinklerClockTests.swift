import Foundation
import Sprinkler
import Tactus
import TestSupport
import Testing
import WallTime

@testable import Service
@testable import SprinklerDaemon
@testable import Store

@Suite("the sprinkler's desk by a clock that is wrong", .ownThread)
struct SprinklerClockTests {
  private static let years: Int64 = 10 * 365 * 86_400

  private func line(_ run: UInt64, start: WallInstant) -> SprinklerChange {
    .log(
      WateringRecord(
        run: run, zone: ZoneID(1)!, zoneName: "Front", program: nil, programName: nil, isScheduled: false, start: start,
        askedSeconds: 60, ranSeconds: 60, outcome: .completed))
  }

  @Test("ten years ahead: the log is whole for ten minutes; by a clock that NTP then still keeps it goes")
  func tenYearsAhead() throws {
    let bench = try SprinklerDoorBench(began: SprinklerDoorBench.start + Self.years)
    try bench.desk.store.apply((1...5).map { line($0, start: SprinklerDoorBench.start) })
    bench.run(seconds: 590)
    #expect(try bench.desk.store.log().records.count == 5)
    bench.run(seconds: 80)
    #expect(try bench.desk.store.log().records.isEmpty)
  }

  @Test("set ahead and right again: nothing is deleted by the clock that was wrong")
  func setAhead() throws {
    let bench = try SprinklerDoorBench()
    try bench.desk.store.apply((1...5).map { line($0, start: SprinklerDoorBench.start) })
    bench.run(seconds: 700)
    bench.setForward(seconds: Self.years)
    bench.run(seconds: 500)
    bench.setForward(seconds: -Self.years)
    bench.run(seconds: 4_000)
    #expect(try bench.desk.store.log().records.count == 5)
  }

  @Test("the state says how far the clock is believed, and by how much it was set last")
  func state() async throws {
    let bench = try SprinklerDoorBench()
    func clock() async throws -> [String: Any] {
      try #require(try await bench.json("GET", "/api/sprinkler")["clock"] as? [String: Any])
    }
    bench.run(seconds: 1)
    #expect(try await clock()["isBelieved"] as? Bool == false)
    bench.run(seconds: 31)
    #expect(try await clock()["state"] as? String == "synchronised")
    #expect(try await clock()["lastJumpSec"] is NSNull)
    bench.setForward(seconds: -7_200)
    bench.run(seconds: 1)
    #expect(try await clock()["state"] as? String == "unconfirmed")
    #expect(try await clock()["lastJumpSec"] as? Int == -7_200)
  }
}
