/// How a lane's thread is scheduled by the kernel.
public enum Scheduling: Sendable, Hashable {
  /// The kernel's ordinary scheduling: no promise.
  case normal
  /// SCHED_FIFO at this priority, 1…99: runs before everything of lower priority.
  case fifo(Int)
  /// SCHED_DEADLINE: at most `runtime` of CPU in each `period`, delivered by `deadline` after its start;
  /// `runtime ≤ deadline ≤ period`. The kernel refuses what cannot be kept. Not together with a CPU.
  case deadline(runtime: Nanoseconds, deadline: Nanoseconds, period: Nanoseconds)
}

/// Which misses lead a loop into its safe state.
public enum CountedMisses: BitwiseCopyable {
  /// Every one: nobody knows what the hardware did meanwhile.
  case all
  /// Only those that a stall has made which somebody asked for; `nil` if none can be asked for, so that no miss counts.
  ///
  /// For a loop whose hardware is simulated: it shows no fault that nobody injected, however loaded the machine is.
  case injected(LaneStall.Served?)
}

/// One dedicated thread and the loops it owns. Loops of one lane never run at the same time.
public struct Lane {
  let name: String
  let scheduling: Scheduling
  let cpu: Int?
  let loops: [Loop]

  /// - Parameters:
  ///   - name: unique in the runtime; the first 15 bytes become the thread's name.
  ///   - scheduling: how the kernel schedules the lane's thread.
  ///   - cpu: the one CPU the thread stays on, from 0; nil: any.
  ///   - loops: the loops of the lane, at least one. Of two that are due the one with the shorter period goes first.
  public init(_ name: String, scheduling: Scheduling = .normal, cpu: Int? = nil, @LoopBuilder loops: () -> [Loop]) {
    self.name = name
    self.scheduling = scheduling
    self.cpu = cpu
    self.loops = loops()
  }
}

/// The declaration of one loop.
public struct Loop {
  let name: String
  let rate: Rate
  let phase: Nanoseconds?
  let late: LatePolicy
  let deadline: Nanoseconds?
  let executionTime: Nanoseconds?
  let tolerance: Nanoseconds?
  let safeStateAfter: Int
  let countedMisses: CountedMisses
  let inputs: [LoopInput]
  let minimumInterval: Nanoseconds
  let body: BodySource

  /// A loop whose body is made once, here, and serves one run: `Runtime` refuses a second with `.ranAlready`, since what the
  /// first one left in the body (the instants of a simulation, for one) would be taken for its own. For bodies that hold
  /// what there is only once. See the other initialiser for a loop that may run again.
  ///
  /// What is out of range here is refused by `Runtime` with `.invalidLoop`.
  /// - Parameters:
  ///   - name: unique in the runtime.
  ///   - rate: how often it is released.
  ///   - phase: of the first release after the start, 0 or more; nil: the planner spreads it away from the lane's other
  ///     loops.
  ///   - late: what happens to releases that come due before the loop could run them.
  ///   - deadline: after a release, by when its tick has to end; nil: the period.
  ///   - executionTime: the longest a tick takes. When every loop of the lane declares one, a set that cannot meet its
  ///     deadlines is refused.
  ///   - tolerance: lateness beyond which a late wake-up counts as oversleep; nil: a tenth of the period.
  ///   - safeStateAfter: consecutive misses (skipped, or ended past the deadline) after which the loop's safe state is
  ///     entered; 0: never.
  ///   - counting: which misses these are.
  ///   - inputs: what also releases the loop, by arrival; whichever is ready. Those of a lane are at most 60.
  ///   - minimumInterval: between two releases by input, whichever they are, and before a deadline that has passed already releases the
  ///     loop; more than 0.
  ///   - body: makes the body; called once, here.
  @inlinable
  public init<Body: ControlLoop & ~Copyable>(
    _ name: String, every rate: Rate, phase: Nanoseconds? = nil, late: LatePolicy = .skip,
    deadline: Nanoseconds? = nil, executionTime: Nanoseconds? = nil, tolerance: Nanoseconds? = nil,
    safeStateAfter: Int = 0, counting: CountedMisses = .all, inputs: [LoopInput] = [],
    minimumInterval: Nanoseconds = .milliseconds(1),
    body: () -> Body
  ) {
    self.init(
      name: name, rate: rate, phase: phase, late: late, deadline: deadline, executionTime: executionTime,
      tolerance: tolerance, safeStateAfter: safeStateAfter, counting: counting, inputs: inputs,
      minimumInterval: minimumInterval, body: .made(LoopBody(body)))
  }

