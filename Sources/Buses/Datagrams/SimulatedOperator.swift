import Tactus

/// One person at the controls of a simulated device: sets the inputs of an operator's loop and reads its outputs.
///
/// It is to be used from the thread that runs the simulation.
public final class SimulatedOperator<Controls: BitwiseCopyable, Request: BitwiseCopyable, Snapshot: BitwiseCopyable> {
  /// The address of the operator's socket.
  public let endpoint: Endpoint
  /// The mailboxes of the operator's loop.
  public let mailbox: OperatorMailbox<Controls, Request, Snapshot>

  /// Creates an operator whose loop begins with these controls and this snapshot.
  public init(_ endpoint: Endpoint, _ controls: Controls, _ snapshot: Snapshot) {
    self.endpoint = endpoint
    mailbox = OperatorMailbox(controls, snapshot, capacity: 16)
  }

  /// The newest snapshot of the operator's loop.
  public var snapshot: Snapshot { mailbox.newest }

  /// Moves the controls. The new position is sent from the next tick on.
  public func set(_ new: Controls) { mailbox.set(new) }

  /// Sends a request to the operator's loop. More requests between two ticks than the ring holds (16) are a programming error.
  public func request(_ request: Request) {
    let isTaken = mailbox.ask(request)
    precondition(isTaken, "too many requests between two ticks")
  }
}
