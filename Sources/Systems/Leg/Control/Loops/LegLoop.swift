import Buses
import Devices
import Tactus
import Wire

/// The control loop of the device side, for up to 32 legs on up to eight PCA9685s on one bus. Inputs are frames and requests; outputs are pulses,
/// telemetry and a snapshot.
///
/// Each leg has its own machine, deadman, channel and UDP port (the first configured port, the next, and so on, because LegCtrl frames
/// carry no index), and may have further links. Order of a tick: settings, deadmen, connections opened or closed, requests, frames, the
/// work of the period, pulses, telemetry, snapshot, answers. An off is written the moment it is decided; of the pulses decided in a tick
/// only the last of a channel is written, adjacent channels in one transfer. A transfer that fails is a fault of every leg, whatever chip
/// it is on, since none on the failing one could be turned off; the chips are then configured again, once a period. Work is bounded: 64
/// requests, 4 × 32 frames a port, one failing transfer and an off of each chip that follows it, one transfer of the battery's sensor.
public struct LegLoop: ~Copyable, ControlLoop {
  public static var maximumLegs: Int {
    @_noLocks @_noAllocation get { 32 }
  }
  /// The largest number of servo chips of one loop.
  public static var maximumChips: Int {
    @_noLocks @_noAllocation get { 8 }
  }
  /// The mailboxes of the loop: requests and rules go to the loop; answers, notices and snapshots come from it.
  public typealias Mailbox = LoopMailbox<LegRequest, LegRefusal, LegNotice, LegSnapshot, LegRules>
  /// Creates the mailboxes of a loop for these legs, with the settings of the legs as rules.
  public static func mailbox(_ legs: [LegConfiguration]) throws(RuntimeError) -> Mailbox {
    try Mailbox(
      state: LegSnapshot(legs: legs.count), rules: LegRules(legs.map(\.settings)), notices: 1_024)
  }
  /// The interval of telemetry frames: 100 ms, as LegCtrl demands 10 Hz.
  public static var telemetryPeriod: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(100_000_000) }
  }
  /// The interval at which the chip is checked for a loss of power.
  public static var checkPeriod: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(200_000_000) }
  }
  /// The silence after which telemetry to a listener ends, on ports without connections.
  static var listenerPatience: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(60_000_000_000) }
  }
  static var batchesPerTick: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  let count: Int
  /// The slots of the legs, `count` of them. They are stored behind a pointer, as is the snapshot, because Swift copies a whole inline
  /// array to read a member of one element.
  let legs: UnsafeMutablePointer<LegSlot>
  var bank: ServoBank
  var player: LegPlayer
  private var meter: LegBatteryMeter?
  var ports: LegPorts
  var batch = DatagramBatch(capacity: 32, size: 64)
  var ends: Mailbox.Ends
  var rulesChanges: UInt64 = 0
  private let commandAge: AgeMeter
  private let snapshot: UnsafeMutablePointer<LegSnapshot>
  let bytes: UnsafeMutableRawBufferPointer
  var nextTelemetry: TickInstant?
  private var nextCheck = TickInstant(nanoseconds: 0)
  /// Whether the chip has failed and has not been ready since.
  private var hasFailed = false

  // These values are valid within one tick.
  var now = TickInstant(nanoseconds: 0)
  /// The instant at which the command that is being decided was issued or arrived, or `nil` between commands and for a command without a known
  /// instant.
  var heardAt: TickInstant?
  /// The instant at which the oldest command whose pulse waits for `flush` was issued or arrived, or `nil` if no such command waits.
  private var pendingHeardAt: TickInstant?

  /// Creates a loop for legs on one chip; the parameters are those of the other initialiser.
  ///
  /// - Parameter outputEnable: one line; more than one is a programming error.
  public init(
    ends: consuming Mailbox.Ends, servos: [ServoChannel], chip: PCA9685, on bus: consuming I2CBus,
    outputEnable: consuming GPIOLines? = nil, battery: LegBattery? = nil, ports: consuming LegPorts,
    sequences: consuming LatestReader<LegSequence>? = nil,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter()
  ) {
    let isWired = outputEnable != nil
    precondition(outputEnable?.count ?? 1 == 1, "a chip has one output-enable pin")
    self.init(
      ends: ends, servos: servos.map { LegServo($0) }, chips: [chip], on: bus, outputEnable: outputEnable,
      lines: [isWired ? 0 : nil], battery: battery, ports: ports, sequences: sequences, commandAge: commandAge)
  }

  /// Creates the loop of all legs on these chips.
  ///
  /// - Parameters:
  ///   - servos: the servo of each leg in order, 1…32, each on an output of its own; anything else is a programming error. The legs'
  ///     settings are the rules of the mailboxes.
  ///   - chips: 1…8 chips with different addresses.
  ///   - outputEnable: the lines that are wired to the chips' output-enable pins and requested active-low, as the pins are, or `nil` if
  ///     every pin is tied low.
  ///   - lines: for each chip the number of its line among `outputEnable`, or `nil` if its pin is tied low. Chips may share a line.
  ///   - battery: the battery's sensor on the chips' bus, or `nil` if the battery is not measured; telemetry then reports 0 mV.
  ///   - ports: a UDP socket for each leg in order, and further links.
  ///   - sequences: the loop's end of a `LegSequenceBook`, or `nil` if no sequence is played.
  ///   - ends: the loop's side of the mailboxes. Requests are answered in order.
  ///   - commandAge: receives, for each command that a chip took in the tick that read the command, the instant at which its datagram
  ///     arrived or its request was issued. Commands by a link other than a socket have no such instant.
  public init(
    ends: consuming Mailbox.Ends, servos: [LegServo], chips: [PCA9685], on bus: consuming I2CBus,
    outputEnable: consuming GPIOLines? = nil, lines: [Int?], battery: LegBattery? = nil, ports: consuming LegPorts,
    sequences: consuming LatestReader<LegSequence>? = nil,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter()
  ) {
    precondition((1...Self.maximumLegs).contains(servos.count), "there are 1…32 legs")
    precondition(servos.allSatisfy { chips.indices.contains($0.chip) }, "a leg without a chip")
    precondition(
      Set(servos.map { [$0.chip, $0.channel.number] }).count == servos.count, "two legs on one channel")
    precondition(ports.legs == servos.count, "every leg has a socket")
    let rules = ends.rules
    precondition(rules.count == servos.count, "every leg has its settings")
    count = servos.count
    legs = .allocate(capacity: count)
    for (index, servo) in servos.enumerated() {
      var mates = Self.bit(index)
      for (other, mate) in servos.enumerated() where servo.group != nil && mate.group == servo.group {
        mates |= Self.bit(other)
      }
      (legs + index).initialize(to: LegSlot(rules[index], servo, mates: mates))
    }
    bank = ServoBank(chips, on: bus, enable: outputEnable, lines: lines)
    player = LegPlayer(sequences)
    meter = battery.map { LegBatteryMeter($0) }
    self.ports = ports
    self.ends = ends
    self.commandAge = commandAge
    snapshot = .allocate(capacity: 1)
    snapshot.initialize(to: LegSnapshot(legs: servos.count, links: self.ports.count))
    bytes = .allocate(byteCount: LegTelemetry.encodedLength, alignment: 8)
    prepareLegsToThrow()
  }

  public func addMemory(to memory: inout LoopMemory) {
    memory.add(legs, count: count)
    memory.add(snapshot)
    bank.addMemory(to: &memory)
    player.addMemory(to: &memory)
    ports.addMemory(to: &memory)
  }

  deinit {
    legs.deallocate()
    snapshot.deallocate()
    bytes.deallocate()
  }

  /// The earliest of the deadlines of deadmen, servo releases, the chip's start and telemetry.
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
    ends.begin(tick)
    takeRules()
    for index in 0..<count {
      if let deadline = legs[index].machine.nextDeadline, !(now < deadline) { decideTogether(legs[index].mates, .tick) }
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
    ends.beginSafeState(tick)
    switch cause {
    case .misses(let releases): decideAll(.missed(releases: releases))
    case .externalStop: decideAll(.externalStop)
    case .stop:
      decideAll(.shutdown)
      // An off that a chip has not confirmed is repeated here, because no tick follows.
      for _ in 0..<2 where !isOff { turnAllOff() }
      nextTelemetry = now
      report()
    }
    finish()
  }

  /// Whether the chip has confirmed the off of every leg at shutdown.
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
    watchSequence()
    for index in 0..<count { noteEdge(index) }
    let snapshot = snapshot
    snapshot.pointee.servos = bank.status
    snapshot.pointee.sequence = player.status
    if let meter { snapshot.pointee.battery = meter.status }
    for index in 0..<count {
      let leg = legs + index
      leg.pointee.status.state = leg.pointee.machine.state
      leg.pointee.status.lastCommand = leg.pointee.machine.lastCommand
      leg.pointee.status.battery = leg.pointee.machine.battery
      snapshot.pointee[index] = leg.pointee.status
    }
    for port in 0..<ports.count { snapshot.pointee.setLink(port, ports.status(port)) }
    ends.finish(snapshot.pointee, isSafe: isSafe)
  }

  // MARK: outputs

  /// Steps the machine of one leg, or of all legs of its group if the event is for the group, and returns the verdict. An off is written to
  /// the chip at once, a pulse after the tick has read all inputs.
  @_noLocks @_noAllocation @discardableResult
  mutating func decide(_ index: Int, _ event: LegEvent) -> LegVerdict {
    let mates = legs[index].mates
    guard mates.nonzeroBitCount > 1, event.isForGroup else { return decideAlone(index, event) }
    if case .order(.command(.setServo)) = event {
      let verdict = decideAlone(index, event)
      if case .accepted = verdict {
        // A group has one deadman, so the pulse of one leg feeds the others, too.
        for mate in 0..<count where mate != index && mates & Self.bit(mate) != 0 {
          decideAlone(mate, .order(.command(.ping)))
        }
      }
      return verdict
    }
    return decideTogether(mates, event)
  }

  @_noLocks @_noAllocation @discardableResult
  private mutating func decideAlone(_ index: Int, _ event: LegEvent) -> LegVerdict {
    let action = step(index, event)
    switch action.output {
    case .none: break
    case .pulse(let pulse): set(index, pulse)
    case .off: turnOff(index)
    }
    if case .accepted = action.verdict, case .order(.command(.setServo(let pulse))) = event {
      let leg = legs + index
      leg.pointee.status.count(pulse, within: leg.pointee.machine.settings)
      if Mechanism.sequenceYields.acts, player.legs & Self.bit(index) != 0 { endSequence(.commanded) }
    }
    return action.verdict
  }

  /// Steps the machines of the legs with a bit in `mask`, in the same tick. An arm is for all of them or, if one refuses, for none. Returns
  /// the first verdict that is not accepted; `nothingToReset` only if every leg gave it.
  @_noLocks @_noAllocation @discardableResult
  mutating func decideTogether(_ mask: UInt32, _ event: LegEvent) -> LegVerdict {
    if mask.nonzeroBitCount == 1 { return decideAlone(mask.trailingZeroBitCount, event) }
    if case .order(.command(.arm)) = event {
      for index in 0..<count where mask & Self.bit(index) != 0 {
        if let reason = legs[index].machine.armRefusal { return .ignored(reason) }
      }
    }
    var first = LegVerdict.accepted
    var hasAccepted = false
    var offs: UInt32 = 0
    for index in 0..<count where mask & Self.bit(index) != 0 {
      let action = step(index, event)
      switch action.verdict {
      case .accepted: hasAccepted = true
      case .ignored(let reason):
        if case .accepted = first, !reason.isNothingToReset { first = action.verdict }
      }
      switch action.output {
      case .none: break
      case .pulse(let pulse): set(index, pulse)
      case .off: offs |= Self.bit(index)
      }
    }
    turnOff(offs)
    if case .ignored = first { return first }
    return hasAccepted ? .accepted : .ignored(.nothingToReset)
  }

  /// Steps the machines of all legs. If all of them must be off, one transfer a chip does it. Returns the first verdict that is not accepted
  /// and its leg; `nothingToReset` counts as accepted.
  @_noLocks @_noAllocation @discardableResult
  mutating func decideAll(_ event: LegEvent) -> (LegVerdict, Int) {
    var first: (LegVerdict, Int) = (.accepted, 0)
    var offs: UInt32 = 0
    for index in 0..<count {
      let action = step(index, event)
      let leg = legs + index
      leg.pointee.status.count(action.verdict)
      if case .ignored(let reason) = action.verdict, case .accepted = first.0, !reason.isNothingToReset {
        first = (action.verdict, index)
      }
      switch action.output {
      case .none: break
      case .pulse(let pulse): set(index, pulse)
      case .off: offs |= Self.bit(index)
      }
    }
    turnOff(offs)
    return first
  }

  @_noLocks @_noAllocation
  static func bit(_ index: Int) -> UInt32 { 1 &<< UInt32(truncatingIfNeeded: index) }

  @_noLocks @_noAllocation
  mutating func step(_ index: Int, _ event: LegEvent) -> LegAction {
    let leg = legs + index
    return leg.pointee.machine.step(event, at: now)
  }

  /// Sets a pulse, which the next `flush` writes.
  @_noLocks @_noAllocation
  private mutating func set(_ index: Int, _ pulse: PulseWidth) {
    bank.set(legs[index].output, legs[index].channel.wired(pulse))
    guard let heardAt else { return }
    if let pending = pendingHeardAt, pending < heardAt { return }
    pendingHeardAt = heardAt
  }

  /// Turns the legs with a bit in `mask` off: all of them by one transfer a chip, some by as few as the chips allow.
  @_noLocks @_noAllocation
  private mutating func turnOff(_ mask: UInt32) {
    guard mask != 0 else { return }
    if mask.nonzeroBitCount == count { return turnAllOff() }
    if mask.nonzeroBitCount == 1 { return turnOff(mask.trailingZeroBitCount) }
    do throws(ServoBankFailure) {
      for chip in 0..<bank.count {
        var channels: UInt16 = 0
        for index in 0..<count where mask & Self.bit(index) != 0 && legs[index].output / PCA9685.channelCount == chip {
          channels |= 1 &<< UInt16(truncatingIfNeeded: legs[index].output % PCA9685.channelCount)
        }
        guard channels != 0, try bank.turnOff(channels, ofChip: chip) else { continue }
        if let heardAt { commandAge.uses(sampledAt: heardAt) }
        for index in 0..<count where mask & Self.bit(index) != 0 && legs[index].output / PCA9685.channelCount == chip {
          _ = step(index, .offConfirmed)
        }
      }
    } catch {
      fail(error)
    }
  }

  @_noLocks @_noAllocation
  private mutating func turnOff(_ index: Int) {
    do throws(ServoBankFailure) {
      guard try bank.turnOff(legs[index].output) else { return }
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

  /// Handles a failure of a chip: no leg may drive, whatever chip it is on. All channels are turned off at once if the bus still works.
  @_noLocks @_noAllocation
  private mutating func fail(_ failure: ServoBankFailure) {
    if !hasFailed { ends.report(.chipFails(failure)) }
    hasFailed = true
    for index in 0..<count { _ = step(index, .outputFailed) }
    guard !failure.isTimeOut else { return }
    do throws(ServoBankFailure) {
      try bank.turnAllOff()
      confirmAll()
    } catch {
      // The off is tried again at the next period.
    }
  }
  /// Does the work of the period: the chip first, then every leg.
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
    steer()
    for index in 0..<count { decide(index, .tick) }
  }

  /// Measures the battery. This follows the transfers of the servo chip, because the battery is less urgent.
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
      if isBack { ends.report(.batteryAnswers) }
      for index in 0..<count { decide(index, .order(.battery(voltage))) }
    case .silent(let failure):
      ends.report(.batterySilent(failure))
      for index in 0..<count { decide(index, .order(.battery(nil))) }
    }
  }

  @_noLocks @_noAllocation
  private mutating func startChip() {
    guard let due = bank.nextDeadline, !(now < due) else { return }
    do throws(ServoBankFailure) {
      try bank.start()
      nextCheck = now + Self.checkPeriod
      if hasFailed { ends.report(.chipAnswers) }
      hasFailed = false
    } catch {
      fail(error)
    }
  }

  // MARK: notices

  @_noLocks @_noAllocation
  private mutating func noteEdge(_ index: Int) {
    let state = legs[index].machine.state
    if legs[index].told.isEdge(to: state) {
      ends.report(.state(leg: index, state))
    }
    legs[index].told = state
  }
}
