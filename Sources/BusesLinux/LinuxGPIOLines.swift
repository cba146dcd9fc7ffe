import Buses
import CBusesLinux
@_spi(FromOutside) import Conversions
import Tactus

/// Output lines of one of the kernel's GPIO chips, held as long as this object exists.
///
/// `descriptor` holds the lines: a process with a duplicate of it (the guard inherits one) also holds them, and can turn them off
/// when this process no longer does. The effect of closing the last descriptor differs between kernels, see `GPIOLines`.
public final class LinuxGPIOLines: @unchecked Sendable {
  // Safe to send: the pointer never changes, and what is behind it is only read.
  private let state: UnsafeMutablePointer<Int32>
  /// The lines, in the order of the port.
  public let lines: [GPIOLine]
  /// The path of the chip, /dev/gpiochipN.
  public let chipPath: String
  /// The offset of each line on the chip.
  public let offsets: [Int]

  /// Requests `lines`, 1…64 lines of one chip, each as an inactive output in one step. `consumer` is the name that the kernel shows
  /// as their holder, at most 31 bytes.
  public convenience init(_ lines: [GPIOLine], consumer: String = "tactus") throws(GPIORequestError) {
    try self.init(lines, consumer: consumer, among: LinuxGPIOChip.all())
  }

  /// Requests `lines` as `init(_:consumer:)` does, but searches only `chips` for them.
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

  /// Takes over lines that another process has requested, by a descriptor inherited from that process. `lines` are in the order of
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

  /// The descriptor of the lines, not of the chip. It is closed on exec unless it is passed on.
  public var descriptor: Int32 { state.pointee }

  /// Returns the lines for the one loop that owns them.
  public func port() -> GPIOLines { GPIOLines(context: state, count: lines.count, perform: performOnKernel) }
}

/// Performs an access. The context points to the lines' descriptor.
@_noLocks @_noAllocation
func performOnKernel(_ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer) -> Int32 {
  let access = access.assumingMemoryBound(to: GPIOAccess.self)
  let descriptor = context.load(as: Int32.self)
  switch access.pointee.operation {
  case .set: return tactus_gpio_set(descriptor, access.pointee.mask, access.pointee.values)
  case .read: return tactus_gpio_get(descriptor, access.pointee.mask, &access.pointee.values)
  }
}
