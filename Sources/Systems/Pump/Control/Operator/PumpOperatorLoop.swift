import Buses
import Tactus

/// The operator side's loop, 10 Hz: requests and lines in, commands, a snapshot and notices out.
///
/// Order of a tick: settings, deadlines, connection, lines, requests, the period's own work, snapshot, answers. What a step sends is
/// written at once. Work is bounded: 64 requests, 2 KB of lines.
public struct PumpOperatorLoop: ~Copyable, ControlLoop {
  public static let rate = Rate.hertz(10)
  /// Requests to the loop; its answers, notices and snapshots from it.
  public typealias Channel = LoopChannel<PumpRequest, PumpAnswer, PumpNotice, PumpSnapshot>
  /// A channel for one loop, of which a tick takes 64 requests at most.
  public static func channel() -> Channel { Channel(state: PumpSnapshot(), requestsPerTick: 64, notices: 1_024) }
  private static var bytesPerTick: Int {
    @_noLocks @_noAllocation get { 2_048 }
  }

  private var machine: PumpOperatorMachine
  private var settings: RulesInput<PumpOperatorSettings>
  private var settingsChanges: UInt64 = 0
  private var link: PumpLink
  private var channel: Channel.Ends
  private let turnsOffAtEnd: Bool
  private var snapshot = PumpSnapshot()
  private var assembler = PumpLineAssembler()
  private let line = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PumpLineAssembler.standardCapacity, alignment: 8)
  private let command = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PumpCommand.maximumEncodedLength, alignment: 8)
  /// What the log knows.
  private var toldState: PumpOperatorState
  private var toldContact: PumpContact
  private var now = TickInstant.zero

  /// - Parameters:
  ///   - settings: those that are committed hold from the next tick on.
  ///   - governor: with what was pumped before, or `nil` if the pump has rested.
  ///   - channel: the loop's side of a channel that `channel()` has made. Each request is answered, in their order.
  ///   - turnsOffAtEnd: false for who only looks: the pump stays what it is when the runtime stops.
  public init(
    _ settings: consuming RulesInput<PumpOperatorSettings>, governor: PumpGovernor? = nil, link: consuming PumpLink,
    channel: consuming Channel.Ends, turnsOffAtEnd: Bool = true
  ) {
    machine = PumpOperatorMachine(settings.rules, governor: governor)
    self.settings = settings
    toldState = machine.state
    toldContact = machine.contact
    self.link = link
    self.channel = channel
    self.turnsOffAtEnd = turnsOffAtEnd
    preparePumpToThrow()
  }

  deinit {
    line.deallocate()
    command.deallocate()
  }

  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get { machine.nextDeadline }
  }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    channel.begin(tick)
    takeSettings()
    takeConnection()
    readLines()
    // A line that says the device is gone ends the connection in the same tick.
    takeConnection()
    takeRequests()
    apply(.tick)
    finish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    switch cause {
    case .misses(let releases): apply(.missed(releases: releases))
    // Who only looks has told the pump nothing, nor has anybody for it.
    case .externalStop: if turnsOffAtEnd { apply(.externalStop) }
    case .stop:
      takeConnection()
      readLines()
      if turnsOffAtEnd { apply(.shutdown) }
    }
    finish()
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    now = instant
    link.begin(at: instant)
  }

  @_noLocks @_noAllocation
  private mutating func takeSettings() {
    settings.begin()
    guard settings.changes != settingsChanges else { return }
    settingsChanges = settings.changes
    apply(.settings(settings.rules))
  }

  @_noLocks @_noAllocation
  private mutating func takeConnection() {
    while let event = link.takeEvent() {
      assembler.reset()
      switch event {
      case .up:
        snapshot.connections &+= 1
        apply(.linked)
      case .down: apply(.unlinked)
      }
    }
  }

  @_noLocks @_noAllocation
  private mutating func readLines() {
    var count = 0
    while count < Self.bytesPerTick, let bytes = link.receive() {
      count &+= bytes.count
      for index in 0..<bytes.count {
        switch assembler.take(bytes[index], into: line) {
        // A piece of a reply says nothing for certain; whatever it was is asked for again.
        case .incomplete, .cut, .rest: break
        case .line(let count): hear(UnsafeRawBufferPointer(start: line.baseAddress, count: count))
        case .dropped:
          snapshot.dropped &+= 1
          apply(.invalidLine)
        }
      }
    }
  }

  @_noLocks @_noAllocation
  private mutating func hear(_ bytes: UnsafeRawBufferPointer) {
    let reply: PumpReply
    do throws(PumpLineError) {
      reply = try PumpReply.decode(bytes)
    } catch {
      snapshot.malformed &+= 1
      snapshot.lastMalformed = error
      apply(.invalidLine)
      return
    }
    snapshot.lines &+= 1
    apply(.reply(reply))
  }

  @_noLocks @_noAllocation
  private mutating func takeRequests() {
    while let request = channel.next() {
      var verdict = PumpVerdict.accepted
      if let event = request.event(at: now) {
        verdict = apply(event)
        snapshot.count(verdict)
      }
      channel.answer(PumpAnswer(number: request.number, verdict, at: now))
    }
  }

  @_noLocks @_noAllocation @discardableResult
  private mutating func apply(_ event: PumpOperatorEvent) -> PumpVerdict {
    let action = machine.step(event, at: now)
    if let failure = action.failure {
      snapshot.failures &+= 1
      snapshot.lastFailure = failure
      notice(.failed(failure))
    }
    if action.connects { link.connect() }
    if let next = action.command {
      let count = next.encode(into: command)
      for _ in 0..<action.copies {
        if link.send(UnsafeRawBufferPointer(start: command.baseAddress, count: count)) {
          snapshot.sent &+= 1
        } else {
          snapshot.sendFailures &+= 1
        }
      }
    }
    noteEdges()
    return action.verdict
  }

  // MARK: news

  @_noLocks @_noAllocation
  private mutating func noteEdges() {
    if toldContact.isEdge(to: machine.contact) { notice(.contact(machine.contact)) }
    toldContact = machine.contact
    if toldState.isEdge(to: machine.state) { notice(.state(machine.state, machine.source)) }
    toldState = machine.state
  }

  @_noLocks @_noAllocation
  private mutating func finish() {
    settings.finish(isSafe: machine.state.isSafe)
    snapshot.at = now
    snapshot.state = machine.state
    snapshot.contact = machine.contact
    snapshot.source = machine.source
    snapshot.speed = machine.speed
    snapshot.status = machine.status
    snapshot.statusAt = machine.statusAt
    snapshot.temperatures = machine.temperatures
    snapshot.temperaturesAt = machine.temperaturesAt
    snapshot.spent = machine.governor.spent(at: now)
    if case .some = machine.settings.runLimit { snapshot.left = machine.governor.left(at: now) }
    snapshot.restedAt = machine.governor.restedAt
    snapshot.governor = machine.governor
    snapshot.noticesDropped = channel.noticesDropped
    snapshot.answersDropped = channel.answersDropped
    channel.finish(snapshot)
  }

  @_noLocks @_noAllocation
  private mutating func notice(_ subject: PumpNotice.Subject) { channel.tell(PumpNotice(at: now, subject)) }
}
