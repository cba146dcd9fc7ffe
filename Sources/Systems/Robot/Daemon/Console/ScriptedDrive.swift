@_spi(FromOutside) import Conversions
import Robot
import Tactus
import TactusDaemon
import Wire

/// A scripted drive: performs one task, then ends with an exit status.
struct ScriptedDrive: OperatorCommand {
  enum Task: Equatable {
    case drive(OperatorInput, for: Nanoseconds)
    case emergencyStop
    case reset
  }

  let connection: OperatorConnection
  let task: Task
  private var startedAt: TickInstant?
  private var askedAt: TickInstant?
  /// The reason why the robot refused the newest command of the drive, or `nil` if it did not; the stop at its end is never refused.
  private var refusal: String?

  /// The time for which an e-stop or a reset is tried. A reset is refused until every stick has been at rest for a failsafe timeout, which may be a
  /// second and more.
  private static let patience = Nanoseconds.seconds(5)

  private static let stoodStill =
    "this program stood still for a second or more, as when it is suspended: the robot was stopped, and was not driven on"

  init(connection: OperatorConnection, task: Task) {
    self.connection = connection
    self.task = task
  }

  /// Performs the task and prints the result. Throws the exit status unless the robot has obeyed.
  mutating func run(events: borrowing ServiceEvents) throws {
    if case .drive(let input, _) = task {
      connection.mailbox.set(input)
      // A stick at rest requests nothing, but a person who gives zero speeds requests a stop.
      if input.isRest { connection.mailbox.ask(.stop) }
    }
    try operate(events: events)
  }

  mutating func interrupt() -> Int32? {
    connection.mailbox.ask(.quit)
    complain("interrupted; the robot was told to stop")
    return 1
  }

  mutating func refresh() -> Int32? { step(connection.mailbox.newest) }

  private mutating func step(_ snapshot: OperatorSnapshot) -> Int32? {
    let start = startedAt ?? snapshot.at
    startedAt = start
    let elapsed = snapshot.at - start
    let state = snapshot.heard?.reply.state
    switch task {
    case .drive(_, let duration):
      if case .finished = snapshot.state {
        guard snapshot.standstills == 0 else { return fail(Self.stoodStill) }
        return report(snapshot, succeeded: wasDriven(snapshot))
      }
      if elapsed >= duration || snapshot.standstills > 0 { connection.mailbox.ask(.quit) } else { note(snapshot) }
      return nil
    case .emergencyStop:
      if askedAt == nil { ask(.emergencyStop, at: snapshot.at) }
      if state == .emergencyStop { return report(snapshot, succeeded: true) }
    case .reset:
      if let askedAt, snapshot.at - askedAt > .milliseconds(100), state == .stopped || state == .driving {
        return report(snapshot, succeeded: true)
      }
      // The reset is repeated, because its datagram may be lost or come before the robot allows a reset.
      if askedAt.map({ snapshot.at - $0 >= .milliseconds(300) }) ?? true { ask(.reset, at: snapshot.at) }
    }
    return elapsed > Self.patience ? report(snapshot, succeeded: false) : nil
  }

  private mutating func note(_ snapshot: OperatorSnapshot) {
    guard let reply = snapshot.heard?.reply else { return }
    refusal = IgnoreReason.allCases.first { $0.shortText == reply.reason }.map(\.sentence)
  }

  private mutating func ask(_ request: OperatorRequest, at now: TickInstant) {
    connection.mailbox.ask(request)
    askedAt = now
  }

  /// Returns whether the robot obeys: it answered, did not refuse the last command, and is in neither an e-stop nor a fault.
  private func wasDriven(_ snapshot: OperatorSnapshot) -> Bool {
    // A robot that is stopped gives a reason as well. Only the reasons of `IgnoreReason` mean that it refused a command.
    guard let reply = snapshot.heard?.reply, refusal == nil,
      !IgnoreReason.allCases.contains(where: { $0.shortText == reply.reason })
    else { return false }
    return reply.state == .stopped || reply.state == .driving
  }

  private func report(_ snapshot: OperatorSnapshot, succeeded: Bool) -> Int32 {
    guard let heard = snapshot.heard else {
      return fail("no reply from \(connection.robot): is tactus running there? (\(snapshot.sent) datagrams sent)")
    }
    let reason = (refusal ?? heard.reply.reason.map { "\($0)" }).map { ": \($0)" } ?? ""
    let text =
      "robot \(heard.reply.state.words)\(reason); \(snapshot.sent) sent, \(snapshot.replies) answered, round trip "
      + DriveScreen.milliseconds(heard.roundTrip)
    guard succeeded else { return fail(text) }
    print(text)
    return 0
  }

  /// Complains and returns the exit status of a failure. Of an emergency stop it says that it may not have stopped anything.
  private func fail(_ text: String) -> Int32 {
    if task == .emergencyStop {
      complain("E-STOP is NOT CONFIRMED: \(text). What still moves can only be stopped by its power switch.")
    } else {
      complain(text)
    }
    return 1
  }
}
