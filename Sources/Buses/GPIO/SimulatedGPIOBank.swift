import Synchronization
import Tactus

/// A simulated GPIO chip with its surroundings: levels driven by outputs, inputs that a test sets, faults and a log.
///
/// Requests, releases and the ports belong to one loop (or to loops of one lane), or to the code that prepares it before the start;
/// all other members may be used from any thread. The bank must outlive its lines. Timing: an access takes about 20 ns and
/// allocates nothing.
// Safe: shared parts are atomics or behind the mutex.
public final class SimulatedGPIOBank: @unchecked Sendable {
  /// A fault of the chip or of a line.
  public enum Fault: Sendable, Hashable {
    /// Another program holds the line, so requests for it are refused.
    case claimed(line: Int, consumer: String)
    /// The line stays at one level, whatever drives it, because it is shorted or its driver has burnt out.
    case stuck(line: Int, isHigh: Bool)
    /// The chip is gone, and every access fails with ENODEV.
    case gone
  }
  /// The behaviour of a line after it has been released.
  public enum Release: Sendable, Hashable {
    /// The line becomes an input and shows the level from outside, as on most chips.
    case becomesInput
    /// The line keeps driving its last level, as with a Raspberry Pi OS kernel.
    case keepsLevel
  }

  /// The number of lines, 1…64.
  public let count: Int
  /// The behaviour of lines after they have been released.
  public let release: Release
  let pins: UnsafeMutablePointer<SimulatedPins>
  let log: TransactionLog
  private let prefix: String
  private let books = Mutex(Books())

  private struct Books {
    /// The names of the lines' holders, by line.
    var consumers: [Int: String] = [:]
    var claims: [Int: String] = [:]
    var listeners: [Int: (SimulatedGPIOFeed, Int)] = [:]
  }

  /// Creates a bank of lines that no program holds.
  ///
  /// - Parameters:
  ///   - count: the number of lines, 1…64, which are named `PREFIX0` and so on. A Raspberry Pi has 54.
  ///   - prefix: the beginning of the lines' names.
  ///   - highAtRest: the lines that are pulled up from outside; the others are pulled down.
  ///   - release: the behaviour of a line after it has been released.
  ///   - logCapacity: the number of accesses that are kept in the log, 1 or more.
  ///   - clock: the clock that stamps the accesses.
  public init(
    count: Int = 54, prefix: String = "GPIO", highAtRest: Set<Int> = [], release: Release = .becomesInput,
    logCapacity: Int = 4096, clock: RecordClock = .tick
  ) {
    precondition((1...GPIOLines.maximumCount).contains(count), "a bank has 1…64 lines")
    self.count = count
    self.prefix = prefix
    self.release = release
    log = TransactionLog(of: GPIOTransaction.self, capacity: logCapacity, clock: clock)
    pins = .allocate(capacity: 1)
    pins.initialize(to: SimulatedPins())
    for line in highAtRest { pins.pointee.world.assign(checked(line), true) }
  }

  deinit {
    pins.deinitialize(count: 1)
    pins.deallocate()
    log.deallocate()
  }

  // MARK: the program's side

  /// Requests output lines, as `LinuxGPIOLines` does, and returns them.
  public func outputs(_ lines: [GPIOLine], consumer: String = "tactus") throws(GPIORequestError) -> SimulatedGPIOLines {
    let numbers = try claim(lines, consumer: consumer)
    return SimulatedGPIOLines(self, numbers: numbers, isActiveLow: lines.map(\.isActiveLow))
  }

  /// Requests input lines, as `LinuxGPIOEvents` does, and returns them. `wakes` is rung when a change counts, for loops in
  /// simulated time; with `nil` the loop reads the changes at its next periodic tick.
  public func events(
    _ inputs: [GPIOInput], consumer: String = "tactus", wakes: SimulatedInput? = nil
  ) throws(GPIORequestError) -> SimulatedGPIOEvents {
    let numbers = try claim(inputs.map(\.line), consumer: consumer)
    let events = SimulatedGPIOEvents(self, numbers: numbers, inputs: inputs, wakes: wakes)
    books.withLock { books in
      for (index, number) in numbers.enumerated() { books.listeners[number] = events.listener(index) }
    }
    return events
  }

  /// Returns the number of the named line, from 0. A chip given with an offset is always this bank.
  public func number(_ name: GPIOLineName) throws(GPIORequestError) -> Int {
    switch name.place {
    case .offset(let offset, _) where offset < count: return offset
    case .name(let text) where text.hasPrefix(prefix):
      if let number = Int(text.dropFirst(prefix.count)), (0..<count).contains(number) { return number }
      throw .noSuchLine(name, chip: nil)
    case .offset(_, let chip): throw .noSuchLine(name, chip: chip)
    case .name: throw .noSuchLine(name, chip: nil)
    }
  }

  private func claim(_ lines: [GPIOLine], consumer: String) throws(GPIORequestError) -> [Int] {
    guard !pins.pointee.isGone.load(ordering: .relaxed) else { throw .noSuchChip(prefix) }
    var numbers: [Int] = []
    for line in lines { numbers.append(try number(line.name)) }
    precondition(Set(numbers).count == numbers.count, "a line is requested once")
    let taken: (Int, String)? = books.withLock { books in
      for (index, number) in numbers.enumerated() {
        if let holder = books.claims[number] ?? books.consumers[number] { return (index, holder) }
      }
      for number in numbers { books.consumers[number] = consumer }
      return nil
    }
    if let (index, holder) = taken { throw .claimed(lines[index].name, consumer: holder) }
    return numbers
  }

