import Buses
import Tactus

/// One person at the controls of a simulated robot: sets the inputs of an `OperatorLoop` and reads its outputs.
///
/// It is to be used from the thread that runs the simulation.
public final class SimulatedOperator {
  public let endpoint: Endpoint
  private var inputWriter: LatestWriter<OperatorInput>
  private var requestWriter: RingWriter<OperatorRequest>
  private var snapshotReader: LatestReader<OperatorSnapshot>
  private let input = Latest(OperatorInput.rest)
  private let requests = Ring<OperatorRequest>(capacity: 16)
  private let output = Latest(OperatorSnapshot())

  init(_ endpoint: Endpoint) {
    self.endpoint = endpoint
    inputWriter = input.writer()
    requestWriter = requests.writer()
    snapshotReader = output.reader()
  }

  /// Returns the operator's loop. `wallClockAtStart` is an arbitrary date, since the robot never compares a timestamp with its own clock.
  func loop(robot: Endpoint, on network: SimulatedNetwork) -> OperatorLoop {
    OperatorLoop(
      port: network.port(endpoint), robot: robot, wallClockAtStart: 1_700_000_000_250_000, input: input.reader(),
      requests: requests.reader(), snapshot: output.writer())
  }

  /// Moves the controls. The new position is sent from the next tick on.
  public func set(_ new: OperatorInput) { inputWriter.write(new) }

  /// Sends a request to the operator's loop. More requests between two ticks than the ring holds (16) are a programming error.
  public func request(_ request: OperatorRequest) {
    let isTaken = requestWriter.push(request)
    precondition(isTaken, "too many requests between two ticks")
  }

  public var snapshot: OperatorSnapshot { snapshotReader.read() }
}
