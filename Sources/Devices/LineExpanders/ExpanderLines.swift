import Buses
@_spi(FromOutside) import Conversions
import Tactus

/// Outputs of an I2C chip as lines, to be used like those of a GPIO chip, alone or as a group of `CombinedGPIOLines`.
///
/// - The chip is prepared before the first write and again after each failure, so it may be absent at the start and may lose its power.
/// - `read` returns the pins' levels. A pin that is no longer an output, because the chip was without power, reads as the opposite of its
///   last command, so that a comparison shows the difference and the command is repeated.
/// - A failure is `GPIOError.chip`. The last command is repeated with the next write, whichever lines that sets.
///
/// The port belongs to one loop; this object must outlive it, and the owner of the bus must outlive both.
public final class ExpanderLines: @unchecked Sendable {  // safe: the state is the loop's
  private let state: UnsafeMutablePointer<State>
  private let count: Int

  fileprivate struct State: ~Copyable {
    let chip: LineExpander
    /// The pin of each line.
    let pins: [16 of UInt8]
    let count: Int
    var bus: I2CBus
    /// The pins that were commanded to be active.
    var told: UInt16 = 0
    var isPrepared = false
  }

  /// Creates the lines, which own the bus from now on.
  ///
  /// - Parameter pins: the pin of each line, 1 to as many as the chip has, each once.
  public init(_ chip: LineExpander, pins: [Int], on bus: consuming I2CBus) {
    precondition(!pins.isEmpty && Set(pins).count == pins.count, "a pin is one line")
    precondition(pins.allSatisfy { (0..<chip.pinCount).contains($0) }, "the chip has the pin")
    var numbers: [16 of UInt8] = .init(repeating: 0)
    for (index, pin) in pins.enumerated() { numbers[index] = UInt8(truncatingIfNeeded: pin) }
    count = pins.count
    state = .allocate(capacity: 1)
    state.initialize(to: State(chip: chip, pins: numbers, count: pins.count, bus: bus))
  }

  deinit {
    state.deinitialize(count: 1)
    state.deallocate()
  }

  /// Returns the port for the one loop that owns the lines.
  public func port() -> GPIOLines { GPIOLines(context: state, count: count, perform: performOnExpander) }
}

extension ExpanderLines.State {
  @_noLocks @_noAllocation
  fileprivate mutating func perform(_ access: inout GPIOAccess) -> Int32 {
    bus.now = access.at
    do throws(I2CError) {
      switch access.operation {
      case .set: try set(access)
      case .read: access.values = try read()
      }
      return 0
    } catch {
      isPrepared = false
      return error.resultOfLines
    }
  }

  @_noLocks @_noAllocation
  private mutating func set(_ access: GPIOAccess) throws(I2CError) {
    for index in 0..<count {
      let line: UInt64 = 1 << UInt64(truncatingIfNeeded: index)
      let pin: UInt16 = 1 << UInt16(pins[index])
      if access.mask & access.values & line != 0 { told |= pin } else if access.mask & line != 0 { told &= ~pin }
    }
    if !isPrepared { try chip.prepare(on: &bus) }
    isPrepared = true
    try chip.set(told, on: &bus)
  }

  @_noLocks @_noAllocation
  private mutating func read() throws(I2CError) -> UInt64 {
    let (active, driven) = try chip.read(on: &bus)
    let levels = active & driven | ~told & ~driven
    var lines: UInt64 = 0
    for index in 0..<count {
      lines |= UInt64(levels >> UInt16(pins[index]) & 1) << UInt64(truncatingIfNeeded: index)
    }
    return lines
  }
}

@_noLocks @_noAllocation
private func performOnExpander(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  context.assumingMemoryBound(to: ExpanderLines.State.self).pointee
    .perform(&access.assumingMemoryBound(to: GPIOAccess.self).pointee)
}