  /// A loop whose body is made anew for each run, so that simulating and then starting is the same as starting. The body of
  /// the run before is gone by then: the mailbox ends that it held can be had again.
  ///
  ///     Loop("balance", every: .hertz(1000), eachRun: { Balance(tilt: tilt.reader()) })
  ///
  /// `body` makes the body. It is called by `Runtime.start()`, `simulation()` and `simulate()` on the thread that calls them. All
  /// other parameters are those of the initialiser above.
  @_disfavoredOverload
  @inlinable
  public init<Body: ControlLoop & ~Copyable>(
    _ name: String, every rate: Rate, phase: Nanoseconds? = nil, late: LatePolicy = .skip,
    deadline: Nanoseconds? = nil, executionTime: Nanoseconds? = nil, tolerance: Nanoseconds? = nil,
    safeStateAfter: Int = 0, counting: CountedMisses = .all, inputs: [LoopInput] = [],
    minimumInterval: Nanoseconds = .milliseconds(1),
    eachRun body: @escaping () -> Body
  ) {
    self.init(
      name: name, rate: rate, phase: phase, late: late, deadline: deadline, executionTime: executionTime,
      tolerance: tolerance, safeStateAfter: safeStateAfter, counting: counting, inputs: inputs,
      minimumInterval: minimumInterval, body: .eachRun({ LoopBody(body) }))
  }

  @usableFromInline init(
    name: String, rate: Rate, phase: Nanoseconds?, late: LatePolicy, deadline: Nanoseconds?,
    executionTime: Nanoseconds?, tolerance: Nanoseconds?, safeStateAfter: Int, counting: CountedMisses,
    inputs: [LoopInput], minimumInterval: Nanoseconds, body: BodySource
  ) {
    self.name = name
    self.rate = rate
    self.phase = phase
    self.late = late
    self.deadline = deadline
    self.executionTime = executionTime
    self.tolerance = tolerance
    self.safeStateAfter = safeStateAfter
    countedMisses = counting
    self.inputs = inputs
    self.minimumInterval = minimumInterval
    self.body = body
  }
}

extension Loop {
  /// What is wrong with the declaration; `nil` if nothing is.
  var flaw: String? {
    if let flaw = rate.flaw { return flaw }
    if minimumInterval <= .zero {
      return "a minimum interval is more than 0, or the loop would be released for ever at one instant; got "
        + "\(minimumInterval)"
    }
    if case .catchUp(let limit) = late, limit < 0 {
      return "a number of releases to catch up is 0 or more, got \(limit)"
    }
    if let phase, phase > Rate.periods.upperBound { return "a phase is at most 10⁹ s, got \(phase)" }
    if let deadline, deadline <= .zero { return "a deadline is more than 0, got \(deadline)" }
    if let executionTime, executionTime < .zero { return "an execution time is 0 or more, got \(executionTime)" }
    if let tolerance, tolerance < .zero { return "a tolerance is 0 or more, got \(tolerance)" }
    if safeStateAfter < 0 { return "a number of misses is 0 or more, got \(safeStateAfter)" }
    return nil
  }
}

/// Builds the list of a lane's loops, with `if` and `for`.
public typealias LoopBuilder = ListBuilder<Loop>
/// Builds the list of a runtime's lanes, with `if` and `for`.
public typealias LaneBuilder = ListBuilder<Lane>

/// The result builder behind the braces of `Lane` and `Runtime`: elements, lists of elements, `if`, `else` and `for`, in the
/// order in which they are written.
@resultBuilder
public enum ListBuilder<Element> {
  /// One element.
  public static func buildExpression(_ element: Element) -> [Element] { [element] }
  /// A list that was made before, in its order.
  public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
  /// Everything between two braces, in the order in which it is written.
  public static func buildBlock(_ lists: [Element]...) -> [Element] { lists.flatMap { $0 } }
  /// An `if` without `else`: nothing when its condition is false.
  public static func buildOptional(_ list: [Element]?) -> [Element] { list ?? [] }
  /// The first branch of an `if` with `else`.
  public static func buildEither(first list: [Element]) -> [Element] { list }
  /// The `else` of an `if`.
  public static func buildEither(second list: [Element]) -> [Element] { list }
  /// A `for`: all rounds, one after the other.
  public static func buildArray(_ lists: [[Element]]) -> [Element] { lists.flatMap { $0 } }
}
