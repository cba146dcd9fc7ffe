import Buses
import BusesLinux
import Robot
import Tactus
import TactusDaemon

/// A running connection to a robot: the operator loop at 20 Hz, its mailboxes and a bell that is rung at each tick.
final class OperatorConnection {
  let robot: Endpoint
  private let socket: LinuxDatagramSocket
  private let runtime: Runtime
  private var input: LatestWriter<OperatorInput>
  private var requests: RingWriter<OperatorRequest>
  private var snapshot: LatestReader<OperatorSnapshot>

  /// Opens a socket. Nothing is sent before `start`.
  init(robot: Endpoint, bell: DoorbellButton) throws {
    self.robot = robot
    socket = try LinuxDatagramSocket(address: robot.isIPv4 ? "0.0.0.0" : "::", port: 0)
    let controls = Latest(OperatorInput.rest)
    let requests = Ring<OperatorRequest>(capacity: 64)
    let snapshot = Latest(OperatorSnapshot())
    let opened = socket.port()
    // A kernel socket has a descriptor.
    let arrival = LoopInput.descriptor(opened.descriptor!)
    var port: DatagramPort? = opened
    runtime = try Runtime {
      Lane("operator") {
        Loop("operator", every: .hertz(20), inputs: [arrival]) {
          OperatorLoop(
            port: port.take()!, robot: robot, wallClockAtStart: WallClock.microseconds, input: controls.reader(),
            requests: requests.reader(), snapshot: snapshot.writer())
        }
        // The bell is rung after the operator's tick, so that the display shows what has just been received.
        Loop("refresh", every: .hertz(20), after: "operator") { BellLoop(bell: bell) }
      }
    }
    input = controls.writer()
    self.requests = requests.writer()
    self.snapshot = snapshot.reader()
  }

  func start() throws(RuntimeError) { try runtime.start() }

  /// Stops the robot, then the loop.
  func stop() { runtime.stop() }

  /// Sets the controls, which are sent at every tick from the next one on.
  func steer(_ controls: OperatorInput) { input.write(controls) }

  /// Sends a request to the loop. Returns whether the queue had room; false means that 64 requests wait and the loop hangs.
  @discardableResult
  func ask(_ request: OperatorRequest) -> Bool { requests.push(request) }

  func newest() -> OperatorSnapshot { snapshot.read() }
}
