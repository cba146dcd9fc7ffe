import Pump
import Tactus
import TactusSwarm
import Wire

/// Checks the lines that a pump's operator sends and the state it assumes, given the person's requests and the lines that arrived.
struct PumpOperatorOracle {
  static let names = [
    "an operator sends ON for a press, three times at most, and neither ON nor a speed after an OFF or an emergency stop",
    "an operator sends OFF at once, and again until the pump has said PUMP:OFF",
    "what the pump says of its motor was so when it was sent",
    "an operator says on or off as the pump did last, and that nobody answers 9 s after the last line",
    "an operator answers every request once, in order",
  ]
  /// The index of the first rule of an operator, after the pump's.
  private static let first = PumpOracle.own.count
  /// The index of the rule about what the pump reports.
  static let said = first + 2
  private static let attempts = 3
  /// The timeout of a reply, plus the tick that notices it.
  private static let repeatTime = Nanoseconds.milliseconds(1_200)
  /// The longest pause before a lost port is opened again, plus the tick that opens it.
  private static let reconnectTime = Nanoseconds.milliseconds(5_300)
  private static let silentAfter = Nanoseconds.seconds(9)

  /// The requests whose answers have not arrived yet.
  var asked: [PumpOrder] = []
  private var answered: UInt64 = 0
  /// The number of ONs that the last request to start still allows.
  private var starts = 0
  /// Whether a speed has been requested since the last stop.
  private var isSpeedWanted = false
  /// Whether the pump has reported since the last tick that it is on.
  private var hasStarted = false
  private var isStopped = false
  private var hasQuit = false
  private var owesOff = false
  /// Whether a `PUMP:OFF` has arrived while there was no connection.
  private var mayHaveHeardOff = false
  private var offAt: TickInstant?
  private var pluggedAt: TickInstant?
  /// Whether the pump is on according to its last line on this connection, or `nil` if no line has said so.
  private var isOn: Bool?
  private var heardAt: TickInstant
  private var isUp = false
  /// The received bytes of a line that is not complete yet.
  private var begun: [UInt8] = []

  /// Creates the oracle of an operator that is started at `now` and whose port can be opened.
  init(from now: TickInstant) { (pluggedAt, heardAt) = (now - Self.reconnectTime, now) }

  mutating func plugged(isIn: Bool, at now: TickInstant) {
    pluggedAt = isIn ? pluggedAt ?? now : nil
    begun = []
  }

  /// Notes bytes that have arrived at the operator.
  mutating func arrived(_ bytes: [UInt8], at now: TickInstant) {
    guard pluggedAt != nil else { return }
    for byte in bytes {
      guard byte == 0x0A || byte == 0x0D else {
        begun.append(byte)
        continue
      }
      let isWhole = begun.count <= PumpLineAssembler.standardCapacity
      if isWhole, let reply = PumpSwarmWire.reply(begun) { heard(reply, at: now) }
      begun = []
    }
  }

  private mutating func heard(_ reply: PumpReply, at now: TickInstant) {
    // A line that arrives while the connection is made anew may be discarded or be the first of the new connection.
    guard isUp else {
      if case .pump(isOn: false) = reply { mayHaveHeardOff = true }
      return
    }
    heardAt = now
    if case .pump(isOn: false) = reply { owesOff = false }
    guard let isOn = reply.isOn else { return }
    self.isOn = isOn
    if isOn { hasStarted = true }
  }

