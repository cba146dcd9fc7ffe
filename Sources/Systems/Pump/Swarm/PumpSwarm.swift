import Buses
import Logging
import Pump
import PumpDaemon
import Tactus
import TactusDaemon
import TactusSwarm

/// A pump under the swarm: the daemon is the pump (`pump.role: device`), its apps and its operator send lines and requests, and what it has pumped
/// is kept in a store that survives it.
final class PumpSwarm: SwarmLoopPart {
  /// Short, so that a minute holds several.
  static let settings = try! PumpDeviceSettings(runLimit: .seconds(8), rest: .seconds(6))
  /// What a history's reloads change them to.
  static let files = [
    settings, try! PumpDeviceSettings(runLimit: .seconds(5), rest: .seconds(9)),
    try! PumpDeviceSettings(runLimit: .seconds(12), rest: .seconds(4)),
  ]

  let name = "pump"
  private let seed: UInt64
  private var rules: SwarmRules<PumpDeviceSettings>
  private let tamper: SwarmLink.Tamper?
  private let world = PumpWorld()
  private let cable: PumpCable
  private let store = SimulatedPumpLimit()
  var oracle = PumpOracle()
  private var daemon: Daemon?
  var loop: SwarmLoop? { daemon?.loop }
  /// `nil` until the history starts it.
  private var person: PumpSwarmOperator?
  /// A line on its way to the pump.
  private var begun: [UInt8] = []

  /// What dies with the process.
  private struct Daemon {
    let loop: SwarmLoop
    let client: PumpDeviceLoop.Channel.Client
    let keeper: PumpLimitKeeper
    var nextBeat: TickInstant
  }

  /// - Parameters:
  ///   - files: the loop's rules, at its start and after reloads; what must hold stays that of the standard ones.
  ///   - tamper: as `SwarmLink`'s, of the operator's lines.
  init(seed: UInt64, files: [PumpDeviceSettings] = PumpSwarm.files, tamper: SwarmLink.Tamper? = nil) {
    (self.seed, self.tamper) = (seed, tamper)
    rules = SwarmRules(files)
    cable = PumpCable(seed: seed)
  }

  var isEmergencyStopped: Bool {
    if case .emergencyStopped? = daemon?.client.newest().state { true } else { false }
  }

  var remoteWords: [String: String] { ["off": "ask-off", "on": "ask-on"] }

