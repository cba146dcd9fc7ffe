import Synchronization
import Tactus

/// Input lines of a `SimulatedGPIOBank`, held as long as this object exists. The bank's `set` and `pulse` make their changes.
// Safe: only the loop uses the memory behind the pointer, and the feed is guarded by the bank's mutex.
public final class SimulatedGPIOEvents: @unchecked Sendable {
  private let bank: SimulatedGPIOBank
  private let numbers: [Int]
  private let feed: SimulatedGPIOFeed
  /// The simulated input that is rung when a change counts. The loop raises its `readyAt`.
  private let wakes: SimulatedInput?
  private let state: UnsafeMutablePointer<SimulatedGPIOEventsState>
  /// The changes of a `SimulatedGPIODriver`.
  private let driven = Ring<SimulatedGPIOChange>(capacity: 4096)
  private let debounces: [Nanoseconds]

  init(_ bank: SimulatedGPIOBank, numbers: [Int], inputs: [GPIOInput], wakes: SimulatedInput?) {
    self.bank = bank
    self.numbers = numbers
    self.wakes = wakes
    feed = SimulatedGPIOFeed(inputs, wakes: wakes)
    debounces = inputs.map(\.debounce)
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedGPIOEventsState(
        pins: bank.pins, changes: feed.changes.reader(), driven: driven.reader(), inputs: inputs, numbers: numbers,
        readyAt: wakes?.readyAt))
  }

  deinit {
    bank.free(numbers)
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Returns the lines for the one loop that owns them.
  public func port() -> GPIOEvents {
    GPIOEvents(
      context: state, count: numbers.count, descriptor: nil, receive: receiveFromBank, perform: readFromBank)
  }

  /// Returns a driver that sets the level of line `index` from within a tick. A line has one driver at a time: a second call traps
  /// unless the first driver is gone.
  public func driver(_ index: Int = 0) -> SimulatedGPIODriver {
    precondition(numbers.indices.contains(index), "no such line")
    return SimulatedGPIODriver(
      bank.pins, number: numbers[index], line: index, debounce: debounces[index], changes: driven.writer(),
      readyAt: wakes?.readyAt)
  }

  /// Returns the feed that takes the bank's changes of line `index`.
  func listener(_ index: Int) -> (SimulatedGPIOFeed, Int) { (feed, index) }
}

/// The bank's end of input lines. It is used by one thread at a time, because the bank's mutex is held.
final class SimulatedGPIOFeed: @unchecked Sendable {
  fileprivate let changes = Ring<SimulatedGPIOChange>(capacity: 4096)
  private var writer: RingWriter<SimulatedGPIOChange>
  private let debounces: [Nanoseconds]
  private let wakes: SimulatedInput?

  fileprivate init(_ inputs: [GPIOInput], wakes: SimulatedInput?) {
    debounces = inputs.map(\.debounce)
    self.wakes = wakes
    writer = changes.writer()
  }

  /// Passes a change to the loop. Returns `false` if too many changes wait for the loop.
  func put(_ isHigh: Bool, line: Int, at instant: TickInstant) -> Bool {
    guard writer.push(SimulatedGPIOChange(at: instant, line: line, isHigh: isHigh)) else { return false }
    wakes?.ring(at: instant + debounces[line])
    return true
  }
}

/// A change of the level of a line of a request, made from outside.
struct SimulatedGPIOChange: BitwiseCopyable {
  var at: TickInstant
  var line: Int
  var isHigh: Bool

  @_noLocks @_noAllocation
  init(at: TickInstant, line: Int, isHigh: Bool) {
    self.at = at
    self.line = line
    self.isHigh = isHigh
  }
}

/// The state to which a port's context points. Only the loop uses it. It debounces and queues changes as the kernel does.
struct SimulatedGPIOEventsState: ~Copyable {
  struct Line: BitwiseCopyable {
    let debounce: Nanoseconds
    let edges: GPIOEdges
    let isActiveLow: Bool
    var isActive: Bool
    var sequence: UInt32 = 0
    /// The state to which the line has changed, and the instant of the change, which counts `debounce` later. `nil` if no change is pending.
    var becomes: Bool?
    var since = TickInstant.zero
  }

  private let pins: UnsafeMutablePointer<SimulatedPins>
  private var changes: RingReader<SimulatedGPIOChange>
  private var next: SimulatedGPIOChange?
  private var driven: RingReader<SimulatedGPIOChange>
  private var nextDriven: SimulatedGPIOChange?
  let lines: UnsafeMutablePointer<Line>
  private let count: Int
  private let readyAt: UnsafeMutablePointer<TickInstant>?
  /// The kernel's buffer of 16 changes per line, from which the oldest is dropped when it is full.
  private let queue: UnsafeMutablePointer<GPIOEdge>
  private var first = 0
  private var waiting = 0
  private var capacity: Int {
    @_noLocks @_noAllocation get { count * 16 }
  }

