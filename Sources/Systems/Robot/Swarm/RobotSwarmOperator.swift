import Buses
import Robot
import Tactus
import TactusSwarm
import Wire

/// A person with the production operator loop in the swarm. Datagrams to the robot and its replies pass over a bad link. The operator
/// outlives the robot's daemon.
final class RobotSwarmOperator {
  /// The address from which the robot receives the operator's datagrams.
  static let endpoint = Endpoint.ipv4(192, 168, 1, 30, port: 50_000)
  private static let robot = Endpoint.ipv4(192, 168, 1, 2, port: 5005)
  static let period = Nanoseconds.milliseconds(50)

  var link: SwarmLink
  private(set) var nextTick: TickInstant
  private let network: SimulatedNetwork
  private let runtime: Runtime
  private let simulation: Simulation
  private var batch = DatagramBatch(capacity: 32, size: 1_024)
  private let mailbox = OperatorMailbox<OperatorInput, OperatorRequest, OperatorSnapshot>(
    .rest, OperatorSnapshot(), capacity: 16)
  private var oracle: RobotOperatorOracle

  /// Creates an operator whose program is started at `now`, with an existing link.
  init(at now: TickInstant, seed: UInt64, _ link: SwarmLink) throws(RuntimeError) {
    self.link = link
    nextTick = now
    let network = SimulatedNetwork([Self.endpoint, Self.robot], seed: seed, capacity: 32, datagramSize: 1_024)
    let mailbox = mailbox
    runtime = try Runtime {
      Lane("operator") {
        Loop("operator", every: .period(Self.period), phase: .zero, safeStateAfter: 3) {
          OperatorLoop(
            port: network.port(Self.endpoint), robot: Self.robot,
            // All programs of the person read the same clock.
            wallClockAtStart: 1_700_000_000_001_234 + now.nanoseconds / 1_000,
            input: mailbox.controls.reader(), requests: mailbox.requests.reader(),
            snapshot: mailbox.snapshots.writer())
        }
      }
    }
    simulation = try runtime.simulation(seed: seed, from: now)
    self.network = network
    oracle = RobotOperatorOracle(at: now)
  }

  /// Performs an action of the person.
  func apply(_ action: SwarmAction) {
    let speeds = WheelSpeeds(left: Percent(Double(action[0])), right: Percent(Double(action[1])))
    switch action.verb {
    case "op-stick":
      oracle.stick = speeds
      mailbox.set(speeds.isZero ? .rest : .wheels(speeds))
    case "op-stop": ask(.stop)
    case "op-e-stop": ask(.emergencyStop)
    case "op-reset": ask(.reset)
    case "op-quit": ask(.quit)
    default: break
    }
  }

  private func ask(_ request: OperatorRequest) {
    if mailbox.ask(request) { oracle.asked.append(request) }
  }

  /// Runs the operator's next tick: takes the replies that have arrived and sends its datagrams over the link.
  func tick(_ checks: inout SwarmOutput, _ truth: RobotTruth) {
    let now = nextTick
    nextTick = now + Self.period
    var robot = network.port(Self.robot)
    robot.now = now
    for message in link.arrived(.back, by: now) {
      oracle.heardAt = now
      message.bytes.withUnsafeBytes { _ = robot.send($0, to: Self.endpoint) }
    }
    _ = simulation.runTick(until: now)
    var sent: [RobotCommand] = []
    var isMore = true
    while isMore {
      isMore = robot.receive(into: &batch)
      for index in 0..<batch.count {
        guard let bytes = batch.bytes(index).map({ link.tampered(Array($0), .there) }),
          let message = bytes.withUnsafeBytes({ try? RobotMessage.decode($0) })
        else { continue }
        sent.append(message.command)
        link.send(bytes, .there, at: now)
      }
    }
    oracle.check(sent: sent, mailbox.newest, truth, at: now, &checks)
  }
}
