/// How a lane's thread is scheduled by the kernel.
public enum Scheduling: Sendable, Hashable {
  /// The kernel's ordinary scheduling: no promise.
  case normal
  /// SCHED_FIFO at this priority, 1…99: runs before everything of lower priority.
  case fifo(Int)
  /// SCHED_DEADLINE: at most `runtime` of CPU in each `period`, delivered by `deadline` after its start;
  /// `runtime ≤ deadline ≤ period`. The kernel refuses what cannot be kept. Not together with CPUs.
  case deadline(runtime: Nanoseconds, deadline: Nanoseconds, period: Nanoseconds)
}

/// Which misses lead a loop into its safe state.
public enum CountedMisses: BitwiseCopyable {
  /// Every miss, since the state of the hardware is uncertain after it.
  case all
  /// Only misses that this stall has made on request, or `nil` if there is no stall, so that no miss counts.
  ///
  /// For a loop whose hardware is simulated: it shows only faults that were injected, however loaded the machine is.
  case injected(LaneStall.Served?)
}

/// One dedicated thread and the loops it owns. Loops of one lane never run at the same time.
public struct Lane {
  let name: String
  let scheduling: Scheduling
  let cpus: CPUSet?
  let loops: [Loop]

  /// - Parameters:
  ///   - name: unique in the runtime; the first 15 bytes become the thread's name.
  ///   - scheduling: how the kernel schedules the lane's thread.
  ///   - cpu: the one CPU the thread stays on, from 0; `nil` for any.
  ///   - loops: the loops of the lane, at least one. Of two that are due the one with the shorter period goes first.
  public init(_ name: String, scheduling: Scheduling = .normal, cpu: Int? = nil, @LoopBuilder loops: () -> [Loop]) {
    self.init(name, scheduling: scheduling, cpus: cpu.map { [$0] }, loops: loops)
  }

  /// - Parameters:
  ///   - name: unique in the runtime; the first 15 bytes become the thread's name.
  ///   - scheduling: how the kernel schedules the lane's thread.
  ///   - cpus: those that the thread stays on, one at least; `nil` for any. Those of them that are offline or that the process's
  ///     control group does not have are refused in the lane's report; the thread runs on the others.
  ///   - loops: the loops of the lane, at least one.
  public init(_ name: String, scheduling: Scheduling = .normal, cpus: CPUSet?, @LoopBuilder loops: () -> [Loop]) {
    self.name = name
    self.scheduling = scheduling
    self.cpus = cpus
    self.loops = loops()
  }
}

/// The declaration of one loop.
public struct Loop {
  let name: String
  let rate: Rate
  let phase: Nanoseconds?
  /// Names of the loops that it runs after.
  let predecessors: [String]
  let late: LatePolicy
  let deadline: Nanoseconds?
  let executionTime: Nanoseconds?
  let tolerance: Nanoseconds?
  let safeStateAfter: Int
  let countedMisses: CountedMisses
  let inputs: [LoopInput]
  let minimumInterval: Nanoseconds
  let ages: [DataAge]
  let body: BodySource

