import Tactus

/// The reason why an access to lines failed.
public enum GPIOError: Error, Sendable, Hashable, BitwiseCopyable {
  /// The chip is gone because it was unplugged or its driver was unbound (ENODEV).
  case gone
  /// The kernel reported another error.
  case system(errno: Int32)
  /// An I2C chip that has the lines did not take a transfer.
  case chip(address: I2CAddress, errno: Int32)
}

/// An access to requested lines. Bit k of a mask is line k of the request.
public struct GPIOAccess: Sendable, BitwiseCopyable {
  /// The kind of access to lines.
  public enum Operation: UInt8, Sendable, BitwiseCopyable {
    /// The lines of the mask are driven to `values`.
    case set
    /// The levels of the lines are read into `values`.
    case read
  }
  /// The kind of access.
  public var operation: Operation
  /// The mask of the lines that are accessed.
  public var mask: UInt64
  /// The mask of those accessed lines that are active, to be set or as read.
  public var values: UInt64
  /// The instant of the tick that made the access, used by simulated lines and recordings.
  public var at: TickInstant

  /// Creates an access, for implementations of a port.
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

/// Output lines that were requested together, as a loop uses them. Access never blocks and allocates nothing.
///
/// The type is not copyable: one loop owns the lines. Every implementation of such lines guarantees the following:
/// - **Off before anything drives.** The request makes every line an output and inactive in one step; a line is never an
///   output and active without a write.
/// - **Logical values.** 1 is active. The request states for each line which level that is (`GPIOLine.isActiveLow`).
/// - **Exclusive.** A request for a line that another program holds is refused with the name of its holder, and no other program
///   gets a line that is held here.
/// - **Held** as long as the implementation's object exists. Afterwards the chip decides, and chips differ: a line becomes an
///   input with its pull resistor (most chips), or keeps its last level (a Raspberry Pi OS kernel, unless started with
///   `pinctrl_bcm2835.persist_gpio_outputs=n`). A program that dies therefore needs another one that turns its lines off: the
///   guard process.
/// - **Read back.** `read` returns the lines' real levels, not the written ones, so a shorted output is detected.
///
/// There can be up to 64 lines. Timing: an access is one system call, which is a register access on a Raspberry Pi; for chips
/// behind a bus it takes the bus's time.
public struct GPIOLines: ~Copyable {
  /// The greatest number of lines in one request.
  public static var maximumCount: Int {
    @_noLocks @_noAllocation get { 64 }
  }
  /// Performs the `GPIOAccess` behind the second pointer and fills `values` of a read. Returns 0 or −errno.
  public typealias Perform = @convention(c) (UnsafeMutableRawPointer, UnsafeMutableRawPointer) -> Int32

  let context: UnsafeMutableRawPointer
  let perform: Perform
  /// The number of lines, 1…64.
  public let count: Int
  /// The instant of the present tick, set by the owning loop at the start of the tick.
  public var now = TickInstant.zero

  /// Creates a port. `context` must stay valid as long as the port; its creator owns it. `perform` carries `@_noLocks @_noAllocation`.
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

  /// Makes the lines in `mask` active where `values` has a 1 and inactive where it has a 0, in one call. Other lines keep their
  /// levels. Traps if a bit beyond the last line is set.
  @_noLocks @_noAllocation
  public mutating func set(mask: UInt64, values: UInt64) throws(GPIOError) {
    precondition(mask & ~all == 0, "no such line")
    guard mask != 0 else { return }
    var access = GPIOAccess(.set, mask: mask, values: values & mask, at: now)
    let result = callPerform(perform, context, &access)
    if result < 0 { throw GPIOError(errno: -result) }
  }

  /// Sets one line, counted from 0.
  @_noLocks @_noAllocation
  public mutating func set(_ line: Int, _ isActive: Bool) throws(GPIOError) {
    precondition(line >= 0 && line < count, "no such line")
    try set(mask: 1 << UInt64(line), values: isActive ? 1 << UInt64(line) : 0)
  }

