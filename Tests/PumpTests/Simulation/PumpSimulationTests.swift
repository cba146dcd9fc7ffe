import Tactus
import TestSupport
import Testing
import Wire

@testable import Pump

@Suite(.ownThread) struct PumpSimulationTests {
  private func started(_ change: (inout PumpSimulation.Configuration) -> Void = { _ in }) throws -> PumpSimulation {
    var configuration = PumpSimulation.Configuration()
    change(&configuration)
    let simulation = try PumpSimulation(configuration)
    simulation.run(for: .seconds(2))
    return simulation
  }

  private func notices(_ simulation: PumpSimulation) -> [String] {
    simulation.takeNotices().map { "\($0.at.nanoseconds / 1_000_000) \($0.subject)" }
  }

  @Test("debug") func debug() throws {
    let simulation = try started()
    print("SAY", notices(simulation), simulation.snapshot.state, simulation.snapshot.contact, simulation.device.state)
    simulation.request(.turnOn(PumpSpeed(duty: 178)))
    simulation.run(for: .seconds(3))
    print("SAY", notices(simulation), simulation.snapshot.state, simulation.snapshot.speed as Any, simulation.device.state)
    print("SAY", simulation.takeAnswers(), simulation.snapshot)
    simulation.run(for: .seconds(1795))
    print("SAY", notices(simulation), simulation.snapshot.state, simulation.device.state, simulation.world.reading)
    simulation.run(for: .seconds(310))
    print("SAY", notices(simulation), simulation.snapshot.state, simulation.device.state, simulation.world.reading)
    simulation.stop()
    print("SAY", notices(simulation), simulation.snapshot.state, simulation.device.state, simulation.world.reading)
  }
}
