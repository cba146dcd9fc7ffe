import Pump
import Tactus
import Wire

/// Operates a pump for a script: decides what to request next, and in the end whether the pump obeyed. Performs no input or output.
struct PumpScript {
  enum Task: Equatable {
    /// The script reports the pump's state.
    case status
    /// Runs the pump for the given time, then turns it off.
    case pump(PumpSpeed?, for: Nanoseconds)
    case off
    /// The script resets the pump, which ends a fault.
    case reset
  }

  /// The script's next action.
  struct Step: Equatable {
    var request: PumpOrder?
    /// The outcome if the script has ended, `nil` otherwise.
    var end: Outcome?
  }

  enum Outcome: Equatable {
    case obeyed
    case disobeyed(String)
  }

  private enum Phase: Equatable {
    case connecting
    case asked
    case pumping
    case ending
  }

  /// The end of the message about a pump that does not answer and may receive the OFF nevertheless.
  private static let blindOff =
    " OFF is sent all the same, and is not confirmed: a pump that runs on is stopped by its power switch"

  /// The longest time that the pump may take to obey.
  private static let patience = Nanoseconds.seconds(5)

  let task: Task
  /// Whether the pump must be turned off at the end: it may be running because of this script, or `--off` has not been confirmed. A refusal leaves the
  /// pump as it was.
  private(set) var mayPump: Bool
  /// The timeout for finding the pump and receiving its first report.
  private let connectingPatience: Nanoseconds
  private var phase = Phase.connecting
  private var since: TickInstant?

  init(_ task: Task, patience: Nanoseconds = .seconds(5)) {
    self.task = task
    mayPump = task == .off
    connectingPatience = patience
  }

  /// Advances the script. The function is to be called with every snapshot until a step has an end. `refusal` is the reason why a request was
  /// refused, if one was.
  mutating func step(_ snapshot: PumpSnapshot, refusal: PumpIgnoreReason?) -> Step {
    let start = since ?? snapshot.at
    since = start
    if let refusal, phase != .ending {
      if phase == .asked, task != .off { mayPump = false }
      return failure("\(refusal); it is \(snapshot.state)")
    }
    let isLate = snapshot.at - start >= (phase == .connecting ? connectingPatience : Self.patience)
    switch phase {
    case .connecting:
      if snapshot.contact.isAnswering, snapshot.state != .unknown { return begin(snapshot) }
      return isLate ? failure("no answer: is a pump listening there?" + (task == .off ? Self.blindOff : "")) : Step()
    case .asked:
      if isDone(snapshot.state) {
        guard case .pump = task else {
          mayPump = false
          return Step(end: .obeyed)
        }
        enter(.pumping, at: snapshot.at)
        return Step()
      }
      return isLate ? failure("it did not obey: \(snapshot.state)") : Step()
    case .pumping:
      guard case .pump(_, let duration) = task else { return failure("no such task") }
      guard case .on = snapshot.state else { return failure("it stopped by itself: \(snapshot.state)") }
      guard snapshot.at - start >= duration else { return Step() }
      enter(.ending, at: snapshot.at)
      return Step(request: .quit)
    case .ending:
      if snapshot.state == .shutDown(.confirmed) { return Step(end: .obeyed) }
      return isLate ? failure("the pump has not confirmed the off") : Step()
    }
  }

  private mutating func begin(_ snapshot: PumpSnapshot) -> Step {
    enter(.asked, at: snapshot.at)
    switch task {
    case .status: return Step(end: .obeyed)
    case .off: return Step(request: .turnOff)
    case .reset: return Step(request: .reset)
    case .pump(let speed, _):
      mayPump = true
      if case .on = snapshot.state { return speed.map { Step(request: .setSpeed($0)) } ?? Step() }
      return Step(request: .turnOn(speed))
    }
  }

  private func isDone(_ state: PumpOperatorState) -> Bool {
    switch task {
    case .status: return true
    case .off: return state.off == .confirmed
    case .reset: return state == .off(.confirmed)
    case .pump:
      if case .on = state { return true }
      return false
    }
  }

  private mutating func enter(_ next: Phase, at now: TickInstant) {
    phase = next
    since = now
  }

  private func failure(_ reason: String) -> Step { Step(end: .disobeyed(reason)) }
}
