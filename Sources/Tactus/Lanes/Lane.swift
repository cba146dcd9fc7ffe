/// The kernel's scheduling of a lane's thread.
public enum Scheduling: Sendable, Hashable {
  /// The kernel's ordinary scheduling, which guarantees nothing.
  case normal
  /// SCHED_FIFO with this priority, 1…99. The thread runs before all threads of lower priority.
  case fifo(Int)
  /// SCHED_DEADLINE: up to `runtime` of processor time in each `period`, delivered within `deadline` of the period's start, with
  /// `runtime ≤ deadline ≤ period`. The kernel refuses a reservation that it cannot keep. Cannot be combined with CPUs.
  case deadline(runtime: Nanoseconds, deadline: Nanoseconds, period: Nanoseconds)
}

extension Scheduling: CustomStringConvertible {
  /// The scheduling as text: `normal`, `fifo 80` or `deadline 2 ms / 5 ms / 5 ms` (runtime, deadline, period).
  public var description: String {
    switch self {
    case .normal: "normal"
    case .fifo(let priority): "fifo \(priority)"
    case .deadline(let runtime, let deadline, let period): "deadline \(runtime) / \(deadline) / \(period)"
    }
  }
}

/// The deadline misses that count towards a loop's safe state.
public enum CountedMisses: BitwiseCopyable {
  /// Every miss counts, since the state of the hardware is uncertain after a miss.
  case all
  /// Only misses that this stall caused on request count; with `nil` no miss counts.
  ///
  /// A loop with simulated hardware then reacts only to injected faults, however loaded the machine is.
  case injected(LaneStall.Served?)
}

/// The policy for periodic releases that have come due before the loop could run them.
///
/// Whatever the policy, release instants stay `start + phase + k × period`: no policy shifts the phase.
public enum LatePolicy: Sendable, Hashable, BitwiseCopyable {
  /// Runs the newest release that is due and gives up the older ones. The policy is for control loops, for which only the present counts.
  case skip
  /// Runs up to `limit` missed releases late and in order before the newest, and gives up the older ones. The policy is for
  /// work that is counted, such as integration steps. `limit` is 0 or more; the runtime refuses a negative one.
  case catchUp(limit: Int64)
  /// Runs the oldest release that is due, late, and then gives up all that have come due by its end. The loop rests until its next
  /// release in phase, so that a loop that is too slow does not take up the whole lane.
  case runLate
}

/// One dedicated thread and the loops it owns. Loops of one lane never run at the same time.
public struct Lane {
  let name: String
  let scheduling: Scheduling
  let cpus: CPUSet?
  let loops: [Loop]

  /// Declares a lane that runs on any CPU or on a single one.
  ///
  /// - Parameters:
  ///   - name: a name that is unique in the runtime; its first 15 bytes become the thread's name.
  ///   - scheduling: how the kernel schedules the lane's thread.
  ///   - cpu: the one CPU that the thread runs on, counted from 0, or `nil` for any.
  ///   - loops: the loops of the lane, at least one. If two are due, the one with the shorter period runs first.
  public init(_ name: String, scheduling: Scheduling = .normal, cpu: Int? = nil, @LoopBuilder loops: () -> [Loop]) {
    self.init(name, scheduling: scheduling, cpus: cpu.map { [$0] }, loops: loops)
  }

  /// Declares a lane that runs on one of several CPUs.
  ///
  /// - Parameters:
  ///   - name: a name that is unique in the runtime; its first 15 bytes become the thread's name.
  ///   - scheduling: how the kernel schedules the lane's thread.
  ///   - cpus: the CPUs that the thread may run on, at least one, or `nil` for any. CPUs that are offline or outside the process's
  ///     control group are refused in the lane's report; the thread runs on the others.
  ///   - loops: the loops of the lane, at least one.
  public init(_ name: String, scheduling: Scheduling = .normal, cpus: CPUSet?, @LoopBuilder loops: () -> [Loop]) {
    self.name = name
    self.scheduling = scheduling
    self.cpus = cpus
    self.loops = loops()
  }
}

extension Lane {
  /// Returns the same lane with only these loops, for the replay of a recording that the others were not part of.
  public func only(_ names: [String]) -> Lane {
    Lane(name, scheduling: scheduling, cpus: cpus) { loops.filter { names.contains($0.name) } }
  }
}

/// The declaration of one loop.
public struct Loop {
  let name: String
  let rate: Rate
  let phase: Nanoseconds?
  /// The names of the loops after which this loop runs.
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
  private(set) var isRecorded = true

