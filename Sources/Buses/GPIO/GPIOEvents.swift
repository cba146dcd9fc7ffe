import Tactus

/// The changes of a line that are reported.
public enum GPIOEdges: UInt8, Sendable, BitwiseCopyable {
  /// Changes from inactive to active are reported.
  case rising
  /// Changes from active to inactive are reported.
  case falling
  /// All changes are reported.
  case both
}

/// An input line whose changes are reported.
public struct GPIOInput: Sendable, Hashable {
  /// The setting of the chip's pull resistor.
  public enum Pull: Sendable, Hashable {
    /// The resistor stays as it was set at boot.
    case asIs
    /// The resistor pulls toward the supply.
    case up
    /// The resistor pulls toward ground.
    case down
    /// No resistor is connected, so the line floats unless a device drives it.
    case none
  }
  /// The line, and the level at which it is active.
  public var line: GPIOLine
  /// The changes that are reported.
  public var edges: GPIOEdges
  /// The time for which a level must stay before a change counts; the instant of the change is the end of this time. With `.zero` a
  /// change counts immediately.
  public var debounce: Nanoseconds
  /// The setting of the chip's pull resistor for this line.
  public var pull: Pull

  /// Creates an input with the given properties. `debounce` must be at least 0 s and less than 4,000 s, or the call traps.
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
  /// The instant at which the kernel detected the change, on CLOCK_MONOTONIC; with a debounce it is the instant at which the change counted.
  public var at: TickInstant
  /// The index of the line in the request, from 0.
  public var line: Int
  /// Whether the line became active; otherwise it became inactive.
  public var isRising: Bool
  /// The number of the change among the line's reported changes, from 1, including changes that were lost because the reader was
  /// too slow. Wraps around.
  public var sequence: UInt32

  /// Creates a change by hand, for tests.
  @_noLocks @_noAllocation
  public init(at: TickInstant, line: Int, isRising: Bool, sequence: UInt32) {
    self.at = at
    self.line = line
    self.isRising = isRising
    self.sequence = sequence
  }
}

/// A buffer for receiving changes, created once and used in every tick.
public struct GPIOEdgeBatch: ~Copyable {
  /// The greatest capacity of a batch.
  public static var maximumCapacity: Int {
    @_noLocks @_noAllocation get { 64 }
  }
  /// The greatest number of changes that one call of `receive` takes.
  public let capacity: Int
  /// The number of changes that the last call of `receive` took.
  public internal(set) var count = 0
  let edges: UnsafeMutablePointer<GPIOEdge>

  /// Creates a batch for `capacity` changes, 1…64.
  public init(capacity: Int = maximumCapacity) {
    precondition((1...Self.maximumCapacity).contains(capacity))
    self.capacity = capacity
    edges = .allocate(capacity: capacity)
    edges.initialize(repeating: GPIOEdge(at: .zero, line: 0, isRising: false, sequence: 0), count: capacity)
  }

  deinit { edges.deallocate() }

  /// The change `index` of the last call of `receive`, 0..<`count`, in the order of their occurrence. Another index traps.
  @_noLocks @_noAllocation
  public subscript(index: Int) -> GPIOEdge {
    precondition(index >= 0 && index < count)
    return edges[index]
  }
}

/// The buffer that the receive function of a port fills.
public struct GPIOEdgeBuffer {
  /// The number of changes for which there is room.
  public let capacity: Int
  /// The memory for the changes, the oldest first.
  public let edges: UnsafeMutablePointer<GPIOEdge>
  /// The instant of the tick that receives. Simulated lines deliver the changes that have happened by then.
  public let at: TickInstant
}

/// Input lines that were requested together, as a loop uses them. Reading never blocks and allocates nothing.
///
/// The type is not copyable: one loop owns the lines. The kernel keeps 16 unread changes per line and then drops the oldest;
/// `GPIOEdge.sequence` still counts the dropped ones, so a `GPIOPulseCount` does not miss any.
public struct GPIOEvents: ~Copyable {
  /// Fills the `GPIOEdgeBuffer` to which the second pointer points. Returns the number of changes, which is 0 if none is waiting, or −errno.
  public typealias Receive = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int

  let context: UnsafeMutableRawPointer
  let receiveFunction: Receive
  let performFunction: GPIOLines.Perform
  /// The number of lines, 1…64.
  public let count: Int
  /// The descriptor on which a lane waits for changes, or `nil` for simulated lines.
  public let descriptor: Int32?
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero

  /// Creates a port. `context` must stay valid as long as the port; its creator owns it. Both functions carry `@_noLocks
  /// @_noAllocation`; `perform` is called for reads only.
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

  /// Takes up to `batch.capacity` changes in one call and sets `batch.count` to their number, or to 0 after an error. Returns
  /// `true` if the batch is full, so that more changes may be waiting.
  @_noLocks @_noAllocation
  public mutating func receive(into batch: inout GPIOEdgeBatch) throws(GPIOError) -> Bool {
    var buffer = GPIOEdgeBuffer(capacity: batch.capacity, edges: batch.edges, at: now)
    let result = receiveOrReplay(&buffer)
    batch.count = result > 0 ? result : 0
    if result < 0 { throw GPIOError(errno: Int32(truncatingIfNeeded: -result)) }
    return batch.count == batch.capacity
  }

  /// Returns a mask of the lines that are active now, with bit k for line k. The levels are debounced for lines that have a debounce.
  @_noLocks @_noAllocation
  public mutating func read() throws(GPIOError) -> UInt64 {
    let all = UInt64.max >> UInt64(64 - count)
    var access = GPIOAccess(.read, mask: all, at: now)
    let result = callPerform(performFunction, context, &access)
    if result < 0 { throw GPIOError(errno: -result) }
    return access.values & all
  }
}

extension GPIOEvents {
  /// Receives edges from the lines and records them, or in a replay returns the recorded ones.
  @_noLocks @_noAllocation
  private func receiveOrReplay(_ buffer: UnsafeMutablePointer<GPIOEdgeBuffer>) -> Int {
    guard let tape = TickTape.current else { return callReceive(receiveFunction, context, buffer) }
    var result = 0
    if !tape.isReplaying {
      let paused = TickTape.pause()
      result = callReceive(receiveFunction, context, buffer)
      TickTape.resume(paused)
    }
    tape.gets(.gpioEdges, &result, 8)
    let count = result < buffer.pointee.capacity ? result : buffer.pointee.capacity
    if count > 0 { tape.gets(.gpioEdges, buffer.pointee.edges, count &* MemoryLayout<GPIOEdge>.stride) }
    return result
  }
}

@_semantics("no_performance_analysis") @inline(never)
private func callReceive(
  _ receive: GPIOEvents.Receive, _ context: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer
) -> Int {
  receive(context, buffer)
}
