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
  /// The mailboxes of the loop, which a request releases at once. The controls are the pulse that the periodic mode sends.
  let mailbox: OperatorMailbox<PulseWidth, LegOperatorRequest, LegOperatorSnapshot>
  private let runtime: Runtime
  private let requestBell: Doorbell

  /// Creates the connection. Nothing is sent before `start`. `bell` is rung `refresh` times a second.
  init(_ link: LegLink, bell: DoorbellButton, refresh: Rate) throws {
    self.link = link
    let requestBell = try Doorbell()
    let mailbox = OperatorMailbox<PulseWidth, LegOperatorRequest, LegOperatorSnapshot>(
      .middle, LegOperatorSnapshot(), capacity: 64, bell: requestBell.button)
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
            port: port.take()!, control: control.take(), leg: link.leg, pulse: mailbox.controls.reader(),
            requests: mailbox.requests.reader(), requestBell: requestBell.input,
            snapshot: mailbox.snapshots.writer())
        }
      }
      Lane("refresh") { Loop("refresh", every: refresh) { BellLoop(bell: bell) } }
    }
    self.requestBell = requestBell
    self.mailbox = mailbox
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
}
