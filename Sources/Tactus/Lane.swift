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
  ///   - cpu: the one CPU the thread stays on, from 0; nil: any.
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
  let body: LoopBody

  /// - Parameters:
  ///   - name: unique in the runtime.
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
  ///   - body: makes the loop; called once, here.
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
      minimumInterval: minimumInterval, body: LoopBody(body))
  }

  @usableFromInline init(
    name: String, rate: Rate, phase: Nanoseconds?, late: LatePolicy, deadline: Nanoseconds?,
    executionTime: Nanoseconds?, tolerance: Nanoseconds?, safeStateAfter: Int, counting: CountedMisses,
    inputs: [LoopInput], minimumInterval: Nanoseconds, body: LoopBody
  ) {
    precondition(minimumInterval > .zero, "a minimum interval of nothing would release a loop for ever at one instant")
    if case .catchUp(let limit) = late { precondition(limit >= 0, "a number of releases is 0 or more") }
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

/// Lists of loops and lanes, with `if` and `for`.
public typealias LoopBuilder = ListBuilder<Loop>
public typealias LaneBuilder = ListBuilder<Lane>

@resultBuilder
public enum ListBuilder<Element> {
  public static func buildExpression(_ element: Element) -> [Element] { [element] }
  public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
  public static func buildBlock(_ lists: [Element]...) -> [Element] { lists.flatMap { $0 } }
  public static func buildOptional(_ list: [Element]?) -> [Element] { list ?? [] }
  public static func buildEither(first list: [Element]) -> [Element] { list }
  public static func buildEither(second list: [Element]) -> [Element] { list }
  public static func buildArray(_ lists: [[Element]]) -> [Element] { lists.flatMap { $0 } }
}