  init(
    pins: UnsafeMutablePointer<SimulatedPins>, changes: consuming RingReader<SimulatedGPIOChange>,
    driven: consuming RingReader<SimulatedGPIOChange>, inputs: [GPIOInput], numbers: [Int],
    readyAt: UnsafeMutablePointer<TickInstant>?
  ) {
    self.pins = pins
    self.changes = changes
    self.driven = driven
    self.readyAt = readyAt
    count = inputs.count
    lines = .allocate(capacity: count)
    for (index, input) in inputs.enumerated() {
      let isHigh = pins.pointee.levels >> UInt64(numbers[index]) & 1 != 0
      (lines + index).initialize(
        to: Line(
          debounce: input.debounce, edges: input.edges, isActiveLow: input.line.isActiveLow,
          isActive: isHigh != input.line.isActiveLow))
    }
    queue = .allocate(capacity: count * 16)
    queue.initialize(
      repeating: GPIOEdge(at: .zero, line: 0, isRising: false, sequence: 0), count: count * 16)
  }

  deinit {
    lines.deallocate()
    queue.deallocate()
  }

  @_noLocks @_noAllocation
  mutating func receive(_ buffer: UnsafeMutablePointer<GPIOEdgeBuffer>) -> Int {
    if pins.pointee.isGone.load(ordering: .relaxed) { return -19 }  // ENODEV
    let now = buffer.pointee.at
    advance(to: now)
    var taken = 0
    while taken < buffer.pointee.capacity, waiting > 0 {
      buffer.pointee.edges[taken] = queue[first]
      first = (first + 1) % capacity
      waiting &-= 1
      taken &+= 1
    }
    if let readyAt { readyAt.pointee = waiting > 0 ? now : nextInstant }
    return taken
  }

  @_noLocks @_noAllocation
  mutating func read(_ access: UnsafeMutablePointer<GPIOAccess>) -> Int32 {
    if pins.pointee.isGone.load(ordering: .relaxed) { return -19 }  // ENODEV
    advance(to: access.pointee.at)
    var values: UInt64 = 0
    for index in 0..<count where lines[index].isActive { values |= 1 << UInt64(index) }
    access.pointee.values = values
    return 0
  }

  /// Processes the changes that have happened by `now`, in their order.
  @_noLocks @_noAllocation
  private mutating func advance(to now: TickInstant) {
    while true {
      let due = nextInstant
      guard !(now < due), due < .distantFuture else { return }
      var matured: Int?
      for index in 0..<count where isDue(index, at: due) && matured == nil { matured = index }
      if let matured {
        settle(matured)
      } else if let change = earlier {
        apply(change)
      }
    }
  }

  /// Removes and returns the earlier of the bank's next change and the driver's next change, or `nil` if there is no change.
  private var earlier: SimulatedGPIOChange? {
    @_noLocks @_noAllocation mutating get {
      if let change = nextDriven, !((next?.at ?? .distantFuture) < change.at) {
        nextDriven = nil
        return change
      }
      defer { next = nil }
      return next
    }
  }

  @_noLocks @_noAllocation
  private func isDue(_ index: Int, at instant: TickInstant) -> Bool {
    guard case .some = lines[index].becomes else { return false }
    return !(instant < lines[index].since + lines[index].debounce)
  }

  /// The instant of the next event, which is a change or the end of a debounce time.
  private var nextInstant: TickInstant {
    @_noLocks @_noAllocation mutating get {
      if case .none = next { next = changes.pop() }
      if case .none = nextDriven { nextDriven = driven.pop() }
      var earliest = next?.at ?? .distantFuture
      if let change = nextDriven, change.at < earliest { earliest = change.at }
      for index in 0..<count {
        guard case .some = lines[index].becomes else { continue }
        let end = lines[index].since + lines[index].debounce
        if end < earliest { earliest = end }
      }
      return earliest
    }
  }

  @_noLocks @_noAllocation
  private mutating func apply(_ change: SimulatedGPIOChange) {
    lines[change.line].becomes = change.isHigh != lines[change.line].isActiveLow
    lines[change.line].since = change.at
    if lines[change.line].debounce.count == 0 { settle(change.line) }
  }

  /// Makes the pending change of a line count.
  @_noLocks @_noAllocation
  private mutating func settle(_ index: Int) {
    guard let isActive = lines[index].becomes else { return }
    lines[index].becomes = nil
    guard isActive != lines[index].isActive else { return }
    lines[index].isActive = isActive
    switch lines[index].edges {
    case .both: break
    case .rising: if !isActive { return }
    case .falling: if isActive { return }
    }
    lines[index].sequence &+= 1
    if waiting == capacity {
      first = (first + 1) % capacity
      waiting &-= 1
    }
    queue[(first + waiting) % capacity] = GPIOEdge(
      at: lines[index].since + lines[index].debounce, line: index, isRising: isActive, sequence: lines[index].sequence)
    waiting &+= 1
  }
}

@_noLocks @_noAllocation
private func receiveFromBank(_ context: UnsafeMutableRawPointer, _ buffer: UnsafeMutableRawPointer) -> Int {
  context.assumingMemoryBound(to: SimulatedGPIOEventsState.self).pointee
    .receive(buffer.assumingMemoryBound(to: GPIOEdgeBuffer.self))
}

@_noLocks @_noAllocation
private func readFromBank(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: SimulatedGPIOEventsState.self).pointee
    .read(access.assumingMemoryBound(to: GPIOAccess.self))
}
