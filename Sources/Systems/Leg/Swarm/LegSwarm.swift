import Buses
import Devices
import Leg
import LegDaemon
import Tactus
import TactusDaemon
import TactusSwarm
import Wire

/// Two legs on one chip in the swarm: their production loop, and an operator for each that sends frames.
final class LegSwarm: SwarmLoopPart {
  private static let count = 2
  private static let endpoints = (0..<count).map { Endpoint.ipv4(192, 168, 1, 2, port: 5010 + UInt16(clamping: $0)) }
  private static let senders = (0..<count).map { Endpoint.ipv4(192, 168, 1, 20 + UInt8(clamping: $0), port: 50_000) }
  private static let address = PCA9685.standardAddress

  /// The settings that the reloads of a history choose from, for both legs.
  static let files = [
    LegSettings.standard, try! LegSettings(deadmanTimeout: .milliseconds(100), slewMicrosecondsPerSecond: 2_000),
    try! LegSettings(deadmanTimeout: .milliseconds(400), releaseAfter: .seconds(1)),
  ]

  let name = "leg"
  private let seed: UInt64
  private var rules: SwarmRules<LegRules>
  private let tamper: SwarmLink.Tamper?
  private let chip = PCA9685Simulator()
  private let bus: SimulatedI2CBus
  private let network: SimulatedNetwork
  var oracle = LegOracle(legs: count)
  private var exercise = SwarmExercise(states: ["disarmed", "armed", "fault", "emergencyStopped", "shutDown"])
  var exercised: [String: Int] { exercise.counts }
  private(set) var loop: SwarmLoop?
  private var client: LegLoop.Mailbox.Client?
  /// The operator of the first leg, or `nil` until the history starts it.
  private var person: LegSwarmOperator?
  private var batch = DatagramBatch(capacity: 64, size: 64)
  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)

  /// Creates the two legs of one history.
  ///
  /// - Parameters:
  ///   - files: the settings of each leg at the loop's start and after reloads; the checks use those of `LegSwarm.files`.
  ///   - tamper: changes the messages of the operator's link, as in `SwarmLink`.
  init(seed: UInt64, files: [LegSettings] = LegSwarm.files, tamper: SwarmLink.Tamper? = nil) {
    (self.seed, self.tamper) = (seed, tamper)
    rules = SwarmRules(files.map { LegRules(Array(repeating: $0, count: Self.count)) })
    bus = SimulatedI2CBus(seed: seed, logCapacity: 1)
    bus.attach(chip.chip, at: Self.address)
    network = SimulatedNetwork(
      Self.endpoints + Self.senders + [LegSwarmOperator.endpoint], seed: seed, capacity: 64, datagramSize: 64)
  }

  deinit { bytes.deallocate() }

  var isEmergencyStopped: Bool {
    guard let newest = client?.newest().state else { return false }
    return (0..<Self.count).contains { if case .emergencyStopped = newest[$0].state { true } else { false } }
  }

  var remoteWords: [String: String] { ["arm": "ask-arm", "disarm": "ask-disarm", "set": "ask-set"] }

  func plan(_ plan: inout SwarmPlanner) { LegSwarmPlan.plan(&plan, legs: Self.count) }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    let mailbox = try LegLoop.Mailbox(
      state: LegSnapshot(legs: Self.count), rules: rules.start())
    let bell = SimulatedInput()
    let runtime = try Runtime(externalStops: cover.stops) {
      Lane("leg") {
        Loop(
          "leg", every: .hertz(50), phase: .zero, safeStateAfter: 3,
          inputs: Self.endpoints.map { .simulated(network.input($0)) } + [.simulated(bell)]
        ) {
          LegLoop(
            ends: mailbox.loopEnds(requestBell: bell.doorbell), servos: (0..<Self.count).map { try! ServoChannel($0) },
            chip: PCA9685(), on: bus.port(), ports: ports())
        }
      }
    }
    let client = mailbox.client()
    loop = try SwarmLoop(runtime, "leg", lane: "leg", mailbox.state.version, bell: bell, seed: seed, at: now) {
      client.takeAnswers().map(\.number)
    }
    self.client = client
    oracle.started(at: now, cover, Self.files[rules.number])
  }

  func change(to number: Int64) -> (any RulesChange)? { rules.change(of: name, to: number) }

  func changed(to number: Int64) {
    if rules.changed(to: number) { oracle.changed(to: Self.files[rules.number]) }
  }

  private func ports() -> LegPorts {
    var ports = LegPorts()
    for endpoint in Self.endpoints { ports.append(network.port(endpoint)) }
    return ports
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    (loop, client) = (nil, nil)
    // The kernel drops the datagrams that waited in the sockets of the old daemon.
    for endpoint in Self.endpoints {
      var port = network.port(endpoint)
      port.now = now
      while port.receive(into: &batch) {}
    }
    oracle.killed(at: now, safeBy: safeBy)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    let isConfirmed = stopLoop(at: now, isActive: outputs != 0) {
      guard let newest = client?.newest().state else { return false }
      return (0..<Self.count).allSatisfy { newest[$0].state == .shutDown(.confirmed) }
    }
    seeState()
    return (isConfirmed ?? false, .known)
  }

  func run(until instant: TickInstant) {
    while let person, case let due = min(person.nextTick, person.link.nextArrival(.there)), due <= instant {
      runLoop(until: due)
      for message in person.link.arrived(.there, by: due) { arrive(message) }
      if person.nextTick <= due { person.tick(&oracle.output) }
    }
    runLoop(until: instant)
    seeState()
  }

  /// Records the state of the first leg.
  private func seeState() {
    guard let client else { return }
    let word =
      switch client.newest().state[0].state {
      case .disarmed: "disarmed"
      case .armed: "armed"
      case .fault: "fault"
      case .emergencyStopped: "emergencyStopped"
      case .shutDown: "shutDown"
      }
    exercise.see(state: word)
  }

  func ticked(at now: TickInstant) {
    _ = client?.takeNotices()
    if let person { report(to: person, at: now) }
  }

  /// The channels on which the chip drives a leg with a pulse, one bit for each leg.
  var outputs: Int { Int(chip.drivenChannels) & (1 << Self.count - 1) }

  func makeSafe(at now: TickInstant) -> Bool {
    let before = outputs
    var port = bus.port()
    port.now = now
    let isConfirmed = isConfirmed { () throws(I2CError) in try PCA9685().turnAllOff(on: &port) }
    oracle.cut(pulsing: before, isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }

  func emergencyStop(at now: TickInstant) { ask(.emergencyStop, .all, at: now) }
  func reset(at now: TickInstant) { ask(.reset, .all, at: now) }

  func apply(_ action: SwarmAction) {
    if operate(action) || disturb(action) { return }
    let (now, leg) = (action.at, Int(action[0]))
    guard (0..<Self.count).contains(leg) else { return }
    let pulse = PulseWidth(microseconds: UInt16(clamping: action[1]))
    switch action.verb {
    case "arm": send(.arm, to: leg, at: now)
    case "disarm": send(.disarm, to: leg, at: now)
    case "set": send(.setServo(pulse), to: leg, at: now)
    case "ping": send(.ping, to: leg, at: now)
    case "noise":
      bytes[0] = UInt8(truncatingIfNeeded: action[1])
      _ = put(UnsafeRawBufferPointer(rebasing: bytes[..<1]), from: Self.senders[leg], to: leg, at: now)
    case "ask-arm": ask(.command(.arm), .leg(leg), at: now)
    case "ask-disarm": ask(.command(.disarm), .leg(leg), at: now)
    case "ask-set": ask(.command(.setServo(pulse)), .leg(leg), at: now)
    case "bus-refuses":
      bus.clearFaults()
      if action[1] > 0 { bus.inject(.randomNoAcknowledge(perMille: Int(min(1_000, action[1])))) }
      oracle.output.reach.bus(isFaulty: action[1] > 0, at: now)
    case "bus-stuck":
      bus.clearFaults()
      bus.inject(.stuck)
      oracle.output.reach.bus(isFaulty: true, at: now)
    default: break
    }
  }

  // MARK: The operator

  /// Performs an action of the person or of the link. Returns whether the action was one of these.
  private func operate(_ action: SwarmAction) -> Bool {
    guard action.verb.hasPrefix("op-") || action.verb.hasPrefix("link") else { return false }
    // A program that is started anew has a socket of its own.
    if person == nil || action.verb == "op-start" {
      person = try! LegSwarmOperator(at: action.at, seed: seed, person?.link.emptied ?? SwarmLink(seed: seed, tamper))
    }
    if !person!.link.apply(action) { person!.apply(action) }
    return true
  }

  /// Sends the leg's telemetry to the operator over the link.
  private func report(to person: LegSwarmOperator, at now: TickInstant) {
    var port = network.port(LegSwarmOperator.endpoint)
    port.now = now
    var isMore = true
    while isMore {
      isMore = port.receive(into: &batch)
      for index in 0..<batch.count {
        guard let bytes = batch.bytes(index).map({ person.link.tampered(Array($0), .back) }) else { continue }
        person.link.send(bytes, .back, at: now)
        let telemetry = bytes.withUnsafeBytes { try? LegTelemetry.decode($0) }
        guard let telemetry, telemetry.state != .armed else { continue }
        oracle.output.check(
          LegOperatorOracle.telemetry, outputs & 1 == 0 || oracle.output.reach.isExcused(at: now), at: now,
          "it says \(telemetry.state), and the leg pulses")
      }
    }
  }

  /// Delivers a frame of the operator to the leg.
  private func arrive(_ message: SwarmLink.Message) {
    guard loop != nil else { return }
    message.bytes.withUnsafeBytes { bytes in
      guard put(bytes, from: LegSwarmOperator.endpoint, to: 0, at: message.arrives) else { return }
      if let command = try? LegCommand.decode(bytes) { oracle.hear(command, 0, issued: nil) }
    }
  }

  // MARK: Clients

  private func send(_ command: LegCommand, to leg: Int, at now: TickInstant) {
    guard loop != nil else { return }
    let frame = UnsafeRawBufferPointer(rebasing: bytes[..<command.encode(into: bytes)])
    if put(frame, from: Self.senders[leg], to: leg, at: now) { oracle.hear(command, leg, issued: nil) }
  }

  /// Sends a frame to the leg and returns whether the leg's socket had room for it. The socket of a daemon that stands still fills up.
  private func put(_ datagram: UnsafeRawBufferPointer, from sender: Endpoint, to leg: Int, at now: TickInstant) -> Bool
  {
    guard loop != nil else { return false }
    let overflowed = network.statistics.overflowed
    var port = network.port(sender)
    port.now = now
    _ = port.send(datagram, to: Self.endpoints[leg])
    return network.statistics.overflowed == overflowed
  }

  private func ask(_ order: LegOrder, _ target: LegRequest.Target, at now: TickInstant) {
    guard let loop, let client else { return }
    let isTaken = loop.ask(&oracle.output, at: now) { number in
      let request = LegRequest(order, to: target)
      return client.send(
        Request(number: number, issued: now, makesSafe: request.makesSafe, order: request))
    }
    guard isTaken else { return }
    switch (order, target) {
    case (.command(let command), .leg(let leg)): oracle.hear(command, leg, issued: now)
    case (.emergencyStop, _): oracle.hearStop(true)
    case (.reset, _): oracle.hearStop(false)
    default: break
    }
  }
}

// The module of the control does not depend on the daemon, so the conformance is declared here.
// swift-format-ignore: AvoidRetroactiveConformances
extension LegRules: @retroactive ReloadableRules {}

extension SwarmMember {
  /// The system `leg` as a member of the swarm.
  public static var leg: SwarmMember { SwarmMember(LegDaemon.legs) { LegSwarm(seed: $0) } }
}
