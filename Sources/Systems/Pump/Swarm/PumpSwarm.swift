import Buses
import Logging
import Pump
import PumpDaemon
import Store
import Synchronization
import Tactus
import TactusDaemon
import TactusSwarm

/// A pump in the swarm: the daemon has the device role (`pump.role: device`), simulated apps and an operator send lines and requests, and the running
/// time is kept in a store that survives the daemon.
final class PumpSwarm: SwarmLoopPart {
  /// Settings with limits so short that a minute contains several runs and rests.
  static let settings = try! PumpDeviceSettings(runLimit: .seconds(8), rest: .seconds(6))
  /// The settings to which a history's reloads change.
  static let files = [
    settings, try! PumpDeviceSettings(runLimit: .seconds(5), rest: .seconds(9)),
    try! PumpDeviceSettings(runLimit: .seconds(12), rest: .seconds(4)),
  ]

  let name = "pump"
  private let seed: UInt64
  private var rules: SwarmRules<PumpRules>
  private let tamper: SwarmLink.Tamper?
  private let world = PumpWorld()
  private let cable: PumpCable
  private let store = SimulatedPumpLimit()
  var oracle = PumpOracle()
  private var exercise = SwarmExercise(states: ["off", "on", "fault", "emergencyStopped", "shutDown"])
  var exercised: [String: Int] { exercise.counts }
  private var daemon: Daemon?
  var loop: SwarmLoop? { daemon?.loop }
  /// The operator, or `nil` until the history starts one.
  private var person: PumpSwarmOperator?
  /// The transmitted bytes of a line to the pump that is not complete yet.
  private var begun: [UInt8] = []

  /// The parts that end with the daemon's process.
  private struct Daemon {
    let loop: SwarmLoop
    let client: PumpMailbox.Client
    let keeper: PumpLimitKeeper
    var nextBeat: TickInstant
  }

  /// Creates the pump of one history.
  ///
  /// - Parameters:
  ///   - files: the loop's rules at its start and after each reload; the oracle checks against the standard ones.
  ///   - tamper: changes the operator's lines, as in `SwarmLink`.
  init(seed: UInt64, files: [PumpDeviceSettings] = PumpSwarm.files, tamper: SwarmLink.Tamper? = nil) {
    (self.seed, self.tamper) = (seed, tamper)
    rules = SwarmRules(files.map { PumpRules(own: $0) })
    cable = PumpCable(seed: seed)
  }

  var isEmergencyStopped: Bool {
    if case .emergencyStopped? = daemon?.client.newest().state.own?.state { true } else { false }
  }

  var remoteWords: [String: String] { ["off": "ask-off", "on": "ask-on"] }

