import Buses
import BusesLinux
import Robot
import Tactus
import TactusDaemon

/// A running connection to a robot: the operator loop at 20 Hz, its mailboxes and a bell that is rung at each tick.
final class OperatorConnection {
  let robot: Endpoint
  let mailbox = OperatorMailbox<OperatorInput, OperatorRequest, OperatorSnapshot>(
    .rest, OperatorSnapshot(), capacity: 64)
  private let socket: LinuxDatagramSocket
  private let runtime: Runtime

  /// Opens a socket. Nothing is sent before `start`.
  init(robot: Endpoint, bell: DoorbellButton) throws {
    self.robot = robot
    socket = try LinuxDatagramSocket(address: robot.isIPv4 ? "0.0.0.0" : "::", port: 0)
    let mailbox = mailbox
    let opened = socket.port()
    // A kernel socket has a descriptor.
    let arrival = LoopInput.descriptor(opened.descriptor!)
    var port: DatagramPort? = opened
    runtime = try Runtime {
      Lane("operator") {
        Loop("operator", every: .hertz(20), inputs: [arrival]) {
          OperatorLoop(
            port: port.take()!, robot: robot, wallClockAtStart: WallClock.microseconds,
            input: mailbox.controls.reader(), requests: mailbox.requests.reader(),
            snapshot: mailbox.snapshots.writer())
        }
        // The bell is rung after the operator's tick, so that the display shows what has just been received.
        Loop("refresh", every: .hertz(20), after: "operator") { BellLoop(bell: bell) }
      }
    }
  }

  func start() throws(RuntimeError) { try runtime.start() }

  /// Stops the robot, then the loop.
  func stop() { runtime.stop() }
}