  /// Checks the result of a tick at `now`.
  mutating func check(
    sent: [PumpCommand], _ answers: [Answer<PumpIgnoreReason>], _ snapshot: PumpSnapshot, at now: TickInstant,
    _ output: inout SwarmOutput
  ) {
    if sent.contains(.off) { offAt = now }
    let (mostStarts, allowsSpeed) = receive(answers, at: now, &output)
    let ons = sent.count { $0 == .on }
    let speeds = sent.contains { if case .speed = $0 { true } else { false } }
    output.check(Self.first, ons <= mostStarts, at: now, "it sends \(sent), and \(mostStarts) ONs are left")
    output.check(Self.first, !speeds || allowsSpeed, at: now, "it sends \(sent), and nobody wants a speed")
    starts = hasStarted ? 0 : max(0, starts - ons)
    hasStarted = false
    if owesOff, let pluggedAt, now - pluggedAt >= Self.reconnectTime {
      output.check(
        Self.first + 1, offAt.map { now - $0 <= Self.repeatTime } ?? false, at: now,
        "its last OFF was at \(offAt.map(SwarmAction.text) ?? "no time")")
    }
    check(snapshot, at: now, &output)
  }

  private mutating func check(_ snapshot: PumpSnapshot, at now: TickInstant, _ output: inout SwarmOutput) {
    if !isUp || !snapshot.contact.isUp { (isOn, heardAt) = (nil, now) }
    if mayHaveHeardOff, snapshot.contact.isUp { (owesOff, mayHaveHeardOff) = (false, false) }
    isUp = snapshot.contact.isUp
    let isAsSaid: Bool
    switch snapshot.state {
    case .on: isAsSaid = isOn ?? true
    case .off(.confirmed): isAsSaid = !(isOn ?? false)
    default: isAsSaid = true
    }
    output.check(
      Self.first + 3, isAsSaid, at: now,
      "it says \(snapshot.state), and the pump said \(isOn.map { $0 ? "on" : "off" } ?? "nothing")")
    output.check(
      Self.first + 3, hasQuit || !snapshot.contact.isAnswering || now - heardAt <= Self.silentAfter, at: now,
      "it says that the pump answers, and the last line came at \(SwarmAction.text(heardAt)) s")
  }

  /// Processes the answers to the person's requests, in their order.
  ///
  /// - Returns: how many ONs this tick may send, and whether it may send speeds.
  private mutating func receive(
    _ answers: [Answer<PumpIgnoreReason>], at now: TickInstant, _ output: inout SwarmOutput
  ) -> (starts: Int, speed: Bool) {
    var most = (starts: starts, speed: isSpeedWanted)
    for answer in answers {
      let isNext = answer.number == answered + 1 && !asked.isEmpty
      output.check(Self.first + 4, isNext, at: now, "answer \(answer.number) came after answer \(answered)")
      answered = answer.number
      guard isNext, case let order = asked.removeFirst(), answer.verdict == .accepted else { continue }
      apply(order, at: now, &output)
      most = (max(most.starts, starts), most.speed || isSpeedWanted)
    }
    output.check(Self.first + 4, asked.isEmpty, at: now, "\(asked.count) requests have no answer")
    return most
  }

  private mutating func apply(_ order: PumpOrder, at now: TickInstant, _ output: inout SwarmOutput) {
    switch order {
    case .turnOn(let speed), .run(let speed, _):
      output.check(Self.first, !isStopped, at: now, "it accepts an ON, and is stopped")
      // A pump that runs accepts a speed only.
      if isOn != true { starts = Self.attempts }
      if speed != nil { isSpeedWanted = true }
    case .setSpeed: isSpeedWanted = true
    case .turnOff:
      stop()
      owesOff = true
    case .emergencyStop:
      stop()
      (owesOff, isStopped) = (true, true)
    case .quit:
      stop()
      // After `quit` the operator requests nothing any more.
      hasQuit = true
    case .reset: isStopped = false
    case .readTemperatures, .watched, .query: break
    }
  }

  private mutating func stop() { (starts, isSpeedWanted) = (0, false) }
}

extension PumpReply {
  /// Whether the line says that the pump is on, or `nil` if the line does not contain the pump's state.
  var isOn: Bool? {
    switch self {
    case .pump(let isOn), .manual(let isOn): isOn
    case .status(let status): status.state.map { $0 == .on }
    case .error(.safetyShutoff), .error(.startFailed): false
    case .error, .ok, .speed, .temperatures, .remark: nil
    }
  }
}
