import Synchronization
import Tactus

/// A GPIO chip with the world on its pins: what outputs drive, inputs that a test toggles, injectable faults, a log.
///
/// Requests, releases and the ports belong to one loop (or to loops of one lane), or to the code that prepares it before the start;
/// the rest is for any thread. Must outlive its lines. Timing: an access is some 20 ns and allocates nothing.
// Safe: shared parts are atomics or behind the mutex.
public final class SimulatedGPIOBank: @unchecked Sendable {
  /// What can go wrong.
  public enum Fault: Sendable, Hashable {
    /// Another program holds the line: requests for it are refused.
    case claimed(line: Int, consumer: String)
    /// The line stays at a level, whatever drives it: shorted, or its driver burnt out.
    case stuck(line: Int, isHigh: Bool)
    /// The chip is gone: every access ends in ENODEV.
    case gone
  }
  /// What a line does once it is no longer held.
  public enum Release: Sendable, Hashable {
    /// It becomes an input and shows what the world puts on it: most chips.
    case becomesInput
    /// It keeps driving its last level: a Raspberry Pi OS kernel.
    case keepsLevel
  }

  /// Lines, 1…64.
  public let count: Int
  /// What the lines do once they are no longer held.
  public let release: Release
  let pins: UnsafeMutablePointer<SimulatedPins>
  let log: TransactionLog
  private let prefix: String
  private let books = Mutex(Books())

  private struct Books {
    /// The holders' names, by line.
    var consumers: [Int: String] = [:]
    var claims: [Int: String] = [:]
    var listeners: [Int: (SimulatedGPIOFeed, Int)] = [:]
  }

  /// - Parameters:
  ///   - count: lines, 1…64; named `PREFIX0` and so on. 54 are a Raspberry Pi's.
  ///   - prefix: what their names begin with.
  ///   - highAtRest: lines that the world pulls up; of the others it pulls down.
  ///   - release: what a line does once it is no longer held.
  ///   - logCapacity: accesses kept, 1….
  ///   - clock: stamps them.
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

  /// Requests output lines, as `LinuxGPIOLines` does.
  public func outputs(_ lines: [GPIOLine], consumer: String = "tactus") throws(GPIORequestError) -> SimulatedGPIOLines {
    let numbers = try claim(lines, consumer: consumer)
    return SimulatedGPIOLines(self, numbers: numbers, isActiveLow: lines.map(\.isActiveLow))
  }

  /// Requests input lines, as `LinuxGPIOEvents` does. `wakes`: rung when a change counts, for loops in simulated time; nil:
  /// the loop finds the changes in its period.
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

  /// The number of the line that is meant, 0…; a chip named with an offset is this one.
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

  /// Takes lines back.
  func free(_ numbers: [Int]) {
    books.withLock { books in
      for number in numbers {
        books.consumers[number] = nil
        books.listeners[number] = nil
      }
    }
  }

  // MARK: the world's side

  /// The line's electrical level, true for high: what drives it, or what the world puts on it.
  public func isHigh(_ line: Int) -> Bool { pins.pointee.levels & checked(line) != 0 }

  /// All levels, for a part of the world that a loop simulates. Valid as long as the bank.
  public var levels: SimulatedGPIOLevels { SimulatedGPIOLevels(pins: pins) }

  /// Whether an output drives the line, so that the world does not.
  public func isDriven(_ line: Int) -> Bool { pins.pointee.driven.load(ordering: .relaxed) & checked(line) != 0 }

  /// The name of the line's holder, or `nil` if it has none.
  public func consumer(_ line: Int) -> String? {
    _ = checked(line)
    return books.withLock { $0.consumers[line] ?? $0.claims[line] }
  }

  /// Puts a level on a line from outside at `instant`, which is not before that of the call before. The level shows at once,
  /// to a loop that listens at `instant`. False: 4,096 changes wait for that loop and this one is lost.
  @discardableResult
  public func set(_ line: Int, isHigh: Bool, at instant: TickInstant) -> Bool {
    let bit = checked(line)
    return books.withLock { books in
      pins.pointee.world.assign(bit, isHigh)
      guard let (feed, index) = books.listeners[line] else { return true }
      return feed.put(isHigh, line: index, at: instant)
    }
  }

  /// High for `width` and low again, or the other way round on a line that is high.
  @discardableResult
  public func pulse(_ line: Int, at instant: TickInstant, width: Nanoseconds) -> Bool {
    let before = pins.pointee.world.load(ordering: .relaxed) & checked(line) != 0
    let first = set(line, isHigh: !before, at: instant)
    return set(line, isHigh: before, at: instant + width) && first
  }

  // MARK: faults and log

  /// Faults add up; one of a kind (and line) replaces the one before it.
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

  /// Takes every fault back.
  public func clearFaults() {
    books.withLock { $0.claims = [:] }
    pins.pointee.stuck.store(0, ordering: .relaxed)
    pins.pointee.isGone.store(false, ordering: .relaxed)
  }

  /// The faults that the chip has now, by kind, then by line.
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

  /// The accesses from number `sequence` on that are still in the log, oldest first.
  public func transactions(since sequence: Int64 = 0) -> [GPIOTransaction] { log.transactions(since: sequence) }

  /// How many there have been since the start: the number that the next one gets.
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

  /// Bit k for line k, 1 for high.
  public var word: UInt64 {
    @_noLocks @_noAllocation get { pins.pointee.levels }
  }
}

/// The electrical state of a bank, bit k for line k. Written by the loop or by the world, each its own words.
struct SimulatedPins: ~Copyable {
  /// Lines that the program drives, and to which level.
  let driven = Atomic<UInt64>(0)
  let drivenLevels = Atomic<UInt64>(0)
  /// What the world puts on lines that no output drives.
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