  /// Creates a loop whose body is made once, by this initialiser, and serves a single run. `Runtime` refuses a second run with
  /// `.ranAlready`, because the body still holds state of the first, such as instants of a simulation. It is for bodies that own
  /// a resource that exists only once. The other initialiser declares a loop that can run again.
  ///
  /// `Runtime` refuses values that are out of range with `.invalidLoop`.
  /// - Parameters:
  ///   - name: a name that is unique in the runtime.
  ///   - rate: how often the loop is released.
  ///   - phase: time from the start to the first release, 0 or more. With `nil` the loop has the phase of the loops it runs `after`;
  ///     without such loops the planner chooses a phase away from the lane's other loops.
  ///   - predecessors: loops of the same lane whose output this loop uses. When this loop and a predecessor are due, the predecessor
  ///     runs first, however late the lane is and whatever the late policies are. Loops that share a phase run in order within one release.
  ///     At different rates the order holds wherever releases coincide: a 100 Hz loop after a 1 kHz loop reads in each of its
  ///     ticks the value of the same instant; a 1 kHz loop after a 100 Hz loop reads the value of the same instant in every tenth
  ///     tick, and the last value in the ticks between. Predecessors become as urgent as this loop. `Runtime` refuses with
  ///     `.invalidOrder` an unknown name, a loop of another lane, a circle, and phases with which no two releases coincide.
  ///   - late: what happens to releases that come due before the loop could run them.
  ///   - deadline: time after a release by which its tick must have ended, or `nil` for the period.
  ///   - executionTime: the longest a tick takes. When every loop of the lane declares one, a set that cannot meet its
  ///     deadlines is refused.
  ///   - tolerance: the lateness beyond which a late wake-up counts as oversleep, or `nil` for a tenth of the period.
  ///   - safeStateAfter: the number of consecutive misses (releases that were skipped or ended past the deadline) after which the
  ///     loop enters its safe state; 0 for never.
  ///   - counting: the misses that count towards `safeStateAfter`.
  ///   - inputs: inputs whose arrival also releases the loop. A lane has at most 60 inputs.
  ///   - minimumInterval: the shortest time between two releases by any input, and before a deadline that has already passed releases
  ///     the loop; more than 0.
  ///   - ages: the ages of the data that the loop acts on, see `DataAge`. Each belongs to one loop.
  ///   - body: makes the loop's body; called once, by this initialiser.
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

  /// Creates a loop whose body is made anew for each run, so that a simulation does not change the run that follows. The body of the
  /// previous run has been released by then, so the mailbox ends that it held can be taken again.
  ///
  ///     Loop("balance", every: .hertz(1000), eachRun: { Balance(tilt: tilt.reader()) })
  ///
  /// `Runtime.start()`, `simulation()` and `simulate()` call `body` on the thread of their caller. All other parameters are those
  /// of the initialiser above.
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
  /// Returns the same loop, left out of recordings and replays. It is for the loop of a simulated world, and for a loop that only watches other
  /// loops.
  public func unrecorded() -> Loop {
    var loop = self
    loop.isRecorded = false
    return loop
  }

  /// The reason why the declaration is invalid, or `nil` if it is valid.
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

/// The result builder behind the braces of `Lane` and `Runtime`. It takes elements, lists of elements, `if`, `else` and `for`, and
/// keeps the order in which they are written.
@resultBuilder
public enum ListBuilder<Element> {
  /// Returns a list of one element.
  public static func buildExpression(_ element: Element) -> [Element] { [element] }
  /// Returns the elements of a list that was made elsewhere, in their order.
  public static func buildExpression(_ elements: [Element]) -> [Element] { elements }
  /// Returns everything between two braces, in the order in which it is written.
  public static func buildBlock(_ lists: [Element]...) -> [Element] { lists.flatMap { $0 } }
  /// Returns the elements of an `if` without `else`, or an empty list when its condition is false.
  public static func buildOptional(_ list: [Element]?) -> [Element] { list ?? [] }
  /// Returns the first branch of an `if` with `else`.
  public static func buildEither(first list: [Element]) -> [Element] { list }
  /// Returns the `else` branch of an `if`.
  public static func buildEither(second list: [Element]) -> [Element] { list }
  /// Returns the elements of all rounds of a `for`, one round after the other.
  public static func buildArray(_ lists: [[Element]]) -> [Element] { lists.flatMap { $0 } }
}
