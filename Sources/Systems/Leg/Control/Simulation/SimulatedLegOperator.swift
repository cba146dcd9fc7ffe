import Buses
import Tactus
import Wire

/// One person at the controls of a simulated leg: sets the inputs of a `LegOperatorLoop` and reads its outputs.
///
/// It is to be used from the thread that runs the simulation.
public final class SimulatedLegOperator {
  public let endpoint: Endpoint
  private var pulseWriter: LatestWriter<PulseWidth>
  private var requestWriter: RingWriter<LegOperatorRequest>
  private var snapshotReader: LatestReader<LegOperatorSnapshot>
  private let pulse = Latest(PulseWidth.middle)
  private let requests = Ring<LegOperatorRequest>(capacity: 16)
  private let output = Latest(LegOperatorSnapshot())

  init(_ endpoint: Endpoint) {
    self.endpoint = endpoint
    pulseWriter = pulse.writer()
    requestWriter = requests.writer()
    snapshotReader = output.reader()
  }

  func loop(leg: Endpoint, on network: SimulatedNetwork, pingsByItself: Bool) -> LegOperatorLoop {
    LegOperatorLoop(
      port: network.port(endpoint), leg: leg, pulse: pulse.reader(), requests: requests.reader(),
      snapshot: output.writer(), pingsByItself: pingsByItself)
  }

  /// Moves the slider. The new pulse is sent from the next tick on while the periodic mode is on.
  public func aim(at new: PulseWidth) { pulseWriter.write(new) }

  /// Sends a request to the operator's loop. More requests between two ticks than the ring holds (16) are a programming error.
  public func request(_ request: LegOperatorRequest) {
    let isTaken = requestWriter.push(request)
    precondition(isTaken, "too many requests between two ticks")
  }

  public var snapshot: LegOperatorSnapshot { snapshotReader.read() }
}