  /// Releases the lines with these numbers.
  func free(_ numbers: [Int]) {
    books.withLock { books in
      for number in numbers {
        books.consumers[number] = nil
        books.listeners[number] = nil
      }
    }
  }

  // MARK: the world's side

  /// Returns whether the line's electrical level is high, as driven by an output or from outside.
  public func isHigh(_ line: Int) -> Bool { pins.pointee.levels & checked(line) != 0 }

  /// All levels, for a loop that simulates a part of the surroundings. The value is valid as long as the bank exists.
  public var levels: SimulatedGPIOLevels { SimulatedGPIOLevels(pins: pins) }

  /// Returns whether an output drives the line.
  public func isDriven(_ line: Int) -> Bool { pins.pointee.driven.load(ordering: .relaxed) & checked(line) != 0 }

  /// Returns the name of the line's holder, or `nil` if no program holds the line.
  public func consumer(_ line: Int) -> String? {
    _ = checked(line)
    return books.withLock { $0.consumers[line] ?? $0.claims[line] }
  }

  /// Sets the level of a line from outside at `instant`, which must not be before that of the previous call. The level is visible
  /// immediately, and to a loop that receives changes from `instant` on. Returns `false` if 4,096 changes wait for that loop, in
  /// which case this one is lost.
  @discardableResult
  public func set(_ line: Int, isHigh: Bool, at instant: TickInstant) -> Bool {
    let bit = checked(line)
    return books.withLock { books in
      pins.pointee.world.assign(bit, isHigh)
      guard let (feed, index) = books.listeners[line] else { return true }
      return feed.put(isHigh, line: index, at: instant)
    }
  }

  /// Makes a line high for `width` and low again, or low and high again if it is high at present.
  @discardableResult
  public func pulse(_ line: Int, at instant: TickInstant, width: Nanoseconds) -> Bool {
    let before = pins.pointee.world.load(ordering: .relaxed) & checked(line) != 0
    let first = set(line, isHigh: !before, at: instant)
    return set(line, isHigh: before, at: instant + width) && first
  }

  // MARK: faults and log

  /// Adds a fault. It replaces a fault of the same kind and line.
  public func inject(_ fault: Fault) {
    switch fault {
    case .claimed(let line, let consumer):
      _ = checked(line)
      books.withLock { $0.claims[line] = consumer }
    case .stuck(let line, let isHigh):
      pins.pointee.stuckLevels.assign(checked(line), isHigh)
      pins.pointee.stuck.assign(checked(line), true)
    case .gone: pins.pointee.isGone.store(true, ordering: .relaxed)
    }
  }

  /// Removes every fault.
  public func clearFaults() {
    books.withLock { $0.claims = [:] }
    pins.pointee.stuck.store(0, ordering: .relaxed)
    pins.pointee.isGone.store(false, ordering: .relaxed)
  }

  /// The present faults of the chip, by kind and then by line.
  public var activeFaults: [Fault] {
    let claims = books.withLock { $0.claims }.sorted { $0.key < $1.key }
    var active = claims.map { Fault.claimed(line: $0.key, consumer: $0.value) }
    let stuck = pins.pointee.stuck.load(ordering: .relaxed)
    let levels = pins.pointee.stuckLevels.load(ordering: .relaxed)
    for line in 0..<count where stuck & checked(line) != 0 {
      active.append(.stuck(line: line, isHigh: levels & checked(line) != 0))
    }
    if pins.pointee.isGone.load(ordering: .relaxed) { active.append(.gone) }
    return active
  }

  /// Returns the accesses from number `sequence` on that are still in the log, the oldest first.
  public func transactions(since sequence: Int64 = 0) -> [GPIOTransaction] { log.transactions(since: sequence) }

  /// The number of entries since the start, which is the number that the next entry gets.
  public var transactionCount: Int64 { log.count }

  private func checked(_ line: Int) -> UInt64 {
    precondition((0..<count).contains(line), "no such line")
    return 1 << UInt64(line)
  }
}

/// A bank's electrical levels as a plain value that a tick may read.
// Safe: the words are atomics.
public struct SimulatedGPIOLevels: @unchecked Sendable, BitwiseCopyable {
  let pins: UnsafeMutablePointer<SimulatedPins>

  /// The levels as a mask with bit k for line k, in which 1 is high.
  public var word: UInt64 {
    @_noLocks @_noAllocation get { pins.pointee.levels }
  }
}

/// The electrical state of a bank, with bit k for line k. Some words are written by the loop and others from outside.
struct SimulatedPins: ~Copyable {
  /// The lines that the program drives, and the levels to which it drives them.
  let driven = Atomic<UInt64>(0)
  let drivenLevels = Atomic<UInt64>(0)
  /// The levels that are set from outside, for lines that no output drives.
  let world = Atomic<UInt64>(0)
  let stuck = Atomic<UInt64>(0)
  let stuckLevels = Atomic<UInt64>(0)
  let isGone = Atomic<Bool>(false)

  var levels: UInt64 {
    @_noLocks @_noAllocation get {
      let driven = driven.load(ordering: .relaxed)
      let stuck = stuck.load(ordering: .relaxed)
      let free = driven & drivenLevels.load(ordering: .relaxed) | ~driven & world.load(ordering: .relaxed)
      return stuck & stuckLevels.load(ordering: .relaxed) | ~stuck & free
    }
  }
}

extension Atomic where Value == UInt64 {
  @_noLocks @_noAllocation
  func assign(_ bit: UInt64, _ isSet: Bool) {
    if isSet {
      bitwiseOr(bit, ordering: .relaxed)
    } else {
      bitwiseAnd(~bit, ordering: .relaxed)
    }
  }
}
