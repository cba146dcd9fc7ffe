import Buses
import Devices
import Robot
import RobotDaemon
import Tactus
import TactusDaemon
import TactusSwarm
import Wire

/// The robot in the swarm: its production loop over a simulated board, three senders of datagrams and a client of the service.
final class RobotSwarm: SwarmLoopPart {
  private static let endpoint = Endpoint.ipv4(192, 168, 1, 2, port: 5005)
  /// The senders of datagrams. The operator has the number after theirs.
  private static let senders = (0..<3).map { Endpoint.ipv4(192, 168, 1, 20 + UInt8(clamping: $0), port: 50_000) }

  /// Parameters of motors that the smallest duty moves, so that a motor with power is seen to run.
  private static var wheels: DifferentialDrive.Parameters {
    var wheels = DifferentialDrive.Parameters()
    wheels.stallDuty = 0
    return wheels
  }

  /// The rules that the reloads of a history choose from.
  static let files = [
    Robot.Rules(), Robot.Rules(speedLimit: 60, acceleration: 20, commandTimeoutSeconds: 0.4),
    Robot.Rules(acceleration: 0, commandTimeoutSeconds: 2),
  ]

  /// The loop settings for each of `files`, for the checks.
  private static let settings = files.map { Robot.loopRules(Robot.Wiring(), $0) }

