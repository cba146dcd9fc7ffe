import Buses
import Tactus

/// The control loop of the operator side, at 10 Hz: reads requests and lines, and sends commands, a snapshot and notices.
///
/// The order of a tick: settings, deadlines, connection, lines, requests, periodic work, snapshot, answers. The commands of a step are written at
/// once. The work of a tick is bounded: 64 requests, 2 KB of lines.
public struct PumpOperatorLoop: ~Copyable, ControlLoop {
  public static let rate = Rate.hertz(10)
  private static var bytesPerTick: Int {
    @_noLocks @_noAllocation get { 2_048 }
  }

  private var machine: PumpOperatorMachine
  private var ends: PumpMailbox.Ends
  private var rulesChanges: UInt64 = 0
  private var link: PumpLink
  private let turnsOffAtEnd: Bool
  private var snapshot = PumpSnapshot()
  private var assembler = PumpLineAssembler()
  private let line = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PumpLineAssembler.standardCapacity, alignment: 8)
  private let command = UnsafeMutableRawBufferPointer.allocate(
    byteCount: PumpCommand.maximumEncodedLength, alignment: 8)
  /// The state that was last reported to the log.
  private var toldState: PumpOperatorState
  /// The contact that was last reported to the log.
  private var toldContact: PumpContact
  private var now = TickInstant.zero

  /// Creates the loop that operates a pump.
  ///
  /// - Parameters:
  ///   - ends: the loop's side of its mailboxes. Requests are answered in the order in which they were made.
  ///   - governor: the run limit with the time already used, or `nil` if the pump has rested.
  ///   - turnsOffAtEnd: whether the pump is turned off when the runtime stops; `false` for a program that only watches.
  public init(
    _ ends: consuming PumpMailbox.Ends, governor: PumpGovernor? = nil, link: consuming PumpLink,
    turnsOffAtEnd: Bool = true
  ) {
    machine = PumpOperatorMachine(ends.rules.operating, governor: governor)
    self.ends = ends
    toldState = machine.state
    toldContact = machine.contact
    self.link = link
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
    ends.begin(tick)
    takeSettings()
    takeConnection()
    readLines()
    // If reading has shown that the device is gone, the connection ends in the same tick.
    takeConnection()
    takeRequests()
    apply(.tick)
    finish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    ends.beginSafeState(tick)
    switch cause {
    case .misses(let releases): apply(.missed(releases: releases))
    // A program that only observes has sent nothing to the pump, and the guard has sent nothing for it.
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
    guard ends.rulesChanges != rulesChanges else { return }
    rulesChanges = ends.rulesChanges
    apply(.settings(ends.rules.operating))
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
        switch assembler.receive(bytes[index], into: line) {
        // A piece of a reply is not reliable; a command whose reply was lost is repeated.
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
    while let request = ends.next() {
      if case .query = request.order {
        ends.answer(request, .accepted)
        continue
      }
      let verdict = apply(.order(request.order))
      snapshot.count(verdict)
      ends.answer(request, verdict)
    }
  }

  @_noLocks @_noAllocation @discardableResult
  private mutating func apply(_ event: PumpOperatorEvent) -> PumpVerdict {
    let action = machine.step(event, at: now)
    if let failure = action.failure {
      snapshot.failures &+= 1
      snapshot.lastFailure = failure
      ends.report(.failed(failure))
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
    if toldContact.isEdge(to: machine.contact) { ends.report(.contact(machine.contact)) }
    toldContact = machine.contact
    if toldState.isEdge(to: machine.state) { ends.report(.state(machine.state, machine.source)) }
    toldState = machine.state
  }

  @_noLocks @_noAllocation
  private mutating func finish() {
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
    snapshot.runEnds = machine.runEnds
    snapshot.restedAt = machine.governor.restedAt
    snapshot.governor = machine.governor
    ends.finish(.operated(snapshot), isSafe: machine.state.isSafe)
  }
}
