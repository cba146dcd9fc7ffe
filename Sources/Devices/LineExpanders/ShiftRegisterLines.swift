import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// The outputs of one or more 74HC595 in a chain as lines, to be used like those of a GPIO chip, alone or as a group of `CombinedGPIOLines`.
///
/// Four lines drive the chain: data, clock, latch, and output enable, whose pin on the chips is active at the low level. Line 0 is output Q0
/// (QA) of the chip next to the computer, line 8 the same output of the next chip.
///
/// - The outputs are enabled only while a line is active. Whatever turns the output-enable line off, such as the guard process, turns all of
///   them off, and the chips' pins float then: pull resistors on the board keep them at the inactive level, as they do at power on.
/// - A shift register cannot be read. `read` shifts the last command again, which repairs what a disturbance has changed, and reads the four
///   lines. It returns the command if they have the right levels, and no active line if the outputs are disabled. If a line is stuck, the content
///   of the register is unknown, and every line reads as the opposite of its command.
///
/// Source: 74HC595 data sheet, function table. Timing: two writes for each output and three more; a clock pulse lasts as long as a write.
public final class ShiftRegisterLines: @unchecked Sendable {  // safe: the state is the loop's
  private let state: UnsafeMutablePointer<State>
  private let count: Int

  fileprivate struct State: ~Copyable {
    /// The number of outputs of the chain.
    let length: Int
    /// The outputs that are active at the low level.
    let activeLow: UInt64
    /// The output of each line.
    let outputs: [64 of UInt8]
    let count: Int
    /// The chain's four lines: data, clock, latch and output enable.
    var lines: GPIOLines
    /// The outputs that were commanded to be active.
    var told: UInt64 = 0
  }

  /// Creates the outputs, which own the lines of the chain from now on. The lines are inactive.
  ///
  /// - Parameters:
  ///   - length: the number of outputs of the chain, 8…64.
  ///   - activeLow: the outputs that are active at the low level, whether they are lines or not.
  ///   - outputs: the output of each line, each once.
  ///   - lines: data, clock, latch and output enable, requested in this order, the last one as active at the low level.
  public init(length: Int, activeLow: UInt64 = 0, outputs: [Int], on lines: consuming GPIOLines) {
    precondition((8...GPIOLines.maximumCount).contains(length) && lines.count == 4, "8…64 outputs on four lines")
    precondition(!outputs.isEmpty && Set(outputs).count == outputs.count, "an output is one line")
    precondition(outputs.allSatisfy { (0..<length).contains($0) }, "the chain has the output")
    var numbers: [64 of UInt8] = .init(repeating: 0)
    for (index, output) in outputs.enumerated() { numbers[index] = UInt8(truncatingIfNeeded: output) }
    count = outputs.count
    state = .allocate(capacity: 1)
    state.initialize(
      to: State(length: length, activeLow: activeLow, outputs: numbers, count: outputs.count, lines: lines))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Returns the port for the one loop that owns the lines.
  public func port() -> GPIOLines { GPIOLines(context: state, count: count, perform: performOnRegister) }
}

extension ShiftRegisterLines.State {
  private var data: UInt64 { @_noLocks @_noAllocation get { 0b0001 } }
  private var clock: UInt64 { @_noLocks @_noAllocation get { 0b0010 } }
  private var latch: UInt64 { @_noLocks @_noAllocation get { 0b0100 } }
  private var enable: UInt64 { @_noLocks @_noAllocation get { 0b1000 } }

  @_noLocks @_noAllocation
  fileprivate mutating func perform(_ access: inout GPIOAccess) -> Int32 {
    lines.now = access.at
    do throws(GPIOError) {
      switch access.operation {
      case .set: try set(access)
      case .read: access.values = try read()
      }
      return 0
    } catch {
      return error.resultOfLines
    }
  }

  @_noLocks @_noAllocation
  private mutating func set(_ access: GPIOAccess) throws(GPIOError) {
    for index in 0..<count {
      let line: UInt64 = 1 << UInt64(truncatingIfNeeded: index)
      let output: UInt64 = 1 << UInt64(outputs[index])
      if access.mask & access.values & line != 0 { told |= output } else if access.mask & line != 0 { told &= ~output }
    }
    // If all outputs are off, they are switched off at once, even if a line of the chain is stuck.
    if told == 0 { try lines.set(mask: enable, values: 0) }
    try shift()
    if told != 0 { try lines.set(mask: enable, values: enable) }
  }

  /// Shifts the command into the chain, the farthest output first, and latches it. Leaves the three lines low.
  @_noLocks @_noAllocation
  private mutating func shift() throws(GPIOError) {
    let levels = told ^ activeLow
    for step in 0..<length {
      let bit = levels >> UInt64(truncatingIfNeeded: length - 1 - step) & 1
      try lines.set(mask: data | clock | latch, values: bit)
      try lines.set(mask: clock, values: clock)
    }
    try lines.set(mask: data | clock | latch, values: latch)
    try lines.set(mask: latch, values: 0)
  }

  @_noLocks @_noAllocation
  private mutating func read() throws(GPIOError) -> UInt64 {
    try shift()
    let levels = try lines.read()
    var active = told
    if levels & (data | clock | latch) != 0 || told == 0 && levels & enable != 0 {
      active = ~told
    } else if levels & enable == 0 {
      active = 0
    }
    var values: UInt64 = 0
    for index in 0..<count {
      values |= (active >> UInt64(outputs[index]) & 1) << UInt64(truncatingIfNeeded: index)
    }
    return values
  }
}

@_noLocks @_noAllocation
private func performOnRegister(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: ShiftRegisterLines.State.self).pointee
    .perform(&access.assumingMemoryBound(to: GPIOAccess.self).pointee)
}