  func plan(_ plan: inout SwarmPlanner) { PumpSwarmPlan.plan(&plan) }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    let keeper = PumpLimitKeeper(
      store, boot: BootID("1"), logger: Logger(label: "swarm") { _ in SwiftLogNoOpLogHandler() })
    let governor = keeper.resume(rules.saved.governor(), now: now, bootNow: now)
    let settings = rules.start()
    let channel = PumpDeviceLoop.channel()
    let bell = SimulatedInput()
    let runtime = try Runtime(externalStops: cover.stops) {
      Lane("pump") {
        Loop(
          "pump-device", every: PumpDeviceLoop.rate, phase: .zero, safeStateAfter: 3,
          inputs: [.simulated(cable.deviceInput), .simulated(bell)]
        ) {
          PumpDeviceLoop(
            settings.input(), governor: governor, link: PumpLink(serial: cable.devicePort()),
            motor: world.motor(), inputs: world.inputs(), channel: channel.loopEnds(requestBell: bell.doorbell))
        }
      }
    }
    let client = channel.client()
    let loop = try SwarmLoop(
      runtime, "pump-device", lane: "pump", channel.state.version, bell: bell, seed: seed, at: now
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
    // What was on the line is lost with whoever read it.
    cable.unplug()
    cable.plugIn()
    begun = []
    person?.pumpDied()
    oracle.killed(at: now, safeBy: safeBy)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    guard let daemon,
      let isConfirmed = stopLoop(at: now, isActive: outputs, isConfirmed: { daemon.client.newest().state.isSafe })
    else { return (false, .known) }
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
      // Its deadlines come before what it reads in this tick.
      put(person.run(until: due - .nanoseconds(1), &oracle), at: due)
      runBeats(until: due)
      put(person.tick(heard(at: due), &oracle), at: due)
    }
    runBeats(until: instant)
    // What its person does next comes after its deadlines until now.
    if let person { put(person.run(until: instant, &oracle), at: instant) }
    // An app that reads what it is told, so that the line does not fill.
    if person == nil { _ = heard(at: instant) }
  }

  private func runBeats(until instant: TickInstant) {
    while let daemon, daemon.nextBeat <= instant {
      runTicks(until: daemon.nextBeat)
      keep(daemon, at: daemon.nextBeat)
    }
    runLoop(until: instant)
  }

  func ticked(at now: TickInstant) { if person != nil { oracle.listen(at: now) } }

  /// The daemon's other threads, ten times a second: what has been pumped goes to the store.
  private func keep(_ daemon: Daemon, at now: TickInstant) {
    self.daemon?.nextBeat = now + .milliseconds(100)
    _ = daemon.client.takeNotices()
    let newest = daemon.client.newest()
    if newest.at > .zero { daemon.keeper.keep(newest.governor, now: now, bootNow: now) }
  }

  /// Of the motor's output.
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
    case "ask-on": ask(.command(.on), at: now)
    case "ask-off": ask(.command(.off), at: now)
    case "ask-e-stop": emergencyStop(at: now)
    case "ask-reset": reset(at: now)
    case "output-gone":
      if action[0] > 0 { world.inject(.outputGone) } else { world.clear(.outputGone) }
      oracle.output.reach.bus(isFaulty: action[0] > 0, at: now)
    default: break
    }
  }

  // MARK: The operator

  /// Does an action of the person, or of the wire. Returns whether it was one.
  private func operate(_ action: SwarmAction) -> Bool {
    guard action.verb.hasPrefix("op-") || action.verb.hasPrefix("wire") else { return false }
    if person == nil || action.verb == "op-start" {
      let wire = person?.wire.emptied ?? PumpSwarmWire(seed: seed, tamper)
      person = try! PumpSwarmOperator(at: action.at, seed: seed, wire)
    }
    if !person!.wire.apply(action) { person!.apply(action) }
    return true
  }

  /// What the pump has said.
  private func heard(at now: TickInstant) -> [UInt8] {
    var port = cable.operatorPort()
    port.now = now
    return port.all
  }

  // MARK: Apps

  /// Bytes for the pump: they arrive some milliseconds later.
  private func put(_ bytes: [UInt8], at now: TickInstant) {
    guard daemon != nil, !bytes.isEmpty else { return }
    var port = cable.operatorPort()
    port.now = now
    let isWritten = bytes.withUnsafeBytes { bytes in
      isConfirmed { () throws(SerialError) in try port.write(bytes) }
    }
    for byte in bytes where isWritten { begin(byte, at: now) }
  }

  /// A byte is on its way to the pump.
  private func begin(_ byte: UInt8, at now: TickInstant) {
    guard byte == 0x0A || byte == 0x0D else { return begun.append(byte) }
    // What it has not read when it is stopped it throws away: of a line without an end it may have lost the beginning.
    let words = String(decoding: begun, as: UTF8.self).uppercased().split { $0 == " " || $0 == "\t" }
    if words.last?.hasSuffix("ON") == true { oracle.hear(.on, issued: nil, at: now) }
    if words.last?.hasSuffix("OFF") == true { oracle.hear(.off, issued: nil, at: now) }
    begun = []
  }

  private func ask(_ order: PumpDeviceRequest.Order, at now: TickInstant) {
    guard let daemon else { return }
    let isTaken = daemon.loop.ask(&oracle.output, at: now) { number in
      daemon.client.send(PumpDeviceRequest(number: number, issued: now, order))
    }
    guard isTaken else { return }
    switch order {
    case .command(.on): oracle.hear(.on, issued: now, at: now)
    case .command(.off): oracle.hear(.off, issued: now, at: now)
    case .emergencyStop: oracle.hear(.emergencyStop, issued: now, at: now)
    case .reset: oracle.hear(.reset, issued: now, at: now)
    default: break
    }
  }
}
