import Tactus

/// Why an access to lines failed.
public enum GPIOError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The chip is gone: unplugged, or its driver unbound (ENODEV).
  case gone
  /// Anything else the kernel says.
  case system(errno: Int32)
}

/// One access to requested lines. Bit k of a mask is the k-th line of the request.
public struct GPIOAccess: Sendable, BitwiseCopyable {
  /// What is done to the lines.
  public enum Operation: UInt8, Sendable, BitwiseCopyable {
    /// The lines of the mask are driven to `values`.
    case set
    /// The levels of the lines are read into `values`.
    case read
  }
  /// What is done to the lines.
  public var operation: Operation
  /// The lines concerned.
  public var mask: UInt64
  /// Of those, the active ones: what is set, or what was read.
  public var values: UInt64
  /// The tick that asked: simulated lines and recordings take their time from here.
  public var at: TickInstant

  /// An access, for implementations of a port.
  @_noLocks @_noAllocation
  public init(_ operation: Operation, mask: UInt64, values: UInt64 = 0, at: TickInstant) {
    self.operation = operation
    self.mask = mask
    self.values = values
    self.at = at
  }

  var isSet: Bool {
    @_noLocks @_noAllocation get {
      if case .set = operation { return true }
      return false
    }
  }
}

/// Output lines that were requested together, as a loop sees them: never blocks, allocates nothing.
///
/// Not copyable: one set of lines, one owning loop. What every maker of such lines keeps to:
/// - **Off before anything drives.** The request makes every line an output and inactive in one step; there is no moment
///   at which a line is an output and active without a write.
/// - **Logical values.** 1 is active. Which level that is was said for each line in the request (`GPIOLine.isActiveLow`).
/// - **Alone.** A line that another program holds is refused with its holder's name, and no other program gets a line of ours.
/// - **Held** as long as the maker lives. What a line does afterwards is the chip's affair, and differs: it becomes an input
///   with its pull resistor (most chips), or keeps its last level (a Raspberry Pi OS kernel, unless started with
///   `pinctrl_bcm2835.persist_gpio_outputs=n`). So a program that dies needs another that turns its lines off: the
///   guard process.
/// - **Read back.** `read` gives the lines' real levels, not those that were written: a shorted output shows.
///
/// Up to 64 lines. Timing: one system call, a register access on a Raspberry Pi; chips behind a bus take the bus's time.
public struct GPIOLines: ~Copyable {
  /// The most lines that one request may have.
  public static var maximumCount: Int {
    @_noLocks @_noAllocation get { 64 }
  }
  /// Makes the `GPIOAccess` behind the second pointer; fills `values` of a read. Returns 0 or −errno.
  public typealias Perform = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32

  let context: UnsafeMutableRawPointer
  let perform: Perform
  /// Lines, 1…64.
  public let count: Int
  /// Set by the owning loop at the start of its tick.
  public var now = TickInstant.zero

  /// `context` must stay valid as long as the port; its maker owns it. `perform` carries `@_noLocks @_noAllocation`.
  public init(context: UnsafeMutableRawPointer, count: Int, perform: @escaping Perform) {
    precondition((1...Self.maximumCount).contains(count), "1…64 lines are requested together")
    self.context = context
    self.count = count
    self.perform = perform
    prepareGPIOToThrow()
  }

  /// The mask of every line.
  public var all: UInt64 {
    @_noLocks @_noAllocation get { UInt64.max >> UInt64(64 - count) }
  }

  /// Makes the lines in `mask` active where `values` has a 1 and inactive where it has a 0, in one call. Other lines stay as
  /// they are. A bit beyond the last line is our bug.
  @_noLocks @_noAllocation
  public mutating func set(mask: UInt64, values: UInt64) throws(GPIOError) {
    precondition(mask & ~all == 0, "no such line")
    guard mask != 0 else { return }
    var access = GPIOAccess(.set, mask: mask, values: values & mask, at: now)
    let result = callPerform(perform, context, &access)
    if result < 0 { throw GPIOError(errno: -result) }
  }

  /// One line, 0….
  @_noLocks @_noAllocation
  public mutating func set(_ line: Int, _ isActive: Bool) throws(GPIOError) {
    precondition(line >= 0 && line < count, "no such line")
    try set(mask: 1 << UInt64(line), values: isActive ? 1 << UInt64(line) : 0)
  }

  /// Every line inactive, in one call.
  @_noLocks @_noAllocation
  public mutating func turnAllOff() throws(GPIOError) { try set(mask: all, values: 0) }

  /// Which lines are active by their levels.
  @_noLocks @_noAllocation
  public mutating func read() throws(GPIOError) -> UInt64 {
    var access = GPIOAccess(.read, mask: all, at: now)
    let result = callPerform(perform, context, &access)
    if result < 0 { throw GPIOError(errno: -result) }
    return access.values & all
  }
}

/// The one call the compiler cannot follow. Every function passed as `GPIOLines.Perform` carries the annotations itself.
@_semantics("no_performance_analysis") @inline(never)
func callPerform(
  _ perform: GPIOLines.Perform, _ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer
) -> Int32 {
  perform(context, access)
}

extension GPIOError {
  @_noLocks @_noAllocation
  init(errno: Int32) {
    switch errno {
    case 5, 6, 19: self = .gone  // EIO, ENXIO, ENODEV
    default: self = .system(errno: errno)
    }
  }
}

extension GPIOError: CustomStringConvertible {
  public var description: String {
    switch self {
    case .gone: "the GPIO chip is gone"
    case .system(let errno): "GPIO: errno \(errno)"
    }
  }
}

/// The first error of a type that a module throws makes the type's witness table, which allocates: one is thrown here, before
/// any tick. Found by RealtimeSanitizer; the compiler's proof does not see it.
@inline(never) @_optimize(none)
func prepareGPIOToThrow() {
  do throws(GPIOError) { throw .gone } catch {}
}
