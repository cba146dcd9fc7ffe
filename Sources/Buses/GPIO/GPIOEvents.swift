import Tactus

/// Which changes of a line are reported.
public enum GPIOEdges: UInt8, Sendable, BitwiseCopyable {
  /// From inactive to active.
  case rising
  /// From active to inactive.
  case falling
  /// Both of them.
  case both
}

/// An input line whose changes are wanted.
public struct GPIOInput: Sendable, Hashable {
  /// The chip's own resistor.
  public enum Pull: Sendable, Hashable {
    /// As it was set at boot.
    case asIs
    /// Toward the supply.
    case up
    /// Toward ground.
    case down
    /// No resistor: the line floats unless something drives it.
    case none
  }
  /// Which line, and which of its levels is active.
  public var line: GPIOLine
  /// Which of its changes are reported.
  public var edges: GPIOEdges
  /// A change counts once the level has stayed for this time; its instant is then the end of this wait. `.zero`: it counts at once.
  public var debounce: Nanoseconds
  /// The resistor that the chip is to switch on.
  public var pull: Pull

  /// An input of these properties. `debounce` is 0 s or more and less than 4,000 s; another traps.
  public init(
    _ name: GPIOLineName, isActiveLow: Bool = false, edges: GPIOEdges = .rising, debounce: Nanoseconds = .zero,
    pull: Pull = .asIs
  ) {
    precondition(debounce.count >= 0 && debounce.count < 4_000_000_000_000, "a debounce is 0…4000 s")
    line = GPIOLine(name, isActiveLow: isActiveLow)
    self.edges = edges
    self.debounce = debounce
    self.pull = pull
  }
}

/// One change of an input line.
public struct GPIOEdge: Sendable, Hashable, BitwiseCopyable {
  /// When the kernel saw it, by CLOCK_MONOTONIC; with a debounce, when it counted.
  public var at: TickInstant
  /// The line of the request, 0….
  public var line: Int
  /// Whether the line became active.
  public var isRising: Bool
  /// Counts the line's reported changes from 1, including changes that were lost because the reader was too slow. Wraps around.
  public var sequence: UInt32

  /// A change made by hand, for tests.
  @_noLocks @_noAllocation
  public init(at: TickInstant, line: Int, isRising: Bool, sequence: UInt32) {
    self.at = at
    self.line = line
    self.isRising = isRising
    self.sequence = sequence
  }
}

/// A buffer for one drain of changes, made once and used in every tick.
public struct GPIOEdgeBatch: ~Copyable {
  /// The most changes that one drain can take.
  public static var maximumCapacity: Int {
    @_noLocks @_noAllocation get { 64 }
  }
  /// How many changes one drain takes.
  public let capacity: Int
  /// Changes of the last drain.
  public internal(set) var count = 0
  let edges: UnsafeMutablePointer<GPIOEdge>

  /// `capacity`: 1…64.
  public init(capacity: Int = maximumCapacity) {
    precondition((1...Self.maximumCapacity).contains(capacity))
    self.capacity = capacity
    edges = .allocate(capacity: capacity)
    edges.initialize(repeating: GPIOEdge(at: .zero, line: 0, isRising: false, sequence: 0), count: capacity)
  }

  deinit { edges.deallocate() }

  /// The changes of the last drain, 0..<`count`, in the order in which they happened; another index traps.
  @_noLocks @_noAllocation
  public subscript(index: Int) -> GPIOEdge {
    precondition(index >= 0 && index < count)
    return edges[index]
  }
}

/// What the receive function of a port fills.
public struct GPIOEdgeBuffer {
  /// How many changes there is room for.
  public let capacity: Int
  /// Where the changes go, oldest first.
  public let edges: UnsafeMutablePointer<GPIOEdge>
  /// The tick that drains: simulated lines deliver what has happened by then.
  public let at: TickInstant
}

/// Input lines that were requested together, as a loop sees them: never blocks, allocates nothing.
///
/// Not copyable: one set of lines, one owning loop. The kernel keeps 16 changes a line until they are taken and then drops
/// the oldest; `GPIOEdge.sequence` still counts those, so a `GPIOPulseCount` does not miss any.
public struct GPIOEvents: ~Copyable {
  /// Fills the `GPIOEdgeBuffer` behind the second pointer. Returns how many, 0 when there are none, or −errno.
  public typealias Receive = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int

  let context: UnsafeMutableRawPointer
  let receiveFunction: Receive
  let performFunction: GPIOLines.Perform
  /// Lines, 1…64.
  public let count: Int
  /// What a lane waits on to be released by a change; nil when simulated.
  public let descriptor: Int32?
  /// Set by the owning loop at the start of its tick.
  public var now = TickInstant.zero

  /// `context` must stay valid as long as the port; its maker owns it. Both functions carry
  /// `@_noLocks @_noAllocation`; `perform` is only asked to read.
  public init(
    context: UnsafeMutableRawPointer, count: Int, descriptor: Int32?, receive: @escaping Receive,
    perform: @escaping GPIOLines.Perform
  ) {
    precondition((1...GPIOLines.maximumCount).contains(count), "1…64 lines are requested together")
    self.context = context
    self.count = count
    self.descriptor = descriptor
    receiveFunction = receive
    performFunction = perform
    prepareGPIOToThrow()
  }

  /// Takes up to `batch.capacity` changes in one call; `batch.count` says how many, 0 after an error. Returns true when the
  /// batch is full, so that more may be waiting.
  @_noLocks @_noAllocation
  public mutating func receive(into batch: inout GPIOEdgeBatch) throws(GPIOError) -> Bool {
    var buffer = GPIOEdgeBuffer(capacity: batch.capacity, edges: batch.edges, at: now)
    let result = callReceive(receiveFunction, context, &buffer)
    batch.count = result > 0 ? result : 0
    if result < 0 { throw GPIOError(errno: Int32(truncatingIfNeeded: -result)) }
    return batch.count == batch.capacity
  }

  /// Which lines are active now, bit k for the k-th; debounced where that was asked for.
  @_noLocks @_noAllocation
  public mutating func read() throws(GPIOError) -> UInt64 {
    let all = UInt64.max >> UInt64(64 - count)
    var access = GPIOAccess(.read, mask: all, at: now)
    let result = callPerform(performFunction, context, &access)
    if result < 0 { throw GPIOError(errno: -result) }
    return access.values & all
  }
}

@_semantics("no_performance_analysis") @inline(never)
private func callReceive(
  _ receive: GPIOEvents.Receive, _ context: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer
) -> Int {
  receive(context, buffer)
}