  /// A loop whose body is made once, here, and serves one run: `Runtime` refuses a second with `.ranAlready`, since what the
  /// first one left in the body (the instants of a simulation, for one) would be taken for its own. For bodies that hold
  /// what there is only once. See the other initialiser for a loop that may run again.
  ///
  /// What is out of range here is refused by `Runtime` with `.invalidLoop`.
  /// - Parameters:
  ///   - name: unique in the runtime.
  ///   - rate: how often it is released.
  ///   - phase: of the first release after the start, 0 or more; `nil` for that of the loops it runs `after`; without such the
  ///     planner spreads it away from the lane's other loops.
  ///   - predecessors: loops of the same lane whose output this loop uses. When it and one of them are due, that one runs first,
  ///     however late the lane is and whatever the late policies; so it does, with a phase for both, within one release.
  ///     At different rates the order holds wherever releases coincide: a 100 Hz loop after a 1 kHz loop finds in each of its
  ///     ticks the value of the same instant; a 1 kHz loop after a 100 Hz loop does in every tenth, and in between the
  ///     last one. Those that it follows become as urgent as this loop is. `Runtime` refuses with `.invalidOrder` an
  ///     unknown name, a loop of another lane, a circle, and phases that let no two releases coincide.
  ///   - late: what happens to releases that come due before the loop could run them.
  ///   - deadline: after a release, by when its tick has to end; `nil` for the period.
  ///   - executionTime: the longest a tick takes. When every loop of the lane declares one, a set that cannot meet its
  ///     deadlines is refused.
  ///   - tolerance: lateness beyond which a late wake-up counts as oversleep; `nil` for a tenth of the period.
  ///   - safeStateAfter: consecutive misses (skipped, or ended past the deadline) after which the loop's safe state is
  ///     entered; 0 for never.
  ///   - counting: which misses these are.
  ///   - inputs: what also releases the loop, by arrival; whichever is ready. Those of a lane are at most 60.
  ///   - minimumInterval: between two releases by input, whichever they are, and before a deadline that has passed already releases the
  ///     loop; more than 0.
  ///   - ages: how old the data is that the loop acts on, see `DataAge`. Each belongs to one loop.
  ///   - body: makes the body; called once, here.
  @inlinable
  public init<Body: ControlLoop & ~Copyable>(
    _ name: String, every rate: Rate, phase: Nanoseconds? = nil, after predecessors: String...,
    late: LatePolicy = .skip, deadline: Nanoseconds? = nil, executionTime: Nanoseconds? = nil,
    tolerance: Nanoseconds? = nil, safeStateAfter: Int = 0, counting: CountedMisses = .all, inputs: [LoopInput] = [],
    minimumInterval: Nanoseconds = .milliseconds(1), ages: [DataAge] = [],
    body: () -> Body
  ) {
    self.init(
      name: name, rate: rate, phase: phase, predecessors: predecessors, late: late, deadline: deadline,
      executionTime: executionTime, tolerance: tolerance, safeStateAfter: safeStateAfter, counting: counting,
      inputs: inputs, minimumInterval: minimumInterval, ages: ages, body: .made(LoopBody(body)))
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
    _ name: String, every rate: Rate, phase: Nanoseconds? = nil, after predecessors: String...,
    late: LatePolicy = .skip, deadline: Nanoseconds? = nil, executionTime: Nanoseconds? = nil,
    tolerance: Nanoseconds? = nil, safeStateAfter: Int = 0, counting: CountedMisses = .all, inputs: [LoopInput] = [],
    minimumInterval: Nanoseconds = .milliseconds(1), ages: [DataAge] = [],
    eachRun body: @escaping () -> Body
  ) {
    self.init(
      name: name, rate: rate, phase: phase, predecessors: predecessors, late: late, deadline: deadline,
      executionTime: executionTime, tolerance: tolerance, safeStateAfter: safeStateAfter, counting: counting,
      inputs: inputs, minimumInterval: minimumInterval, ages: ages, body: .eachRun({ LoopBody(body) }))
  }

  @usableFromInline init(
    name: String, rate: Rate, phase: Nanoseconds?, predecessors: [String] = [], late: LatePolicy,
    deadline: Nanoseconds?, executionTime: Nanoseconds?, tolerance: Nanoseconds?, safeStateAfter: Int,
    counting: CountedMisses, inputs: [LoopInput], minimumInterval: Nanoseconds, ages: [DataAge] = [], body: BodySource
  ) {
    self.name = name
    self.rate = rate
    self.phase = phase
    self.predecessors = predecessors
    self.late = late
    self.deadline = deadline
    self.executionTime = executionTime
    self.tolerance = tolerance
    self.safeStateAfter = safeStateAfter
    countedMisses = counting
    self.inputs = inputs
    self.minimumInterval = minimumInterval
    self.ages = ages
    self.body = body
  }
}

extension Loop {
  /// What is wrong with the declaration, or `nil` if nothing is.
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
    if Set(ages.map(\.name)).count < ages.count { return "two of its ages have one name" }
    if let age = ages.first(where: { $0.path.isEmpty && $0.arrival == nil }) {
      return "its age \"\(age.name)\" names no loop that it comes from"
    }
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
