import Buses
import Tactus

/// The valves' loop: requests and the flow sensor in, lines, notices and a snapshot out.
///
/// Its period, 1 Hz, is for the countdown that people see and for reading the lines back; valves close at their deadlines,
/// which release the loop by themselves. Order of a tick: flow limits, flow, deadlines, requests, read-back, notices, snapshot, answers.
/// Every change is one call that sets all lines at once, made the moment it is decided and read back then.
/// Work is bounded: 512 requests, 4 × 64 changes of the sensor's line.
public struct SprinklerLoop: ~Copyable, ControlLoop {
  /// Requests to the loop; its answers, notices and snapshots from it.
  public typealias Channel = LoopChannel<SprinklerRequest, SprinklerAnswer, IrrigationNotice, SprinklerSnapshot>
  /// A channel for one loop, of which a tick takes 512 requests at most. Notices that find no room wait in the machine.
  public static func channel(notices: Int = 1_024) -> Channel {
    Channel(state: SprinklerSnapshot(), requestsPerTick: 512, answers: 1_024, notices: notices)
  }
  public static var period: Nanoseconds {
    @_noLocks @_noAllocation get { Nanoseconds(1_000_000_000) }
  }
  private static var batchesPerTick: Int {
    @_noLocks @_noAllocation get { 4 }
  }

  private var machine: IrrigationMachine
  private var limits: RulesInput<FlowLimits>
  private var limitChanges: UInt64 = 0
  private var lines: GPIOLines
  private var flow: GPIOEvents?
  private var edges = GPIOEdgeBatch()
  private var pulses = GPIOPulseCount()
  private var channel: Channel.Ends
  private let commandAge: AgeMeter
  private let flowAge: AgeMeter
  /// The one that is published, built in place. What counts in it takes the pointer into a constant first: with ThreadSanitizer, Swift 6.3.1
  /// does not compile `&+=` behind a stored pointer.
  private let snapshot: UnsafeMutablePointer<SprinklerSnapshot>
  /// When queued runs are expected to open.
  private let expected: UnsafeMutablePointer<TickInstant?>

  // Within one tick.
  private var now = TickInstant.zero
  private var hasRead = false
  /// The instant at which the request was issued that is being decided on, or `nil` while no request is.
  private var issued: TickInstant?

  /// - Parameters:
  ///   - settings: as many lines as `lines` has; anything else is our bug.
  ///   - limits: of the flow, in place of the settings'; those that are committed hold from the next tick on, wider ones once every line has
  ///     confirmed that it is off.
  ///   - lines: every zone's and the master valve's, requested off.
  ///   - flow: the flow sensor's line, which reports one kind of edge, or `nil` if there is none.
  ///   - channel: the loop's side of a channel that `channel(notices:)` has made. Each request is answered, in their order.
  ///   - commandAge: told when each request was issued that has set the lines.
  ///   - flowAge: told of the oldest change of the sensor's line that a tick decides on: when the kernel saw it.
  public init(
    _ settings: IrrigationSettings, limits: consuming RulesInput<FlowLimits>, lines: consuming GPIOLines,
    flow: consuming GPIOEvents? = nil, channel: consuming Channel.Ends,
    commandAge: consuming AgeMeter = DataAge("command", fromOutside: .releasesLoop).meter(),
    flowAge: consuming AgeMeter = DataAge("flow", fromOutside: .releasesLoop).meter()
  ) {
    precondition(lines.count == settings.lineCount, "the settings are for other lines")
    var settings = settings
    settings.flow?.limits = limits.rules
    machine = IrrigationMachine(settings)
    self.limits = limits
    self.lines = lines
    self.flow = flow
    self.channel = channel
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

  @_noLocks @_noAllocation
  public mutating func tick(_ tick: Tick) {
    begin(at: tick.started)
    channel.begin(tick)
    takeLimits()
    drainFlow()
    var isPeriod = false
    if case .period = tick.cause { isPeriod = true }
    var isDue = isPeriod
    if let deadline = machine.nextDeadline, deadline.isReached(at: now) { isDue = true }
    if isDue { decide(.tick) }
    takeRequests()
    if isPeriod, !hasRead { readBack() }
    finish()
  }

  @_noLocks @_noAllocation
  public mutating func safeState(_ tick: Tick, cause: SafeStateCause) {
    begin(at: tick.started)
    switch cause {
    case .misses(let releases): decide(.missed(releases: releases))
    case .externalStop(let since): decide(.externalStop(since: since))
    case .stop:
      decide(.shutdown)
      // No tick follows that could repeat it.
      for _ in 0..<2 where !machine.confirmation.isConfirmed { decide(.tick) }
    }
    finish()
  }

  @_noLocks @_noAllocation
  private mutating func begin(at instant: TickInstant) {
    now = instant
    lines.now = instant
    flow?.now = instant
    hasRead = false
    issued = nil
  }

  // MARK: inputs

  @_noLocks @_noAllocation
  private mutating func takeLimits() {
    limits.begin()
    guard limits.changes != limitChanges else { return }
    limitChanges = limits.changes
    decide(.flowLimits(limits.rules))
  }

  @_noLocks @_noAllocation
  private mutating func drainFlow() {
    guard flow != nil else { return }
    let snapshot = snapshot
    for _ in 0..<Self.batchesPerTick {
      do throws(GPIOError) {
        guard let isFull = try flow?.receive(into: &edges) else { return }
        for index in 0..<edges.count {
          pulses.take(edges[index])
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
  private mutating func takeRequests() {
    let snapshot = snapshot
    while let request = channel.next() {
      var verdict = IrrigationVerdict.accepted
      if let event = request.event(at: now) {
        issued = request.issued
        verdict = decide(event)
        issued = nil
      }
      switch verdict {
      case .accepted: snapshot.pointee.accepted &+= 1
      case .refused(let reason):
        snapshot.pointee.refused &+= 1
        snapshot.pointee.lastRefusal = reason
      }
      channel.answer(SprinklerAnswer(number: request.number, verdict, until: until(of: request), at: now))
    }
  }

  /// When the valve closes that the request is about.
  @_noLocks @_noAllocation
  private func until(of request: SprinklerRequest) -> TickInstant? {
    switch request.order {
    case .run(let run, _): return machine.end(of: run.zone, ifRunning: run.id)
    case .extend(let zone, _): return machine.end(of: zone, ifRunning: nil)
    default: return nil
    }
  }

  // MARK: outputs

  /// Steps the machine, and sets the lines as it says: again if what comes of that changes them.
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

  /// All lines in one call, and read back. What they must be now, if that is something else.
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

  /// Whether the lines still are as they were told.
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
    limits.finish(isSafe: machine.lines == 0 && machine.confirmation.isConfirmed)
    handNotices()
    snapshot.pointee.at = now
    machine.show(in: snapshot, expected: expected, at: now)
    snapshot.pointee.answersDropped = channel.answersDropped
    channel.finish(snapshot.pointee)
  }

  /// What finds the ring full stays in the machine until the next tick.
  @_noLocks @_noAllocation
  private mutating func handNotices() {
    let snapshot = snapshot
    while let notice = machine.nextNotice, channel.tell(notice) {
      machine.takeNotice()
      if case .ended(let run) = notice.subject {
        snapshot.pointee.ended &+= 1
        if case .completed = run.outcome { snapshot.pointee.completed &+= 1 }
      }
    }
  }
}
