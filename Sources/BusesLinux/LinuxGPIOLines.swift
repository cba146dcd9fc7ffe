import Buses
import CBusesLinux
import Tactus

/// Output lines of one of the kernel's GPIO chips, held as long as this lives.
///
/// `descriptor` holds the lines: a process with a duplicate of it (the guard inherits one) holds them, too, and can turn
/// them off when this process no longer does. What happens when the last one is closed differs between kernels, see
/// `GPIOLines`.
public final class LinuxGPIOLines: @unchecked Sendable {
  // Safe to send: the pointer never changes, and what is behind it is only read.
  private let state: UnsafeMutablePointer<Int32>
  /// The lines, in the order of the port.
  public let lines: [GPIOLine]
  /// /dev/gpiochipN
  public let chipPath: String
  /// The offset of each line on the chip.
  public let offsets: [Int]

  /// Requests `lines`, 1…64 of one chip, each as an output and inactive, in one step. `consumer`: what others are told who
  /// has them, at most 31 bytes.
  public convenience init(_ lines: [GPIOLine], consumer: String = "tactus") throws(GPIORequestError) {
    try self.init(lines, consumer: consumer, among: LinuxGPIOChip.all())
  }

  /// The same, looking only among `chips`.
  public init(
    _ lines: [GPIOLine], consumer: String = "tactus", among chips: [LinuxGPIOChip]
  ) throws(GPIORequestError) {
    let selection = try LinuxGPIOSelection(lines.map(\.name), among: chips)
    var activeLow: UInt64 = 0
    for (index, line) in lines.enumerated() where line.isActiveLow { activeLow |= 1 << UInt64(clamping: index) }
    let result = tactus_gpio_request_outputs(
      selection.chip.descriptor, selection.offsets, selection.offsets.count, activeLow, consumer)
    guard result >= 0 else { throw selection.refusal(errno: -result) }
    self.lines = lines
    chipPath = selection.chip.path
    offsets = selection.offsets.map { Int($0) }
    state = .allocate(capacity: 1)
    state.initialize(to: result)
  }

  /// Takes over lines that another process has requested, by a descriptor that was inherited from it: `lines` in the order of
  /// that request, at `offsets` of the chip.
  public init(
    inherited descriptor: Int32, _ lines: [GPIOLine], offsets: [Int], chipPath: String
  ) throws(GPIORequestError) {
    precondition((1...GPIOLines.maximumCount).contains(lines.count) && offsets.count == lines.count)
    var values: UInt64 = 0
    let result = tactus_gpio_get(descriptor, UInt64.max >> UInt64(clamping: 64 - lines.count), &values)
    guard result >= 0 else { throw LinuxGPIOChip.error("descriptor \(descriptor)", errno: -result) }
    self.lines = lines
    self.offsets = offsets
    self.chipPath = chipPath
    state = .allocate(capacity: 1)
    state.initialize(to: descriptor)
  }

  deinit {
    tactus_close(state.pointee)
    state.deallocate()
  }

  /// The lines' own, not the chip's. Closed on exec unless it is passed on.
  public var descriptor: Int32 { state.pointee }

  /// The lines for their one owning loop.
  public func port() -> GPIOLines { GPIOLines(context: state, count: lines.count, perform: performOnKernel) }
}

/// The context points to the lines' descriptor.
@_noLocks @_noAllocation
func performOnKernel(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  let access = access.assumingMemoryBound(to: GPIOAccess.self)
  let descriptor = context.load(as: Int32.self)
  switch access.pointee.operation {
  case .set: return tactus_gpio_set(descriptor, access.pointee.mask, access.pointee.values)
  case .read: return tactus_gpio_get(descriptor, access.pointee.mask, &access.pointee.values)
  }
}
