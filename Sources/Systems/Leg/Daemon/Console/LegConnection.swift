import Buses
import Leg
import Tactus
import TactusDaemon
import Wire

/// A running connection to a leg: the 50 Hz operator loop on a thread of its own, its mailboxes and a bell.
///
/// The keepalive never depends on a terminal: the loop runs at SCHED_FIFO where that is permitted.
final class LegConnection {
  let link: LegLink
  private let runtime: Runtime
  private let requestBell: Doorbell
  private var pulse: LatestWriter<PulseWidth>
  private var requests: RingWriter<LegOperatorRequest>
  private var snapshot: LatestReader<LegOperatorSnapshot>

  /// Creates the connection. Nothing is sent before `start`. `bell` is rung `refresh` times a second.
  init(_ link: LegLink, bell: DoorbellButton, refresh: Rate) throws {
    self.link = link
    let pulse = Latest(PulseWidth.middle)
    let requests = Ring<LegOperatorRequest>(capacity: 64)
    let snapshot = Latest(LegOperatorSnapshot())
    let requestBell = try Doorbell()
    let opened = link.port()
    // Every link that is open has a descriptor; only simulated ones have none.
    let arrival = LoopInput.descriptor(opened.descriptor!)
    var port: DatagramPort? = opened
    var control: LinkControl?
    if let make = link.control { control = make() }
    runtime = try Runtime {
      Lane("operator", scheduling: .fifo(50)) {
        Loop("operator", every: LegOperatorLoop.rate, inputs: [arrival, requestBell.loopInput]) {
          LegOperatorLoop(
            port: port.take()!, control: control.take(), leg: link.leg, pulse: pulse.reader(),
            requests: requests.reader(),
            requestBell: requestBell.input, snapshot: snapshot.writer())
        }
      }
      Lane("refresh") { Loop("refresh", every: refresh) { BellLoop(bell: bell) } }
    }
    self.requestBell = requestBell
    self.pulse = pulse.writer()
    self.requests = requests.writer()
    self.snapshot = snapshot.reader()
  }

  func start() throws(RuntimeError) { try runtime.start() }

  /// Disarms the leg if it may be armed, then ends the loop and the link.
  func stop() {
    runtime.stop()
    link.close()
  }

  /// The scheduling of the keepalive in words, for people.
  var scheduling: String {
    let report = runtime.reports.first { $0.lane == "operator" }
    guard let report, case .fifo(let priority) = report.effective else {
      return "keepalive at ordinary priority: SCHED_FIFO is not permitted"
    }
    return "keepalive at SCHED_FIFO \(priority)"
  }

  /// Sets the pulse that the periodic mode sends from its next tick on.
  func aim(at new: PulseWidth) { pulse.write(new) }

  /// Sends a request and releases the loop at once. Returns whether the queue had room; false means that 64 requests wait and the loop
  /// hangs.
  @discardableResult
  func ask(_ request: LegOperatorRequest) -> Bool {
    guard requests.push(request) else { return false }
    requestBell.button.ring()
    return true
  }

  func newest() -> LegOperatorSnapshot { snapshot.read() }
}