  /// Makes every line inactive, in one call.
  @_noLocks @_noAllocation
  public mutating func turnAllOff() throws(GPIOError) { try set(mask: all, values: 0) }

  /// Returns a mask of the lines that are active by their levels.
  @_noLocks @_noAllocation
  public mutating func read() throws(GPIOError) -> UInt64 {
    var access = GPIOAccess(.read, mask: all, at: now)
    let result = callPerform(perform, context, &access)
    if result < 0 { throw GPIOError(errno: -result) }
    return access.values & all
  }
}

/// Reads or sets lines. A tick that is recorded writes the access on its tape; a tick that is replayed takes the result from there.
@_noLocks @_noAllocation
func callPerform(
  _ perform: GPIOLines.Perform, _ context: UnsafeMutableRawPointer, _ access: UnsafeMutablePointer<GPIOAccess>
) -> Int32 {
  guard let tape = TickTape.current else { return performAccess(perform, context, access) }
  if access.pointee.isSet {
    var sent = (access.pointee.mask, access.pointee.values)
    tape.sends(.gpioSent, &sent, 16)
  }
  var got = (0, access.pointee.values)
  if !tape.isReplaying {
    let paused = TickTape.pause()
    got.0 = Int(performAccess(perform, context, access))
    TickTape.resume(paused)
    got.1 = access.pointee.values
  }
  tape.gets(.gpioGot, &got, 16)
  access.pointee.values = got.1
  return Int32(truncatingIfNeeded: got.0)
}

/// Calls the function, which the compiler cannot follow. Every function passed as `GPIOLines.Perform` carries the annotations itself.
@_semantics("no_performance_analysis") @inline(never)
private func performAccess(
  _ perform: GPIOLines.Perform, _ context: UnsafeMutableRawPointer, _ access: UnsafeMutableRawPointer
) -> Int32 {
  perform(context, access)
}

extension GPIOError {
  /// Creates the error of a negated result: an errno, with the address of an I2C chip above its lower 16 bits if one failed.
  @_noLocks @_noAllocation
  init(errno: Int32) {
    if let address = I2CAddress(UInt8(truncatingIfNeeded: errno >> 16)), errno > 0xFFFF {
      self = .chip(address: address, errno: errno & 0xFFFF)
      return
    }
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
    case .chip(let address, 121): "the I2C chip 0x\(hex(address.value)) does not acknowledge"
    case .chip(let address, 110): "the I2C bus is stuck (chip 0x\(hex(address.value)))"
    case .chip(let address, let errno): "the I2C chip 0x\(hex(address.value)): errno \(errno)"
    }
  }
}

extension I2CError {
  /// The result with which lines of an I2C chip report the error: `GPIOError.chip`.
  public var resultOfLines: Int32 {
    @_noLocks @_noAllocation get {
      switch self {
      case .noAcknowledge(let address, _): -(Int32(address.value) << 16 | 121)  // EREMOTEIO
      case .arbitrationLost(let address, _): -(Int32(address.value) << 16 | 11)  // EAGAIN
      case .timedOut(let address, _): -(Int32(address.value) << 16 | 110)  // ETIMEDOUT
      case .system(let errno, let address, _): -(Int32(address.value) << 16 | errno & 0xFFFF)
      }
    }
  }
}

extension GPIOError {
  /// The result with which lines that drive other lines report the error.
  public var resultOfLines: Int32 {
    @_noLocks @_noAllocation get {
      switch self {
      case .gone: -19  // ENODEV
      case .system(let errno): -errno
      case .chip(let address, let errno): -(Int32(address.value) << 16 | errno)
      }
    }
  }
}

/// Throws one error before any tick, because the first error of a type that a module throws makes the type's witness table, which
/// allocates. This was found by RealtimeSanitizer; the compiler's proof does not detect it.
@inline(never) @_optimize(none)
func prepareGPIOToThrow() {
  do throws(GPIOError) { throw .gone } catch {}
}
