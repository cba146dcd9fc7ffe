import Tactus

/// Output lines of a `SimulatedGPIOBank`, held as long as this object exists.
// Safe: the memory behind the pointer never changes, except for the last instant, which only the loop changes.
public final class SimulatedGPIOLines: @unchecked Sendable {
  private let bank: SimulatedGPIOBank
  private let numbers: [Int]
  private let state: UnsafeMutablePointer<SimulatedGPIOLinesState>

  init(_ bank: SimulatedGPIOBank, numbers: [Int], isActiveLow: [Bool]) {
    self.bank = bank
    self.numbers = numbers
    var lines: [64 of UInt8] = .init(repeating: 0)
    var mask: UInt64 = 0
    var inverted: UInt64 = 0
    for (index, number) in numbers.enumerated() {
      lines[index] = UInt8(number)
      mask |= 1 << UInt64(number)
      if isActiveLow[index] { inverted |= 1 << UInt64(number) }
    }
    state = .allocate(capacity: 1)
    state.initialize(
      to: SimulatedGPIOLinesState(
        pins: bank.pins, log: bank.log, lines: lines, count: numbers.count, mask: mask, inverted: inverted))
    // The level is set before the direction, so that the line drives the right level from its first moment on.
    bank.pins.pointee.drivenLevels.bitwiseAnd(~mask, ordering: .relaxed)
    bank.pins.pointee.drivenLevels.bitwiseOr(inverted, ordering: .relaxed)
    bank.pins.pointee.driven.bitwiseOr(mask, ordering: .relaxed)
    bank.log.append(.request, lines: mask, levels: inverted, result: 0, at: .zero)
  }

  deinit {
    if bank.release == .becomesInput { bank.pins.pointee.driven.bitwiseAnd(~state.pointee.mask, ordering: .relaxed) }
    bank.log.append(
      .release, lines: state.pointee.mask, levels: bank.pins.pointee.levels, result: 0, at: state.pointee.last)
    bank.free(numbers)
    state.deallocate()
  }

  /// Returns the lines for the one loop that owns them.
  public func port() -> GPIOLines { GPIOLines(context: state, count: numbers.count, perform: performOnBank) }

  /// Returns the level of a line, counted from 0, for a loop that simulates the device on the line. The value is valid as long as the bank exists.
  public func level(_ line: Int = 0) -> SimulatedGPIOLevel {
    let bit: UInt64 = 1 << UInt64(numbers[line])
    return SimulatedGPIOLevel(pins: bank.pins, bit: bit, isActiveLow: state.pointee.inverted & bit != 0)
  }
}

/// One line of a simulated request, as a plain value that a tick may read.
// Safe: the pointer leads to atomics only.
public struct SimulatedGPIOLevel: BitwiseCopyable, @unchecked Sendable {
  fileprivate let pins: UnsafeMutablePointer<SimulatedPins>
  fileprivate let bit: UInt64
  fileprivate let isActiveLow: Bool

  /// Returns whether the line is active by its level. A line that is stuck shows the level at which it is stuck.
  @_noLocks @_noAllocation
  public func isActive() -> Bool { (pins.pointee.levels & bit != 0) != isActiveLow }
}

/// The state to which a port's context points.
struct SimulatedGPIOLinesState: BitwiseCopyable {
  let pins: UnsafeMutablePointer<SimulatedPins>
  let log: TransactionLog
  /// The number of each line of the request on the bank.
  let lines: [64 of UInt8]
  let count: Int
  /// The mask of the lines on the bank.
  let mask: UInt64
  let inverted: UInt64
  var last = TickInstant.zero

  @_noLocks @_noAllocation
  mutating func perform(_ access: UnsafeMutablePointer<GPIOAccess>) -> Int32 {
    last = access.pointee.at
    let concerned = onBank(access.pointee.mask)
    if pins.pointee.isGone.load(ordering: .relaxed) {
      log.append(
        access.pointee.isSet ? .set : .read, lines: concerned, levels: 0, result: -19, at: last)  // ENODEV
      return -19
    }
    switch access.pointee.operation {
    case .set:
      let levels = (onBank(access.pointee.values) ^ inverted) & concerned
      let before = pins.pointee.drivenLevels.load(ordering: .relaxed)
      pins.pointee.drivenLevels.store(before & ~concerned | levels, ordering: .relaxed)
      log.append(.set, lines: concerned, levels: levels, result: 0, at: last)
    case .read:
      let levels = pins.pointee.levels
      access.pointee.values = fromBank(levels ^ inverted)
      log.append(.read, lines: concerned, levels: levels, result: 0, at: last)
    }
    return 0
  }

  @_noLocks @_noAllocation
  private func onBank(_ bits: UInt64) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<count where bits >> UInt64(index) & 1 != 0 { result |= 1 << UInt64(lines[index]) }
    return result
  }

  @_noLocks @_noAllocation
  private func fromBank(_ bits: UInt64) -> UInt64 {
    var result: UInt64 = 0
    for index in 0..<count where bits >> UInt64(lines[index]) & 1 != 0 { result |= 1 << UInt64(index) }
    return result
  }
}

@_noLocks @_noAllocation
private func performOnBank(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: SimulatedGPIOLinesState.self).pointee
    .perform(access.assumingMemoryBound(to: GPIOAccess.self))
}
