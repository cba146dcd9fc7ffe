import Leg
import Tactus
import TactusDaemon
import Wire

/// The decisions of a scripted operation: the next request, and in the end whether the leg obeyed. The type has no side
/// effects.
struct LegScript {
  enum Motion: Equatable {
    case hold(PulseWidth)
    /// Moves from one pulse to the other and back; each motion takes `over`.
    case sweep(from: PulseWidth, to: PulseWidth, over: Nanoseconds)

    func pulse(after elapsed: Nanoseconds) -> PulseWidth {
      switch self {
      case .hold(let pulse): return pulse
      case .sweep(let from, let to, let over):
        let place = elapsed.inSeconds.truncatingRemainder(dividingBy: 2 * over.inSeconds) / over.inSeconds
        let share = place <= 1 ? place : 2 - place
        let width = Double(from.microseconds) + share * (Double(to.microseconds) - Double(from.microseconds))
        return .microseconds(UInt16(saturating: width.rounded()))
      }
    }
  }

  struct Task: Equatable {
    /// Whether the task begins with a disarm, which also ends a fault.
    var disarms = false
    var arms = false
    var motion: Motion?
    /// The duration of the task, or `nil` if the task is only a disarm.
    var duration: Nanoseconds?
  }

  /// One step of a script: the action to take.
  struct Step: Equatable {
    var request: LegOperatorRequest?
    var pulse: PulseWidth?
    /// The outcome if the script ends here, or `nil` if it goes on.
    var end: Outcome?
  }

  enum Outcome: Equatable {
    case obeyed
    case disobeyed(String)
  }

  private enum Phase: Equatable {
    case connecting
    case disarming
    case arming
    case running
    case quitting
  }

  /// The longest time to wait for telemetry.
  private let connectPatience: Nanoseconds
  /// The longest time that a command may take until telemetry shows its effect.
  private static let patience = Nanoseconds.seconds(2)
  private static let repeatsAfter = Nanoseconds.milliseconds(300)

  let task: Task
  private var phase = Phase.connecting
  private var since: TickInstant?
  private var askedAt: TickInstant?
  private var complaint: String?

  init(_ task: Task, patience: Nanoseconds = .seconds(5)) {
    self.task = task
    connectPatience = patience
  }

  /// Returns the next step. The function is to be called with every snapshot until a step has an end.
  mutating func step(_ snapshot: LegOperatorSnapshot) -> Step {
    let start = since ?? snapshot.at
    since = start
    let elapsed = snapshot.at - start
    switch phase {
    case .connecting:
      if let telemetry = snapshot.heard?.telemetry { return begin(telemetry, at: snapshot.at) }
      guard elapsed < connectPatience else {
        let blind = task.disarms ? " A disarm was sent all the same, and is not confirmed" : ""
        return failure("no telemetry: is a leg listening there?" + blind)
      }
      // A leg that is not heard may hear.
      if task.disarms {
        if askedAt != nil { return again(.disarm, at: snapshot.at) }
        askedAt = snapshot.at
        return Step(request: .disarm)
      }
    case .disarming:
      if let heard = snapshot.heard, heard.at > start, heard.telemetry.state == .disarmed {
        return task.arms || task.motion != nil ? arm(at: snapshot.at) : enter(.quitting, at: snapshot.at, .quit)
      }
      guard elapsed < Self.patience else { return failure("the leg did not disarm (\(text(of: snapshot)))") }
      return again(.disarm, at: snapshot.at)
    case .arming:
      if let heard = snapshot.heard, heard.at > start, heard.telemetry.state == .armed { return run(at: snapshot.at) }
      guard elapsed < Self.patience else { return failure("the leg did not arm (\(text(of: snapshot)))") }
      return again(.arm, at: snapshot.at)
    case .running: return running(snapshot, elapsed)
    case .quitting:
      if case .finished = snapshot.state, let heard = snapshot.heard, heard.at > start,
        heard.telemetry.state == .disarmed
      {
        return Step(end: complaint.map { .disobeyed($0) } ?? .obeyed)
      }
      guard elapsed < Self.patience else { return failure("the disarm was not confirmed (\(text(of: snapshot)))") }
    }
    return Step()
  }