  func plan(_ plan: inout SwarmPlanner) { PumpSwarmPlan.plan(&plan) }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    let keeper = PumpLimitKeeper(
      store, boot: BootID("1"), logger: Logger(label: "swarm") { _ in SwiftLogNoOpLogHandler() })
    let governor = keeper.resume(rules.saved.own.governor(), now: now, bootNow: now)
    let mailbox = try PumpMailbox(own: rules.saved.own)
    rules.start(mailbox.rules)
    let bell = SimulatedInput()
    let runtime = try Runtime(externalStops: cover.stops) {
      Lane("pump") {
        Loop(
          "pump-device", every: PumpDeviceLoop.rate, phase: .zero, safeStateAfter: 3,
          inputs: [.simulated(cable.deviceInput), .simulated(bell)]
        ) {
          PumpDeviceLoop(
            mailbox.loopEnds(requestBell: bell.doorbell), governor: governor,
            link: PumpLink(serial: cable.devicePort()),
            motor: world.motor(), inputs: world.inputs())
        }
      }
    }
    let client = mailbox.client()
    let loop = try SwarmLoop(
      runtime, "pump-device", lane: "pump", mailbox.state.version, bell: bell, seed: seed, at: now
    ) { client.takeAnswers().map(\.number) }
    daemon = Daemon(loop: loop, client: client, keeper: keeper, nextBeat: now)
    oracle.started(at: now, cover, Self.files[rules.number])
  }

  func change(to number: Int64) -> (any RulesChange)? { rules.change(of: name, to: number) }

  func changed(to number: Int64) {
    if rules.changed(to: number) { oracle.changed(to: Self.files[rules.number]) }
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    daemon = nil
    // The bytes on the line are lost with the process that read them.
    cable.unplug()
    cable.plugIn()
    begun = []
    person?.pumpDied()
    oracle.killed(at: now, safeBy: safeBy)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    guard let daemon,
      let isConfirmed = stopLoop(at: now, isActive: outputs, isConfirmed: { daemon.client.newest().isSafe })
    else { return (false, .known) }
    seeState()
    keep(daemon, at: now)
    return (isConfirmed, .known)
  }

  func freeze(at now: TickInstant, for span: Nanoseconds) {
    guard let daemon else { return }
    self.daemon?.nextBeat = max(daemon.nextBeat, now + span)
    freezeLoop(at: now, for: span)
  }

  func run(until instant: TickInstant) {
    while let person, case let due = person.nextTick, due <= instant {
      // The operator's earlier deadlines come before the bytes that it reads in this tick.
      put(person.run(until: due - .nanoseconds(1), &oracle), at: due)
      runBeats(until: due)
      put(person.tick(heard(at: due), &oracle), at: due)
    }
    runBeats(until: instant)
    // The person's next action comes after the operator's deadlines until now.
    if let person { put(person.run(until: instant, &oracle), at: instant) }
    // Without an operator, an app reads the pump's lines, so that the line does not fill.
    if person == nil { _ = heard(at: instant) }
    seeState()
  }

  private func seeState() {
    guard let state = daemon?.client.newest().state.own?.state else { return }
    let word =
      switch state {
      case .off: "off"
      case .on: "on"
      case .error: "fault"
      case .emergencyStopped: "emergencyStopped"
      case .shutDown: "shutDown"
      }
    exercise.see(state: word)
  }

  private func runBeats(until instant: TickInstant) {
    while let daemon, daemon.nextBeat <= instant {
      runTicks(until: daemon.nextBeat)
      keep(daemon, at: daemon.nextBeat)
    }
    runLoop(until: instant)
  }

  func ticked(at now: TickInstant) { if person != nil { oracle.listen(at: now) } }

  /// Does the work of the daemon's other threads ten times a second: stores the running time.
  private func keep(_ daemon: Daemon, at now: TickInstant) {
    self.daemon?.nextBeat = now + .milliseconds(100)
    _ = daemon.client.takeNotices()
    let newest = daemon.client.newest()
    if newest.at > .zero { daemon.keeper.keep(newest.state.governor, now: now, bootNow: now) }
  }

  /// Whether the motor's output is on.
  var outputs: Bool { world.reading.duty.duty > 0 }

  func makeSafe(at now: TickInstant) -> Bool {
    let wasPumping = outputs
    var motor = world.motor()
    motor.now = now
    let isConfirmed = isConfirmed { () throws(PWMError) in try motor.set(active: .zero) }
    oracle.cut(wasPumping: wasPumping, isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }

  func emergencyStop(at now: TickInstant) { ask(.emergencyStop, at: now) }
  func reset(at now: TickInstant) { ask(.reset, at: now) }

  func apply(_ action: SwarmAction) {
    if operate(action) || disturb(action) { return }
    let now = action.at
    switch action.verb {
    case "line-on": put(Array("ON\n".utf8), at: now)
    case "line-off": put(Array("OFF\n".utf8), at: now)
    case "line-speed": put(Array("SPEED:\(action[0])\n".utf8), at: now)
    case "line-noise": put(Array("ON?\(action[0])\n".utf8), at: now)
    case "ask-on": ask(.turnOn(nil), at: now)
    case "ask-off": ask(.turnOff, at: now)
    case "ask-e-stop": emergencyStop(at: now)
    case "ask-reset": reset(at: now)
    case "output-gone":
      if action[0] > 0 { world.inject(.outputGone) } else { world.clear(.outputGone) }
      oracle.output.reach.bus(isFaulty: action[0] > 0, at: now)
    default: break
    }
  }

  // MARK: The operator

  /// Carries out an action of the person or of the wire. Returns whether the action was one of these.
  private func operate(_ action: SwarmAction) -> Bool {
    guard action.verb.hasPrefix("op-") || action.verb.hasPrefix("wire") else { return false }
    if person == nil || action.verb == "op-start" {
      let wire = person?.wire.emptied ?? PumpSwarmWire(seed: seed, tamper)
      person = try! PumpSwarmOperator(at: action.at, seed: seed, wire)
    }
    if !person!.wire.apply(action) { person!.apply(action) }
    return true
  }

  /// Returns the bytes that the pump has sent.
  private func heard(at now: TickInstant) -> [UInt8] {
    var port = cable.operatorPort()
    port.now = now
    return port.all
  }

  // MARK: Apps

  /// Sends bytes to the pump; they arrive some milliseconds later.
  private func put(_ bytes: [UInt8], at now: TickInstant) {
    guard daemon != nil, !bytes.isEmpty else { return }
    var port = cable.operatorPort()
    port.now = now
    let isWritten = bytes.withUnsafeBytes { bytes in
      isConfirmed { () throws(SerialError) in try port.write(bytes) }
    }
    for byte in bytes where isWritten { begin(byte, at: now) }
  }

  /// Notes that a byte is on its way to the pump.
  private func begin(_ byte: UInt8, at now: TickInstant) {
    guard byte == 0x0A || byte == 0x0D else { return begun.append(byte) }
    // A pump that is stopped discards unread bytes, so it may have lost the beginning of an unfinished line.
    let words = String(decoding: begun, as: UTF8.self).uppercased().split { $0 == " " || $0 == "\t" }
    if words.last?.hasSuffix("ON") == true { oracle.hear(.on, issued: nil, at: now) }
    if words.last?.hasSuffix("OFF") == true { oracle.hear(.off, issued: nil, at: now) }
    begun = []
  }

  private func ask(_ order: PumpOrder, at now: TickInstant) {
    guard let daemon else { return }
    let isTaken = daemon.loop.ask(&oracle.output, at: now) { number in
      daemon.client.send(Request(number: number, issued: now, makesSafe: order.makesSafe, order: order))
    }
    guard isTaken else { return }
    switch order {
    case .turnOn: oracle.hear(.on, issued: now, at: now)
    case .turnOff: oracle.hear(.off, issued: now, at: now)
    case .emergencyStop: oracle.hear(.emergencyStop, issued: now, at: now)
    case .reset: oracle.hear(.reset, issued: now, at: now)
    default: break
    }
  }
}

// The module of the control does not depend on the daemon, so the conformance is declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension PumpRules: @retroactive ReloadableRules {}

/// A store in memory, which survives the simulated daemon.
final class SimulatedPumpLimit: PumpLimitStore {
  private let kept = Mutex<PumpLimit?>(nil)

  func limit() throws(StoreError) -> PumpLimit? { kept.withLock { $0 } }
  func keep(_ limit: PumpLimit) throws(StoreError) { kept.withLock { $0 = limit } }
  var isOpen: Bool { true }
}

extension SwarmMember {
  /// The system `pump` with its part in the swarm.
  public static var pump: SwarmMember { SwarmMember(Pump.self) { PumpSwarm(seed: $0) } }
}
