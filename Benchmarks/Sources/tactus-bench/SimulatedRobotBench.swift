import Buses
import CBench
import Devices
import Robot
import Tactus
import Wire

/// The robot closed in simulated time: the operator's loop sends at 20 Hz over a network with 2 ms delay, the robot's loop
/// drives a simulated board with a robot under it, by its period and by arrival, and replies.
enum SimulatedRobotBench {
  static func run(ticks wanted: Int64) throws {
    let robotEnd = Endpoint.ipv4(127, 0, 0, 1, port: 5005)
    let operatorEnd = Endpoint.ipv4(127, 0, 0, 1, port: 40_000)
    var conditions = SimulatedNetwork.Conditions()
    conditions.delay = .milliseconds(2)
    let network = SimulatedNetwork([robotEnd, operatorEnd], conditions: conditions)
    let bus = SimulatedI2CBus()
    let board = YBPcbCarSimulator()
    bus.attach(board.chip, at: YBPcbCar.standardAddress)

    let mailbox = try RobotLoop.Mailbox(state: RobotSnapshot(.standard), rules: .standard)
    let input = Latest(OperatorInput.joystick(x: 0.2, y: 0.6))
    let operatorRequests = Ring<OperatorRequest>(capacity: 64)
    let operatorSnapshot = Latest(OperatorSnapshot())
    let runtime = try Runtime {
      Lane("robot") {
        Loop("robot", every: .hertz(20), inputs: [.simulated(network.input(robotEnd))]) {
          RobotLoop(
            ends: mailbox.loopEnds(), motors: Motors(YBPcbCar(), on: bus.port()), port: network.port(robotEnd))
        }
      }
      Lane("operator") {
        Loop("operator", every: .hertz(20), phase: .milliseconds(7)) {
          OperatorLoop(
            port: network.port(operatorEnd), robot: robotEnd, wallClockAtStart: 1_700_000_000_000_000,
            input: input.reader(), requests: operatorRequests.reader(), snapshot: operatorSnapshot.writer())
        }
      }
    }
    let simulation = try runtime.simulation()
    SimulatedTime.report {
      var ticks: Int64 = 0
      while ticks < wanted { ticks += simulation.run(for: .seconds(60)) }
      return ticks
    }
    var reader = mailbox.state.reader()
    let seen = reader.read().state
    precondition(seen.counters.ignored == 0 && seen.counters.accepted > 0, "the closed loop does not close")
    withExtendedLifetime((network, bus, board)) {}
  }
}