  private mutating func begin(_ telemetry: LegTelemetry, at now: TickInstant) -> Step {
    if task.disarms { return enter(.disarming, at: now, .disarm) }
    switch telemetry.state {
    case .disarmed where task.arms: return arm(at: now)
    case .armed: return run(at: now)
    case .disarmed: return failure("the leg is disarmed: give --arm")
    case .fault: return failure("the leg is in fault (\(telemetry.error)): give --disarm to leave it first")
    }
  }

  private mutating func arm(at now: TickInstant) -> Step {
    guard task.arms else { return failure("the leg is disarmed: give --arm") }
    return enter(.arming, at: now, .arm)
  }

  private mutating func run(at now: TickInstant) -> Step {
    var step = enter(.running, at: now, nil)
    if let motion = task.motion {
      step.pulse = motion.pulse(after: .zero)
      step.request = .periodic(true)
    }
    return step
  }

  private mutating func running(_ snapshot: LegOperatorSnapshot, _ elapsed: Nanoseconds) -> Step {
    guard let telemetry = snapshot.heard?.telemetry else { return failure("the leg has fallen silent") }
    guard telemetry.state == .armed else { return failure("the leg did not stay armed (\(text(of: snapshot)))") }
    if telemetry.error != .none { complaint = "the leg reported an error: \(telemetry.error)" }
    guard let duration = task.duration, elapsed < duration else { return enter(.quitting, at: snapshot.at, .quit) }
    return Step(pulse: task.motion?.pulse(after: elapsed))
  }

  private mutating func enter(_ next: Phase, at now: TickInstant, _ request: LegOperatorRequest?) -> Step {
    phase = next
    since = now
    askedAt = now
    return Step(request: request)
  }

  /// Repeats a request, as a person would, because its datagram may have been lost.
  private mutating func again(_ request: LegOperatorRequest, at now: TickInstant) -> Step {
    guard let askedAt, now - askedAt >= Self.repeatsAfter else { return Step() }
    self.askedAt = now
    return Step(request: request)
  }

  private func failure(_ text: String) -> Step { Step(end: .disobeyed(text)) }

  private func text(of snapshot: LegOperatorSnapshot) -> String {
    guard let telemetry = snapshot.heard?.telemetry else { return "no telemetry" }
    return "\(telemetry.state)" + (telemetry.error == .none ? "" : ": \(telemetry.error)")
  }
}

/// Runs a `LegScript` and prints events as they happen. The exit status is 0 if the leg obeyed.
struct ScriptedLeg: OperatorCommand {
  private let connection: LegConnection
  private var script: LegScript
  private var journal = LegJournal()

  init(_ connection: LegConnection, _ task: LegScript.Task) {
    self.connection = connection
    script = LegScript(task, patience: connection.link.patience)
  }

  mutating func interrupt() -> Int32? {
    complain("interrupted; a leg that is armed is being disarmed")
    return 1
  }

  mutating func refresh() -> Int32? {
    let snapshot = connection.mailbox.newest
    // The snapshot has no instant before the first tick.
    guard snapshot.at != .zero else { return nil }
    for line in journal.observe(snapshot, trouble: connection.link.trouble()) { printAtOnce(line + "\n") }
    let step = script.step(snapshot)
    if let pulse = step.pulse { connection.mailbox.set(pulse) }
    if let request = step.request { connection.mailbox.ask(request) }
    switch step.end {
    case nil: return nil
    case .obeyed:
      let text = "obeyed; \(snapshot.sent) frames sent, \(snapshot.received) received"
      printAtOnce(journal.note(text, at: snapshot.at) + "\n")
      return 0
    case .disobeyed(let reason):
      let trouble = connection.link.trouble().map { "; the link: \($0)" } ?? ""
      complain("\(connection.link.name): \(reason)\(trouble)")
      return 1
    }
  }
}
