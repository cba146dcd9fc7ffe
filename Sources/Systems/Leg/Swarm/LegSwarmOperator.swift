import Buses
import Leg
import Tactus
import TactusSwarm
import Wire

/// A person with the production operator loop of the first leg in the swarm. Frames to the leg and its telemetry pass over a bad link.
/// The operator outlives the leg's daemon.
final class LegSwarmOperator {
  /// The address from which the leg receives the operator's frames.
  static let endpoint = Endpoint.ipv4(192, 168, 1, 30, port: 50_000)
  private static let leg = Endpoint.ipv4(192, 168, 1, 2, port: 5010)

  var link: SwarmLink
  private(set) var nextTick: TickInstant
  private let network: SimulatedNetwork
  private let runtime: Runtime
  private let simulation: Simulation
  private var batch = DatagramBatch(capacity: 32, size: 64)
  private let mailbox = OperatorMailbox<PulseWidth, LegOperatorRequest, LegOperatorSnapshot>(
    .middle, LegOperatorSnapshot(), capacity: 16)
  private var oracle = LegOperatorOracle()

  /// Creates an operator whose program is started at `now`, with an existing link.
  init(at now: TickInstant, seed: UInt64, _ link: SwarmLink) throws(RuntimeError) {
    self.link = link
    nextTick = now
    let network = SimulatedNetwork([Self.endpoint, Self.leg], seed: seed, capacity: 32, datagramSize: 64)
    let mailbox = mailbox
    runtime = try Runtime {
      Lane("operator") {
        Loop("operator", every: LegOperatorLoop.rate, phase: .zero, safeStateAfter: 3) {
          LegOperatorLoop(
            port: network.port(Self.endpoint), leg: Self.leg, pulse: mailbox.controls.reader(),
            requests: mailbox.requests.reader(), snapshot: mailbox.snapshots.writer())
        }
      }
    }
    simulation = try runtime.simulation(seed: seed, from: now)
    self.network = network
  }

  /// Performs an action of the person.
  func apply(_ action: SwarmAction) {
    let width = PulseWidth(microseconds: UInt16(clamping: action[1]))
    switch action.verb {
    case "op-aim":
      oracle.aim = width
      mailbox.set(width)
    case "op-arm": ask(.arm)
    case "op-disarm": ask(.disarm)
    case "op-send": ask(.sendOnce(width))
    case "op-ping": ask(.ping)
    case "op-periodic": ask(.periodic(action[1] > 0))
    case "op-quit": ask(.quit)
    default: break
    }
  }

  private func ask(_ request: LegOperatorRequest) {
    if mailbox.ask(request) { oracle.asked.append(request) }
  }

  /// Runs the operator's next tick: takes the telemetry that has arrived and sends its frames over the link.
  func tick(_ checks: inout SwarmOutput) {
    let now = nextTick
    nextTick = now + LegOperatorLoop.rate.period
    var leg = network.port(Self.leg)
    leg.now = now
    for message in link.arrived(.back, by: now) {
      oracle.heardAt = now
      message.bytes.withUnsafeBytes { _ = leg.send($0, to: Self.endpoint) }
    }
    _ = simulation.runTick(until: now)
    var sent: [LegCommand] = []
    var isMore = true
    while isMore {
      isMore = leg.receive(into: &batch)
      for index in 0..<batch.count {
        guard let bytes = batch.bytes(index).map({ link.tampered(Array($0), .there) }),
          let command = bytes.withUnsafeBytes({ try? LegCommand.decode($0) })
        else { continue }
        sent.append(command)
        link.send(bytes, .there, at: now)
      }
    }
    oracle.check(sent: sent, mailbox.newest, at: now, &checks)
  }
}
