import Leg
import Tactus
import TactusSwarm
import Wire

/// The checks of an operator: whether its commands and its display agree with its person's inputs and with the frames
/// that arrived.
struct LegOperatorOracle {
  static let names = [
    "an operator arms once a press, sets the pulses that its person asks for, and a disarm is sent at once",
    "an operator that hears nothing for a second says so, and moves nothing by itself afterwards",
    "telemetry that says that a leg is not armed was true when it was sent",
  ]
  /// The index of the first check of an operator, after those of the legs.
  private static let first = LegOracle.own.count
  /// The index of the last check of an operator.
  static let telemetry = first + 2
  private static let lostAfter = Nanoseconds.seconds(1)

  /// The pulse at the person's slider.
  var aim = PulseWidth.middle
  /// The person's requests since the last tick.
  var asked: [LegOperatorRequest] = []
  /// The instant at which telemetry last came, or `nil` if none has.
  var heardAt: TickInstant?
  private var arms = 0
  private var isPeriodic = false
  private var hasQuit = false

  /// Checks the operator after a tick at `now`.
  mutating func check(
    sent: [LegCommand], _ snapshot: LegOperatorSnapshot, at now: TickInstant, _ output: inout SwarmOutput
  ) {
    let isSilent = heardAt.map { now - $0 >= Self.lostAfter } ?? true
    if isSilent { isPeriodic = false }
    // What comes before a quit in the same tick is sent.
    let hadQuit = hasQuit
    let (once, disarms) = applyRequests(isConnected: !isSilent)
    for command in sent {
      let isWanted: Bool
      switch command {
      case .arm:
        arms -= 1
        isWanted = arms >= 0 && !hadQuit
      case .setServo(let pulse): isWanted = (isPeriodic && pulse == aim || once.contains(pulse)) && !hadQuit
      case .disarm: isWanted = true
      case .ping: isWanted = !hadQuit
      }
      // A pulse that is sent by itself after a silence has its own invariant.
      if case .setServo = command, isSilent {
        output.check(Self.first + 1, isWanted, at: now, "it sends \(command), and has heard nothing")
      } else {
        output.check(Self.first, isWanted, at: now, "it sends \(command), the slider is at \(aim)")
      }
    }
    if disarms { output.check(Self.first, sent.contains(.disarm), at: now, "it sends \(sent) after a disarm") }
    output.check(
      Self.first + 1, !isSilent || snapshot.heard == nil, at: now,
      "it says \(snapshot.telemetryAge), and has heard nothing since \(heardAt.map(SwarmAction.text) ?? "the start")")
  }

  /// Applies the person's requests in the order in which they were made.
  ///
  /// - Returns: the pulses that must be sent once, and whether a disarm must be sent.
  private mutating func applyRequests(isConnected: Bool) -> (once: [PulseWidth], disarms: Bool) {
    var (once, disarms): ([PulseWidth], Bool) = ([], false)
    for request in asked where !hasQuit {
      switch request {
      case .arm: arms += 1
      case .disarm: (isPeriodic, disarms) = (false, true)
      case .sendOnce(let pulse): once.append(pulse)
      case .ping: break
      case .periodic(let isOn): isPeriodic = isOn && isConnected
      case .quit: hasQuit = true
      }
    }
    asked = []
    return (once, disarms && !hasQuit)
  }
}
