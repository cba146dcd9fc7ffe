import Tactus
import TestSupport
import Testing

@testable import Sprinkler

@Suite(.ownThread) struct SprinklerSimulationTests {
  @Test("12 minutes by the production scheduler: the line is on for 720 s to the nanosecond")
  func holds() throws {
    let simulation = try SprinklerSimulation()
    simulation.run(for: .milliseconds(1_234))
    simulation.request(.run(ZoneRun(id: 1, zone: ZoneID(2)!, seconds: 720, source: .manual), .now))
    simulation.run(for: .seconds(800))
    let sets = simulation.bank.transactions().filter { $0.operation == .set && $0.levels & 4 == 0 }
    let all = simulation.bank.transactions().filter { $0.operation == .set }
    let opened = try #require(sets.first)
    let closed = try #require(all.last)
    #expect(opened.at == .zero + .milliseconds(1_234) && closed.at - opened.at == .seconds(720))
  }

  @Test("age of a command: from its request to the end of the tick that set the lines; of flow: from the oldest pulse")
  func ages() throws {
    var configuration = SprinklerSimulation.Configuration()
    configuration.flow = try FlowSettings(pulsesPerLitre: 450)
    let simulation = try SprinklerSimulation(configuration)
    func age(_ index: Int) throws -> AgeStatistics {
      try #require(simulation.statistics[SprinklerSimulation.loop]?.ages[index])
    }
    simulation.stall(at: .seconds(1), by: .milliseconds(250))
    simulation.run(for: .milliseconds(1_100))
    simulation.request(.run(ZoneRun(id: 1, zone: ZoneID(1)!, seconds: 600, source: .manual), .now))
    // Waits in the queue: it sets nothing.
    simulation.request(.run(ZoneRun(id: 2, zone: ZoneID(2)!, seconds: 600, source: .manual), .append))
    simulation.run(for: .milliseconds(500))
    #expect(try age(0).age.count == 1 && age(0).last == .milliseconds(150) && age(0).name == "command")
    #expect(try age(1).age.count == 0)
    simulation.run(for: .seconds(10))
    let flow = try age(1)
    // Pulses wait for the loop's next tick, a second at most; its longest one took 250 ms. The line keeps the newest sixteen.
    #expect(flow.age.count >= 9 && flow.bound == .milliseconds(1_250) && flow.arrival == .awaitsLoop)
    let pulse = 60_000_000_000 / (450 * configuration.litresPerMinute)
    #expect((15 * pulse...17 * pulse).contains(Double(flow.age.maximum!.count)))
  }

  @Test("the same seed and calls: the same run, tick by tick")
  func repeats() throws {
    func run() throws -> UInt64 {
      let simulation = try SprinklerSimulation()
      for zone in 1...4 {
        simulation.request(.run(ZoneRun(id: UInt64(zone), zone: ZoneID(zone)!, seconds: 90, source: .manual), .append))
      }
      simulation.run(for: .seconds(400))
      return simulation.traceHash
    }
    #expect(try run() == run())
  }

  @Test("lane stalls past three releases with a valve open: off by the next instant the lane has, a fault that says so")
  func stall() throws {
    let simulation = try SprinklerSimulation()
    simulation.request(.run(ZoneRun(id: 1, zone: ZoneID(1)!, seconds: 600, source: .manual), .now))
    simulation.run(for: .seconds(10))
    simulation.stall(at: .seconds(10), by: .seconds(6))
    simulation.run(for: .seconds(10))
    guard case .fault(.missedReleases) = simulation.snapshot.state else {
      Issue.record("\(simulation.snapshot.state)")
      return
    }
    #expect(simulation.bank.isHigh(1))
  }

  @Test("stop of the runtime: every line off, the open run's end says why")
  func stop() throws {
    let simulation = try SprinklerSimulation()
    simulation.request(.run(ZoneRun(id: 1, zone: ZoneID(1)!, seconds: 600, source: .manual), .now))
    simulation.run(for: .seconds(10))
    #expect(!simulation.bank.isHigh(1))
    simulation.stop()
    #expect(simulation.bank.isHigh(1))
    guard
      case .ended(let end) = simulation.takeNotices().last(where: {
        if case .ended = $0.subject { true } else { false }
      })?.subject
    else { return #expect(Bool(false)) }
    #expect(end.outcome == .shutdown)
  }
}