  let name = "robot"
  private let seed: UInt64
  private var rules: DeclaredFiles<Robot>
  private let tamper: SwarmLink.Tamper?
  private let board = YBPcbCarSimulator(parameters: RobotSwarm.wheels)
  private let bus: SimulatedI2CBus
  private let network: SimulatedNetwork
  var oracle = RobotOracle()
  private var exercise = SwarmExercise(states: ["stopped", "driving", "emergencyStopped", "fault", "shutDown"])
  var exercised: [String: Int] { exercise.counts }
  private(set) var loop: SwarmLoop?
  private var client: RobotLoop.Client?
  /// The operator, or `nil` until the history starts it.
  private var person: RobotSwarmOperator?
  private var batch = DatagramBatch(capacity: 64, size: 256)
  private let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 8)

  /// Creates the robot of one history.
  ///
  /// - Parameters:
  ///   - files: the loop's rules at its start and after reloads; the checks use those of `RobotSwarm.files`.
  ///   - tamper: changes the messages of the operator's link, as in `SwarmLink`.
  init(seed: UInt64, files: [Robot.Rules] = RobotSwarm.files, tamper: SwarmLink.Tamper? = nil) {
    (self.seed, self.tamper) = (seed, tamper)
    rules = DeclaredFiles(files)
    bus = SimulatedI2CBus(seed: seed, logCapacity: 1)
    bus.attach(board.chip, at: YBPcbCar.standardAddress)
    network = SimulatedNetwork(
      [Self.endpoint, RobotSwarmOperator.endpoint] + Self.senders, seed: seed, capacity: 64, datagramSize: 256)
  }

  deinit { bytes.deallocate() }

  var isEmergencyStopped: Bool {
    client?.newest().state.isEmergencyStopped ?? false
  }

  var remoteWords: [String: String] { ["drive": "ask-drive", "stop": "ask-stop"] }

  func plan(_ plan: inout SwarmPlanner) { RobotSwarmPlan.plan(&plan, senders: Self.senders.count) }

  func start(at now: TickInstant, _ cover: SwarmCover) throws(RuntimeError) {
    let mailbox = try RobotLoop.Mailbox(state: RobotSnapshot(rules.forLoop), rules: rules.forLoop)
    rules.start(mailbox.rules)
    let bell = SimulatedInput()
    let runtime = try Runtime(externalStops: cover.stops) {
      Lane("robot") {
        Loop(
          "robot.motors", every: .period(RobotSettings.standard.tickPeriod), phase: .zero, safeStateAfter: 3,
          inputs: [.simulated(network.input(Self.endpoint)), .simulated(bell)]
        ) {
          RobotLoop(
            ends: mailbox.loopEnds(requestBell: bell.doorbell), motors: Motors(YBPcbCar(), on: bus.port()),
            port: network.port(Self.endpoint), afterOutsideStop: cover.endedWithoutStop)
        }
      }
    }
    let client = mailbox.client()
    loop = try SwarmLoop(runtime, "robot.motors", lane: "robot", mailbox.state.version, bell: bell, seed: seed, at: now)
    {
      client.takeAnswers().map(\.number)
    }
    self.client = client
    oracle.started(at: now, cover, Self.settings[rules.number])
  }

  func change(to number: Int64) -> (any RulesChange)? { rules.change(to: number) }

  func changed(to number: Int64) {
    if rules.changed(to: number) { oracle.changed(to: Self.settings[rules.number]) }
  }

  func kill(at now: TickInstant, safeBy: TickInstant) {
    (loop, client) = (nil, nil)
    // The kernel drops the datagrams that waited in the socket of the old daemon.
    var port = network.port(Self.endpoint)
    port.now = now
    while port.receive(into: &batch) {}
    oracle.killed(at: now, safeBy: safeBy)
  }

  func stop(at now: TickInstant) -> (isOff: Bool, outcome: KeptOutcome) {
    let isConfirmed = stopLoop(at: now, isActive: outputs) { client?.newest().state.state == .shutDown(.confirmed) }
    seeState()
    return (isConfirmed ?? false, .known)
  }

  func run(until instant: TickInstant) {
    while let person, case let due = min(person.nextTick, person.link.nextArrival(.there)), due <= instant {
      runLoop(until: due)
      for message in person.link.arrived(.there, by: due) { arrive(message) }
      if person.nextTick <= due { person.tick(&oracle.output, oracle.truth) }
    }
    runLoop(until: instant)
    seeState()
  }

  private func seeState() {
    guard let client else { return }
    let word =
      switch client.newest().state.state {
      case .stopped: "stopped"
      case .driving: "driving"
      case .emergencyStopped: "emergencyStopped"
      case .fault: "fault"
      case .shutDown: "shutDown"
      }
    exercise.see(state: word)
  }

  func ticked(at now: TickInstant) {
    _ = client?.takeNotices()
    if let person { reply(to: person, at: now) }
  }

  /// Whether the board drives the wheels.
  var outputs: Bool {
    let target = board.vehicle.snapshot.target
    return target.left != 0 || target.right != 0
  }

  func makeSafe(at now: TickInstant) -> Bool {
    let wasMoving = outputs
    var port = bus.port()
    port.now = now
    let isConfirmed = isConfirmed { () throws(I2CError) in try YBPcbCar().stop(on: &port) }
    oracle.cut(wasMoving: wasMoving, isConfirmed: isConfirmed, at: now)
    return isConfirmed
  }

  func emergencyStop(at now: TickInstant) { ask(.emergencyStop, .emergencyStop, at: now) }
  func reset(at now: TickInstant) { ask(.reset, .reset, at: now) }

  func apply(_ action: SwarmAction) {
    if operate(action) || disturb(action) { return }
    let now = action.at
    let speeds = WheelSpeeds(left: Percent(Double(action[1])), right: Percent(Double(action[2])))
    let sender = Int(action[0])
    switch action.verb {
    case "drive": send(.drive(speeds), from: sender, milliseconds: action[3], at: now)
    case "stop": send(.stop, from: sender, milliseconds: nil, at: now)
    case "e-stop": send(.emergencyStop, from: sender, milliseconds: nil, at: now)
    case "reset": send(.reset, from: sender, milliseconds: nil, at: now)
    case "noise": noise(action.numbers, at: now)
    case "ask-drive":
      ask(.drive(speeds), .drive(100, stamp: nil, isZero: speeds.isZero), at: now)
    case "ask-stop": ask(.stop, .stop(100), at: now)
    case "ask-e-stop": emergencyStop(at: now)
    case "ask-reset": reset(at: now)
    case "bus-refuses":
      bus.clearFaults()
      if action[0] > 0 { bus.inject(.randomNoAcknowledge(perMille: Int(min(1_000, action[0])))) }
      oracle.output.reach.bus(isFaulty: action[0] > 0, at: now)
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
      person = try! RobotSwarmOperator(at: action.at, seed: seed, person?.link.emptied ?? SwarmLink(seed: seed, tamper))
    }
    if !person!.link.apply(action) { person!.apply(action) }
    return true
  }

  /// Sends the robot's replies to the operator over the link.
  private func reply(to person: RobotSwarmOperator, at now: TickInstant) {
    var port = network.port(RobotSwarmOperator.endpoint)
    port.now = now
    var isMore = true
    while isMore {
      isMore = port.receive(into: &batch)
      for index in 0..<batch.count {
        guard let bytes = batch.bytes(index) else { continue }
        person.link.send(person.link.tampered(Array(bytes), .back), .back, at: now)
      }
    }
  }

  /// Delivers a datagram of the operator to the robot.
  private func arrive(_ message: SwarmLink.Message) {
    guard loop != nil else { return }
    message.bytes.withUnsafeBytes { bytes in
      guard put(bytes, from: RobotSwarmOperator.endpoint, at: message.arrives) else { return }
      guard let message = try? RobotMessage.decode(bytes) else { return }
      hear(message.command, Self.senders.count, message.timestamp.map { Int64(saturating: $0.seconds * 1_000) })
    }
  }

  // MARK: Clients

  private func send(_ datagram: RobotCommand, from sender: Int, milliseconds: Int64?, at now: TickInstant) {
    guard loop != nil, Self.senders.indices.contains(sender) else { return }
    let stamp = milliseconds.flatMap { $0 < 0 ? nil : $0 }
    let count = datagram.encode(timestampMicroseconds: stamp.map { $0 * 1_000 }, into: bytes)
    if put(UnsafeRawBufferPointer(rebasing: bytes[..<count]), from: Self.senders[sender], at: now) {
      hear(datagram, sender, stamp)
    }
  }

  private func hear(_ datagram: RobotCommand, _ sender: Int, _ stamp: Int64?) {
    switch datagram {
    case .drive(let speeds): oracle.hear(.drive(sender, stamp: stamp, isZero: speeds.isZero), issued: nil)
    case .twist(let twist): oracle.hear(.drive(sender, stamp: stamp, isZero: twist.isZero), issued: nil)
    case .stop: oracle.hear(.stop(sender), issued: nil)
    case .emergencyStop: oracle.hear(.emergencyStop, issued: nil)
    case .reset: oracle.hear(.reset, issued: nil)
    case .query: break
    }
  }

  /// Sends bytes that cannot be decoded as a message.
  private func noise(_ numbers: [Int64], at now: TickInstant) {
    guard loop != nil, let sender = numbers.first, Self.senders.indices.contains(Int(sender)) else { return }
    for (index, number) in numbers.dropFirst().prefix(8).enumerated() {
      bytes[index] = UInt8(truncatingIfNeeded: number) | 0x80
    }
    _ = put(
      UnsafeRawBufferPointer(rebasing: bytes[..<min(8, numbers.count - 1)]), from: Self.senders[Int(sender)], at: now)
  }

  /// Sends a datagram to the robot and returns whether the socket had room for it. The socket of a daemon that stands still fills up.
  private func put(_ datagram: UnsafeRawBufferPointer, from sender: Endpoint, at now: TickInstant) -> Bool {
    let overflowed = network.statistics.overflowed
    var port = network.port(sender)
    port.now = now
    _ = port.send(datagram, to: Self.endpoint)
    return network.statistics.overflowed == overflowed
  }

  private func ask(_ command: RobotCommand, _ heard: RobotOracle.Command, at now: TickInstant) {
    guard let loop, let client else { return }
    let order = RobotOrder.command(command)
    let isTaken = loop.ask(&oracle.output, at: now) { number in
      client.send(Request(number: number, issued: now, makesSafe: order.isStop, client: 1, order: order))
    }
    guard isTaken else { return }
    oracle.hear(heard, issued: now)
  }
}

extension SwarmMember {
  /// The system `robot` as a member of the swarm.
  public static var robot: SwarmMember { SwarmMember(Robot.self) { RobotSwarm(seed: $0) } }
}
