import Buses
import Tactus

/// The control loop of the valves. Its inputs are requests, the flow sensor, the rain sensor and the comparators in the soil; its outputs are the GPIO lines, notices and a snapshot.
///
/// The period of 1 s serves the countdown that users see and the read-back of the lines; valves close at their own deadlines,
/// which release the loop between periods. Order of a tick: flow limits, flow, deadlines, requests, read-back, rain, soil, notices, snapshot, answers.
/// Every change of the lines is one call that sets all of them, made as soon as it is decided and read back immediately.
/// Work per tick is bounded: 512 requests, 4 × 64 edges of the flow sensor's line.
public struct SprinklerLoop: ~Copyable, ControlLoop {
  /// Creates the mailbox of one loop, from which a tick takes at most 512 requests. Notices that find the ring full wait in the machine.
  ///
  /// A request that opens a valve and a reset become stale after 800 ms, which is less than the 1 s for which clients wait for the answer: a request
  /// that its client has given up cannot open a valve.
  ///
  /// - Parameter limits: the flow limits, which replace those of the settings. Committed changes apply from the next tick on; wider limits apply once
  ///   every line is confirmed off.
  public static func mailbox(limits: RulesBox<FlowLimits>, notices: Int = 1_024) throws(RuntimeError)
    -> SprinklerMailbox
  {
    try SprinklerMailbox(
      state: SprinklerSnapshot(), rules: limits, requestsPerTick: 512, answers: 1_024, notices: notices,
      patience: .milliseconds(800))
  }
  public static var period: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_000_000_000) }
  }
  private static var batchesPerTick: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  private var machine: IrrigationMachine
  private var limitChanges: UInt64 = 0
  private var lines: GPIOLines
  private var flow: GPIOEvents?
  private var rain: GPIOEvents?
  private var soil: SoilLines
  private var edges = GPIOEdgeBatch()
  private var pulses = GPIOPulseCount()
  private var ends: SprinklerMailbox.Ends
  private let commandAge: AgeMeter
  private let flowAge: AgeMeter
  /// The snapshot to be published, built in place. Code that increments one of its counters first copies the pointer to a constant, as
  /// Swift 6.3.1 with ThreadSanitizer does not compile `&+=` through a stored pointer.
  private let snapshot: UnsafeMutablePointer<SprinklerSnapshot>
  /// Scratch space for the instants at which queued runs are expected to open.
  private let expected: UnsafeMutablePointer<TickInstant?>

  // State of the tick in progress.
  private var now = TickInstant.zero
  private var hasRead = false
  /// The instant at which the request being handled was issued, or `nil` if no request is being handled.
  private var issued: TickInstant?

  /// Creates the loop.
  ///
  /// - Parameters:
  ///   - settings: the installation's settings, with as many lines as `lines` has; any other number is a programming error.
  ///   - lines: the lines of all zones and of the master valve, requested as off.
  ///   - flow: the flow sensor's line, which reports one kind of edge, or `nil` if there is no sensor.
  ///   - rain: the rain sensor's line, active while it is wet, which is read once a period; `nil` if there is no sensor.
  ///   - soil: the lines of comparators in the soil, each active while its soil is wet, which are read once a period.
  ///   - ends: the loop's side of the mailbox that `mailbox(limits:notices:)` created. Every request is answered, in order.
  ///   - commandAge: receives the issue time of every request that set the lines.
  ///   - flowAge: receives the kernel's timestamps of the flow sensor's edges; it measures the age of the oldest edge that a tick uses.
  public init(
    _ settings: IrrigationSettings, lines: consuming GPIOLines, flow: consuming GPIOEvents? = nil,
    rain: consuming GPIOEvents? = nil, soil: consuming SoilLines = SoilLines(),
    ends: consuming SprinklerMailbox.Ends,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter(),
    flowAge: consuming AgeMeter = DataAge("flow", fromOutside: .releasesLoop).meter()
  ) {
    precondition(lines.count == settings.lineCount, "the settings are for other lines")
    var settings = settings
    settings.flow?.limits = ends.rules
    machine = IrrigationMachine(settings)
    self.lines = lines
    self.flow = flow
    self.rain = rain
    self.soil = soil
    self.ends = ends
    self.commandAge = commandAge
    self.flowAge = flowAge
    snapshot = .allocate(capacity: 1)
    snapshot.initialize(to: SprinklerSnapshot())
    if self.flow != nil { snapshot.pointee.flow = FlowStatus() }
    if settings.master != nil { snapshot.pointee.isMasterOpen = false }
    expected = .allocate(capacity: SprinklerSnapshot.shownQueue)
    expected.initialize(repeating: nil, count: SprinklerSnapshot.shownQueue)
  }

  deinit {
    snapshot.deallocate()
    expected.deallocate()
  }

  public var nextDeadline: TickInstant? {
    @_noLocks @_noAllocation get { machine.nextDeadline }
  }

  public func addMemory(to memory: inout LoopMemory) {
    memory.add(snapshot)
    memory.add(expected, count: SprinklerSnapshot.shownQueue)
    soil.addMemory(to: &memory)
  }

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    ends.begin(tick)
    takeLimits()
    drainFlow()
    var isPeriod = false
    if case .period = tick.cause { isPeriod = true }
    var isDue = isPeriod
    if let deadline = machine.nextDeadline, deadline.isReached(at: now) { isDue = true }
    if isDue { decide(.tick) }
    takeRequests()
    if isPeriod, !hasRead { readBack() }
    if isPeriod {
      readRain()
      snapshot.pointee.soil = soil.read(at: now)
    }
    finish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    ends.beginSafeState(tick)
    switch cause {
    case .misses(let releases): decide(.missed(releases: releases))
    case .externalStop(let since): decide(.externalStop(since: since))
    case .stop:
      decide(.shutdown)
      // No tick follows that could repeat the write, so it is repeated here.
      for _ in 0..<2 where !machine.confirmation.isConfirmed { decide(.tick) }
    }
    finish()
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    now = instant
    lines.now = instant
    flow?.now = instant
    rain?.now = instant
    hasRead = false
    issued = nil
  }

  // MARK: inputs

  @_noLocks @_noAllocation
  private mutating func takeLimits() {
    guard ends.rulesChanges != limitChanges else { return }
    limitChanges = ends.rulesChanges
    decide(.flowLimits(ends.rules))
  }

  @_noLocks @_noAllocation
  private mutating func drainFlow() {
    guard flow != nil else { return }
    let snapshot = snapshot
    for _ in 0..<Self.batchesPerTick {
      do throws(GPIOError) {
        guard let isFull = try flow?.receive(into: &edges) else { return }
        for index in 0..<edges.count {
          pulses.add(edges[index])
          flowAge.uses(sampledAt: edges[index].at)
        }
        if !isFull { break }
      } catch {
        snapshot.pointee.flow?.failures &+= 1
        return
      }
    }
    decide(.flow(pulses: pulses.count))
  }

  @_noLocks @_noAllocation
  private mutating func readRain() {
    let snapshot = snapshot
    do throws(GPIOError) {
      guard let active = try rain?.read() else { return }
      snapshot.pointee.rainSensor = active & 1 == 1 ? .wet : .dry
    } catch {
      snapshot.pointee.rainSensor = .unreadable
    }
  }

  @_noLocks @_noAllocation
  private mutating func takeRequests() {
    let snapshot = snapshot
    while let request = ends.nextOfAnyAge() {
      let isQuery = if case .query = request.order { true } else { false }
      var verdict = IrrigationVerdict.accepted
      if !isQuery {
        issued = request.issued
        verdict = decide(ends.isStale(request) ? .stale : .order(request.order))
        issued = nil
      }
      switch verdict {
      case .accepted:
        snapshot.pointee.accepted &+= 1
        ends.answer(request, .accepted)
      case .refused(let reason):
        snapshot.pointee.refused &+= 1
        snapshot.pointee.lastRefusal = reason
        ends.answer(request, .refused(reason))
      }
    }
  }

  // MARK: outputs

  /// Steps the machine and sets the lines as it decides, repeatedly if the result of a write changes the decision.
  @_noLocks @_noAllocation @discardableResult
  private mutating func decide(_ event: IrrigationEvent) -> IrrigationVerdict {
    let action = machine.step(event, at: now)
    var wanted = action.lines
    for _ in 0..<3 {
      guard let word = wanted else { break }
      wanted = set(word)
    }
    return action.verdict
  }

  /// Sets all lines in one call and reads them back. Returns the levels that the lines must now get, or `nil` if they need no change.
  @_noLocks @_noAllocation
  private mutating func set(_ word: UInt64) -> UInt64? {
    let snapshot = snapshot
    do throws(GPIOError) {
      try lines.set(mask: lines.all, values: word)
      snapshot.pointee.writes &+= 1
      if let issued { commandAge.uses(sampledAt: issued) }
    } catch {
      return fail(error)
    }
    return compare()
  }

  /// Reads the lines back and sets them again if they differ from the levels last written.
  @_noLocks @_noAllocation
  private mutating func readBack() {
    var wanted = compare()
    for _ in 0..<2 {
      guard let word = wanted else { return }
      wanted = set(word)
    }
  }

  @_noLocks @_noAllocation
  private mutating func compare() -> UInt64? {
    let snapshot = snapshot
    hasRead = true
    guard Mechanism.readBack.acts else { return machine.step(.linesConfirmed, at: now).lines }
    let read: UInt64
    do throws(GPIOError) { read = try lines.read() } catch { return fail(error) }
    snapshot.pointee.read = read
    if read == machine.lines { return machine.step(.linesConfirmed, at: now).lines }
    snapshot.pointee.differences &+= 1
    return machine.step(.linesDiffer(read: read), at: now).lines
  }

  @_noLocks @_noAllocation
  private mutating func fail(_ error: GPIOError) -> UInt64? {
    let snapshot = snapshot
    hasRead = true
    snapshot.pointee.read = nil
    snapshot.pointee.lineFailures &+= 1
    snapshot.pointee.lastLineFailure = error
    return machine.step(.linesFailed(error), at: now).lines
  }

  // MARK: news

  @_noLocks @_noAllocation
  private mutating func finish() {
    handNotices()
    snapshot.pointee.at = now
    machine.show(in: snapshot, expected: expected, at: now)
    ends.finish(snapshot.pointee, isSafe: machine.lines == 0 && machine.confirmation.isConfirmed)
  }

  /// Moves the machine's notices to the ring. Notices that find the ring full stay in the machine until the next tick.
  @_noLocks @_noAllocation
  private mutating func handNotices() {
    let snapshot = snapshot
    while let notice = machine.nextNotice, ends.report(notice) {
      machine.takeNotice()
      if case .ended(let run) = notice.subject {
        snapshot.pointee.ended &+= 1
        if case .completed = run.outcome { snapshot.pointee.completed &+= 1 }
      }
    }
  }
}
