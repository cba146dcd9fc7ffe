import Buses
import Devices
import Tactus
import Wire

/// The device side's loop: frames and requests in, up to sixteen legs on one PCA9685, pulses, telemetry and a snapshot out.
///
/// Each leg has its own machine, deadman, channel and UDP port (the first configured port, the next, and so on: LegCtrl
/// frames carry no index), and may have links beside it. Order of a tick: settings, deadmen, connections that came or went, requests,
/// frames, the period's own work, pulses, telemetry, snapshot, answers. An off is written the moment it is decided; of the
/// pulses decided in a tick only the last of a channel is written, adjacent channels in one transfer. A transfer that fails is a
/// fault of every leg on the chip, since none of them could be turned off; the chip is then configured anew, once a period.
/// Work is bounded: 64 requests, 4 × 32 frames a port, one failing transfer and the off that follows it, one transfer of the
/// battery's sensor.
public struct LegLoop: ~Copyable, ControlLoop {
  public static var maximumLegs: Int {
    @_noLocks @_noAllocation get { 16 }
  }
  /// Requests to the loop; its answers, notices and snapshots from it.
  public typealias Channel = LoopChannel<LegRequest, LegAnswer, LegNotice, LegSnapshot>
  /// A channel for a loop of so many legs, of which a tick takes 64 requests at most.
  public static func channel(legs: Int) -> Channel {
    Channel(state: LegSnapshot(legs: legs), requestsPerTick: 64, notices: 1_024)
  }
  /// LegCtrl: 10 Hz.
  public static var telemetryPeriod: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(100_000_000) }
  }
  /// How soon a chip that was without power is noticed, at most.
  public static var checkPeriod: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(200_000_000) }
  }
  /// Where there is no connection, telemetry ends when nothing has come for so long.
  static var listenerPatience: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(60_000_000_000) }
  }
  static var batchesPerTick: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  let count: Int
  /// `count` of them. Behind a pointer, as the snapshot is: Swift copies a whole inline array to read one element's member.
  let legs: UnsafeMutablePointer<LegSlot>
  var rules: RulesInput<LegRules>
  var rulesChanges: UInt64 = 0
  var bank: ServoBank
  private var meter: LegBatteryMeter?
  var ports: LegPorts
  var batch = DatagramBatch(capacity: 32, size: 64)
  var channel: Channel.Ends
  private let commandAge: AgeMeter
  private let snapshot: UnsafeMutablePointer<LegSnapshot>
  let bytes: UnsafeMutableRawBufferPointer
  var nextTelemetry: TickInstant?
  private var nextCheck = TickInstant(nanoseconds: 0)
  /// The chip has failed and not been ready since.
  private var hasFailed = false

  // Within one tick.
  var now = TickInstant(nanoseconds: 0)
  /// The instant at which the command was issued or arrived that is being decided on. It is `nil` while no command is being decided on,
  /// and for a command without a stamp.
  var heardAt: TickInstant?
  /// The oldest of the commands whose pulses wait for `flush`, or `nil` if none does.
  private var pendingHeardAt: TickInstant?

  /// - Parameters:
  ///   - legs: 1…16 on channels of their own; anything else is our bug.
  ///   - rules: the legs' settings, in their order; those that are committed hold from the next tick on. `nil` if the settings
  ///     of `legs` never change.
  ///   - outputEnable: one line, wired to the chip's output-enable pin and requested active-low, as the pin is, or `nil` if the pin is
  ///     tied low. More than one line is our bug.
  ///   - battery: its sensor, on the chip's bus. Without one, `nil`, telemetry says 0 mV.
  ///   - ports: a UDP socket for each leg, in their order, and links beside them.
  ///   - channel: the loop's side of a channel that `channel(legs:)` has made. Each request is answered, in their order.
  ///   - commandAge: told of each command that the chip took in the tick that read it: when its datagram arrived, or its
  ///     request was issued. What comes by a link beside the sockets has no stamp.
  public init(
    legs configurations: [LegConfiguration], rules: consuming RulesInput<LegRules>? = nil, chip: PCA9685,
    on bus: consuming I2CBus,
    outputEnable: consuming GPIOLines? = nil, battery: LegBattery? = nil, ports: consuming LegPorts,
    channel: consuming Channel.Ends,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter()
  ) {
    precondition((1...Self.maximumLegs).contains(configurations.count), "a chip carries 1…16 legs")
    precondition(
      Set(configurations.map(\.channel.number)).count == configurations.count, "two legs on one channel")
    precondition(ports.legs == configurations.count, "every leg has a socket")
    count = configurations.count
    legs = .allocate(capacity: count)
    for (index, configuration) in configurations.enumerated() {
      (legs + index).initialize(to: LegSlot(configuration))
    }
    self.rules = rules ?? RulesBox(LegRules(configurations.map(\.settings))).input()
    bank = ServoBank(chip, on: bus, enable: outputEnable)
    meter = battery.map { LegBatteryMeter($0) }
    self.ports = ports
    self.channel = channel
    self.commandAge = commandAge
    snapshot = .allocate(capacity: 1)
    snapshot.initialize(to: LegSnapshot(legs: configurations.count, links: self.ports.count))
    bytes = .allocate(byteCount: LegTelemetry.encodedLength, alignment: 8)
    prepareLegsToThrow()
  }

  deinit {
    legs.deallocate()
    snapshot.deallocate()
    bytes.deallocate()
  }

  /// The first of the deadmen, the servos' release, the chip's start and telemetry.
  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get {
      var first = nextTelemetry
      if let start = bank.nextDeadline, first.map({ start < $0 }) ?? true { first = start }
      for index in 0..<count {
        if let deadline = legs[index].machine.nextDeadline, first.map({ deadline < $0 }) ?? true { first = deadline }
      }
      return first
    }
  }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    channel.begin(tick)
    takeRules()
    for index in 0..<count {
      if let deadline = legs[index].machine.nextDeadline, !(now < deadline) { decide(index, .tick) }
    }
    takeLinkEvents()
    takeRequests()
    drain()
    startChip()
    if case .period = tick.cause { work() }
    flush()
    report()
    finish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    switch cause {
    case .misses(let releases): decideAll(.missed(releases: releases))
    case .externalStop: decideAll(.externalStop)
    case .stop:
      decideAll(.shutdown)
      // No tick follows that could repeat it.
      for _ in 0..<2 where !isOff { turnAllOff() }
      nextTelemetry = now
      report()
    }
    finish()
  }

  /// Whether the chip has confirmed every leg's off.
  private var isOff: Bool {
    @_noLocks @_noAllocation get {
      for index in 0..<count {
        if case .shutDown(.pending) = legs[index].machine.state { return false }
      }
      return true
    }
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    now = instant
    ports.begin(at: instant)
    bank.begin(at: instant)
    heardAt = nil
    pendingHeardAt = nil
  }

  @_noLocks @_noAllocation
  private mutating func finish() {
    for index in 0..<count { noteEdge(index) }
    rules.finish(isSafe: isSafe)
    let snapshot = snapshot
    snapshot.pointee.at = now
    snapshot.pointee.servos = bank.status
    if let meter { snapshot.pointee.battery = meter.status }
    for index in 0..<count {
      let leg = legs + index
      leg.pointee.status.state = leg.pointee.machine.state
      leg.pointee.status.lastCommand = leg.pointee.machine.lastCommand
      leg.pointee.status.battery = leg.pointee.machine.battery
      snapshot.pointee[index] = leg.pointee.status
    }
    for port in 0..<ports.count { snapshot.pointee.setLink(port, ports.status(port)) }
    snapshot.pointee.noticesDropped = channel.noticesDropped
    snapshot.pointee.answersDropped = channel.answersDropped
    channel.finish(from: snapshot)
  }

  // MARK: outputs

  /// Steps one leg's machine; an off goes to the chip at once, a pulse when the tick has read everything.
  @_noLocks @_noAllocation @discardableResult
  mutating func decide(_ index: Int, _ event: LegEvent) -> LegVerdict {
    let action = step(index, event)
    switch action.output {
    case .none: break
    case .pulse(let pulse): set(index, pulse)
    case .off: turnOff(index)
    }
    if case .accepted = action.verdict, case .command(.setServo(let pulse)) = event {
      let leg = legs + index
      leg.pointee.status.count(pulse, within: leg.pointee.machine.settings)
    }
    return action.verdict
  }

  /// Steps every leg's machine. When all of them must be off, one transfer does it. The first verdict that is not accepted.
  @_noLocks @_noAllocation @discardableResult
  mutating func decideAll(_ event: LegEvent) -> (LegVerdict, Int) {
    var first: (LegVerdict, Int) = (.accepted, 0)
    var offs = 0
    for index in 0..<count {
      let action = step(index, event)
      let leg = legs + index
      leg.pointee.status.count(action.verdict)
      if case .ignored = action.verdict, case .accepted = first.0 { first = (action.verdict, index) }
      legs[index].isToTurnOff = false
      switch action.output {
      case .none: break
      case .pulse(let pulse): set(index, pulse)
      case .off:
        legs[index].isToTurnOff = true
        offs &+= 1
      }
    }
    if offs == count {
      turnAllOff()
    } else {
      for index in 0..<count where legs[index].isToTurnOff { turnOff(index) }
    }
    return first
  }

  @_noLocks @_noAllocation
  mutating func step(_ index: Int, _ event: LegEvent) -> LegAction {
    let leg = legs + index
    return leg.pointee.machine.step(event, at: now)
  }

  /// A pulse for the next `flush`.
  @_noLocks @_noAllocation
  private mutating func set(_ index: Int, _ pulse: PulseWidth) {
    bank.set(legs[index].channel.number, legs[index].channel.wired(pulse))
    guard let heardAt else { return }
    if let pending = pendingHeardAt, pending < heardAt { return }
    pendingHeardAt = heardAt
  }

  @_noLocks @_noAllocation
  private mutating func turnOff(_ index: Int) {
    do throws(ServoBankFailure) {
      guard try bank.turnOff(legs[index].channel.number) else { return }
      if let heardAt { commandAge.uses(sampledAt: heardAt) }
      _ = step(index, .offConfirmed)
    } catch {
      fail(error)
    }
  }

  @_noLocks @_noAllocation
  private mutating func turnAllOff() {
    do throws(ServoBankFailure) {
      try bank.turnAllOff()
      if let heardAt { commandAge.uses(sampledAt: heardAt) }
      confirmAll()
    } catch {
      fail(error)
    }
  }

  @_noLocks @_noAllocation
  private mutating func confirmAll() {
    for index in 0..<count { _ = step(index, .offConfirmed) }
  }

  @_noLocks @_noAllocation
  private mutating func flush() {
    do throws(ServoBankFailure) {
      try bank.flush()
      if let pendingHeardAt { commandAge.uses(sampledAt: pendingHeardAt) }
    } catch {
      fail(error)
    }
  }

  /// The chip cannot be trusted: no leg on it may drive. All channels are turned off at once if the bus still works.
  @_noLocks @_noAllocation
  private mutating func fail(_ failure: ServoBankFailure) {
    if !hasFailed { notice(.chipFails(failure)) }
    hasFailed = true
    for index in 0..<count { _ = step(index, .outputFailed) }
    guard !failure.isTimeOut else { return }
    do throws(ServoBankFailure) {
      try bank.turnAllOff()
      confirmAll()
    } catch {
      // Tried again at the next period.
    }
  }
  /// The period's own work: the chip first, then every leg.
  @_noLocks @_noAllocation
  private mutating func work() {
    do throws(ServoBankFailure) {
      switch bank.phase {
      case .lost:
        try bank.configure()
        confirmAll()
      case .starting: break
      case .ready:
        if Mechanism.readBack.acts, !(now < nextCheck) {
          nextCheck = now + Self.checkPeriod
          try bank.check()
        }
      }
    } catch {
      fail(error)
    }
    measureBattery()
    for index in 0..<count { decide(index, .tick) }
  }

  /// After the chip's own transfers: the battery can wait.
  @_noLocks @_noAllocation
  private mutating func measureBattery() {
    let isUsable: Bool
    switch bank.phase {
    case .lost: isUsable = false
    case .starting: return
    case .ready: isUsable = true
    }
    guard let outcome = meter?.step(on: &bank.bus, isUsable: isUsable) else { return }
    switch outcome {
    case .nothing: break
    case .voltage(let voltage, let isBack):
      if isBack { notice(.batteryAnswers) }
      for index in 0..<count { decide(index, .battery(voltage)) }
    case .silent(let failure):
      notice(.batterySilent(failure))
      for index in 0..<count { decide(index, .battery(nil)) }
    }
  }

  @_noLocks @_noAllocation
  private mutating func startChip() {
    guard let due = bank.nextDeadline, !(now < due) else { return }
    do throws(ServoBankFailure) {
      try bank.start()
      nextCheck = now + Self.checkPeriod
      if hasFailed { notice(.chipAnswers) }
      hasFailed = false
    } catch {
      fail(error)
    }
  }

  // MARK: news

  @_noLocks @_noAllocation
  private mutating func noteEdge(_ index: Int) {
    let state = legs[index].machine.state
    if legs[index].told.isEdge(to: state) {
      notice(.state(leg: index, state))
    }
    legs[index].told = state
  }

  @_noLocks @_noAllocation
  private mutating func notice(_ subject: LegNotice.Subject) { channel.tell(LegNotice(at: now, subject)) }
}
